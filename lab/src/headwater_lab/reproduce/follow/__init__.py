"""Situations around moving objects: the experiment of FOLLOW, after sections 3.5.1 and 3.5.2 of its paper.

```
experiment   what is measured, at which scale
traffic      where the vehicles come from, and the files of the streams
sumo         vehicles by SUMO, where it is installed
questions    accidents, friends and speeds as texts of Headwater
spark_run    a text on Spark: counts and answers
cases        one run, and its result
runs         the runs of each figure
claims       published results, beside what was measured
figures      the panels of the pictures
scene        one driver, from second to second
player       the scene as a page that plays it
```
"""

from headwater_lab.reproduce.follow.experiment import reproduce

__all__ = ["reproduce"]
