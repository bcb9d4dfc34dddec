"""The laboratory: how fast Headwater is here (`headwater bench`), and whether published results hold (`headwater reproduce`).

```
commands    the two commands, which the command line of Headwater finds by their entry points
bench       benchmarks: inputs, yardsticks, checks of the answers, figures
reproduce   experiments: tables, pictures and claims
workloads   objects, vehicles and towns made up from a seed, and readers of recorded data
```

A distribution of its own: answering queries does not need it. It imports any room of Headwater, and Headwater imports nothing of it.
"""

__all__: list[str] = []
