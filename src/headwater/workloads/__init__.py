"""Worlds to ask questions about: stations in a valley, networks and their subscriptions, made up from a seed; readers of records.

The same seed gives the same readings, whatever span of time is asked for first.
"""

from headwater.workloads.alpine import STREAM_TEXT, Valley
from headwater.workloads.beijing import AIR_QUALITY_TEXT, read_air_quality
from headwater.workloads.trades import TRADES_TEXT, read_trades

__all__ = ["AIR_QUALITY_TEXT", "STREAM_TEXT", "TRADES_TEXT", "Valley", "read_air_quality", "read_trades"]
