"""The laboratory: how fast Headwater is here (`headwater bench`), and whether what was published holds (`headwater reproduce`).

```
commands    the two commands, which the command line of Headwater finds by their entry points
bench       benchmarks: inputs, yardsticks, checks of the answers, figures
reproduce   experiments: tables, pictures and claims
workloads   objects, vehicles and towns made up from a seed, and readers of recorded data
```

A distribution of its own: whoever answers queries needs none of it. It imports any room of Headwater, and Headwater imports nothing of it.
"""

__all__: list[str] = []
