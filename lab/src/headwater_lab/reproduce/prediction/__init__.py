"""Lines instead of readings: the experiment of SUPPRESS and PREDICT, after section 6 of its paper.

```
experiment   what is measured, at which scale
cases        one measurement, and what it gives
objects      objects that move about, with lines, with last values and with small buffers
recorded     traffic in a town, temperatures of a laboratory
interval_answers   what a PREDICT kernel answers to what was sent
truth        what is true, and how right an answer is
claims       what was published, beside what was measured
figures      the panels of the picture
```
"""

from headwater_lab.reproduce.prediction.experiment import reproduce

__all__ = ["reproduce"]
