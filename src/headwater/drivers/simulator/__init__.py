"""A seeded world for nodes: discrete events, links with latency and bandwidth, all faults in one struct, checkers outside.

The same seed gives the same trace, byte for byte. Nothing here knows a protocol but `assembly.py`, which puts reliable
delivery around the cores of a network.
"""

from headwater.drivers.simulator.assembly import reliable_world
from headwater.drivers.simulator.checkers import Judgement, answers, judge, load, settles
from headwater.drivers.simulator.faults import NO_FAULTS, Crash, Faults, Partition
from headwater.drivers.simulator.links import Carried, Links
from headwater.drivers.simulator.trace import Trace
from headwater.drivers.simulator.world import MOST_STEPS, Durable, World

__all__ = [
    "MOST_STEPS", "NO_FAULTS", "Carried", "Crash", "Durable", "Faults", "Judgement", "Links", "Partition", "Trace", "World", "answers",
    "judge", "load", "reliable_world", "settles",
]  # fmt: skip
