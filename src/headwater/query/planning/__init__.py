"""From a catalogue to what hosts run: which rows and columns travel, to which zones, which kernels answer, what answers look like.

What is true of one operator alone is asked of the operator. `zones` has the rule about two: which query stays in the zone of the one it reads.
"""

from headwater.query.planning.groups import Group
from headwater.query.planning.plan import Plan, compile_script, compile_text, make_plan
from headwater.query.planning.projections import Projection
from headwater.query.planning.query_plan import QueryPlan

__all__ = ["Group", "Plan", "Projection", "QueryPlan", "compile_script", "compile_text", "make_plan"]
