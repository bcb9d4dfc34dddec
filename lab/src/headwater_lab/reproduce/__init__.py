"""Do published results hold here? The experiments of `headwater reproduce`, one module or package for each.

```
outcome     the result of every experiment: a table, panels of a picture, claims with their evidence
picture     panels as a PNG
page        an outcome as one page of HTML
tasks       cases as tasks of a Spark job, stored as they end
```

An experiment is a module, or a package, with the name of the experiment, `-` written as `_`, and a function `reproduce(scale, say)`; one
that takes recorded data (`TAKES_DATA`) also takes `data`, and one that continues where it was stopped (`GOES_ON`) takes `progress`.
"""

from typing import Final

__all__ = ["EXPERIMENTS", "GOES_ON", "SCALES", "TAKES_DATA"]

EXPERIMENTS: Final = {
    "nearest-candidates": "NEAREST: candidates and cost against k, for RA, RAPF and PA",
    "fsf": "a network of sensors: subscription load, event load and recall of six approaches",
    "prediction": "SUPPRESS and PREDICT: accuracy and reports of moving objects, with small buffers, and of recorded data",
    "follow": "FOLLOW: events passed on to follow drivers in a town, how well interests fit, and what less of the past loses",
}
TAKES_DATA: Final = {"fsf": "the Polkura week, a CSV", "follow": "a network of SUMO, .net.xml"}
GOES_ON: Final = frozenset({"fsf", "prediction", "follow"})
SCALES: Final = ("small", "paper")
