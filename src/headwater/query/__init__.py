"""The life of a query: `language` reads it, `checking` gives it a meaning, `planning` says who answers it, `explaining` tells that to
people. `operators` has all that belongs to one operator, `expressions` what stands in WHERE, SELECT, DEFINE and MEASURES.

`parse` reads, `show` writes back, `check` finds every error, `compile_text` makes the plan that hosts run, `explain` puts it into
words. Nothing here touches rows, files or Spark; `Plan.groups` gives hosts the kernels.
"""

from headwater.query.language import Script, parse, show  # isort: skip
from headwater.query.checking import Catalogue, CheckedPoints, CheckedQuery, CheckedStream, check
from headwater.query.explaining import explain
from headwater.query.planning import Group, Plan, Projection, QueryPlan, compile_script, compile_text

__all__ = [
    "Catalogue", "CheckedPoints", "CheckedQuery", "CheckedStream", "Group", "Plan", "Projection", "QueryPlan", "Script",
    "check", "compile_script", "compile_text", "explain", "parse", "show",
]  # fmt: skip
