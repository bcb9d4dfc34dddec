"""Worlds to ask questions about: stations in a valley, networks and their subscriptions, made up from a seed.

The same seed gives the same readings, whatever span of time is requested first. Worlds that only benchmarks and published figures need,
and readers of recorded data, are in `headwater_lab.workloads`.
"""

from headwater.workloads.alpine import STREAM_TEXT, Valley

__all__ = ["STREAM_TEXT", "Valley"]
