"""The language: text -> tree -> checked catalogue -> plan -> kernels.

`parse` reads, `show` writes back, `check` finds every error, `compile_text` makes the plan that hosts run, `explain` tells
it to people. Nothing here touches rows, files or Spark; `Plan.groups` gives hosts the kernels.
"""

from headwater.query.catalogue import Catalogue, CheckedPoints, CheckedQuery, CheckedStream
from headwater.query.check import check
from headwater.query.explain import explain
from headwater.query.parse import parse
from headwater.query.plan import Group, Plan, Projection, compile_script, compile_text
from headwater.query.planned import QueryPlan
from headwater.query.printer import show
from headwater.query.tree import Script

__all__ = [
    "Catalogue", "CheckedPoints", "CheckedQuery", "CheckedStream", "Group", "Plan", "Projection", "QueryPlan", "Script",
    "check", "compile_script", "compile_text", "explain", "parse", "show",
]  # fmt: skip
