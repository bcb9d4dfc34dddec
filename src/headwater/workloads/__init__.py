"""Seeded worlds to ask questions about: stations in a valley so far.

The same seed gives the same readings, whatever span of time is asked for first.
"""

from headwater.workloads.alpine import STREAM_TEXT, Valley

__all__ = ["STREAM_TEXT", "Valley"]
