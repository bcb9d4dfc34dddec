"""From a catalogue to what hosts run: which rows and columns travel, to which zones, which kernels answer, what answers look like.

A rule about two operators stands here, as a `match` that ends with `assert_never`.
"""

from headwater.query.planning.groups import Group
from headwater.query.planning.plan import Plan, compile_script, compile_text, make_plan
from headwater.query.planning.projections import Projection
from headwater.query.planning.query_plan import QueryPlan

__all__ = ["Group", "Plan", "Projection", "QueryPlan", "compile_script", "compile_text", "make_plan"]
