"""The life of a query: `language` reads it, `checking` gives it a meaning, `planning` says where it is answered, `explaining` puts that into
words. `operators` has all that belongs to one operator, `expressions` the expressions of WHERE, SELECT, DEFINE and MEASURES.

`parse` reads, `show` writes back, `check` finds every error, `compile_text` makes the plan that hosts run, `explain` puts it into
words. Nothing here touches rows, files or Spark; `Plan.groups` gives hosts the kernels.

All but the tree is imported on first use, so that reading a text does not load the planner.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwater.query.language.tree import Script  # first: the nodes of operators need those of expressions

if TYPE_CHECKING:
    from headwater.query.checking.catalogue import Catalogue as Catalogue
    from headwater.query.checking.catalogue import CheckedPoints as CheckedPoints
    from headwater.query.checking.catalogue import CheckedQuery as CheckedQuery
    from headwater.query.checking.catalogue import CheckedStream as CheckedStream
    from headwater.query.checking.check import check as check
    from headwater.query.explaining.explain import explain as explain
    from headwater.query.language.parse import parse as parse
    from headwater.query.language.printer import show as show
    from headwater.query.planning.groups import Group as Group
    from headwater.query.planning.plan import Plan as Plan
    from headwater.query.planning.plan import compile_script as compile_script
    from headwater.query.planning.plan import compile_text as compile_text
    from headwater.query.planning.projections import Projection as Projection
    from headwater.query.planning.query_plan import QueryPlan as QueryPlan

_HOMES = {
    "Catalogue": "headwater.query.checking.catalogue",
    "CheckedPoints": "headwater.query.checking.catalogue",
    "CheckedQuery": "headwater.query.checking.catalogue",
    "CheckedStream": "headwater.query.checking.catalogue",
    "Group": "headwater.query.planning.groups",
    "Plan": "headwater.query.planning.plan",
    "Projection": "headwater.query.planning.projections",
    "QueryPlan": "headwater.query.planning.query_plan",
    "check": "headwater.query.checking.check",
    "compile_script": "headwater.query.planning.plan",
    "compile_text": "headwater.query.planning.plan",
    "explain": "headwater.query.explaining.explain",
    "parse": "headwater.query.language.parse",
    "show": "headwater.query.language.printer",
}

__all__ = [
    "Catalogue", "CheckedPoints", "CheckedQuery", "CheckedStream", "Group", "Plan", "Projection", "QueryPlan", "Script",
    "check", "compile_script", "compile_text", "explain", "parse", "show",
]  # fmt: skip

if not TYPE_CHECKING:  # a type checker sees the imports above, and that there is nothing else

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'headwater.query' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)
