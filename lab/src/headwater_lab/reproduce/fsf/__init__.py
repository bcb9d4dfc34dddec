"""Filter-Split-Forward against its rivals: the experiment of the network, after section VI of its paper.

```
experiment   what is simulated, at which scale
cases        one simulation, and what it gives
scenes       the settings: networks, readings and subscriptions
simulate     runs a case
claims       what was published, beside what was measured
covers       the claims about set covers
figures      the panels of the picture
```
"""

from headwater_lab.reproduce.fsf.experiment import reproduce

__all__ = ["reproduce"]
