"""Worlds of benchmarks and experiments: objects, vehicles and towns made up from a seed; readers of recorded data sets.

The same seed gives the same readings. Worlds that the product itself needs are in `headwater.workloads`.
"""

__all__: list[str] = []
