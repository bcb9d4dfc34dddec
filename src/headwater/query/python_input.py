"""What Python gives as queries: a text, or what the builders made, alone or several.

`hw.check` and `hw.explain` take what `hw.run` takes. Anything else is refused in words, not by what is missing in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.model import QueriesRefused
from headwater.query.checking.catalogue import Catalogue
from headwater.query.checking.check import check as check_script
from headwater.query.checking.history_limit import most_history_us
from headwater.query.explaining.explain import explain as explain_plan
from headwater.query.language.build_pieces import Duration, refused
from headwater.query.language.printer import show
from headwater.query.language.tree import Script, Statement
from headwater.query.planning.plan import Plan, compile_script

Queries = str | Script | Statement | Iterable[Statement]

_EXAMPLE = "pass a text, or streams and queries in a list, as in [stream, query]"


def check(queries: Queries, *, most_history: Duration | None = None) -> Catalogue:
    """The checked streams and queries; raises QueriesRefused with all errors. `most_history` is that of `hw.run`."""
    longest = most_history_us(most_history)
    if isinstance(queries, str):
        return check_script(queries, most_history_us=longest)
    script = script_of(queries)
    text = show(script)
    try:
        return check_script(script, text, most_history_us=longest)
    except QueriesRefused:
        # What builders made has no place in a text. Read back from text, it has.
        return check_script(text, most_history_us=longest)


def explain(queries: Queries | Plan) -> str:
    """The plan of every query, to be read by people; raises QueriesRefused."""
    if isinstance(queries, str | Plan):
        return explain_plan(queries)
    return explain_plan(compile_script(script_of(queries)))


def script_of(queries: Script | Statement | Iterable[Statement]) -> Script:
    """The statements as one script."""
    if isinstance(queries, Script):
        return queries
    if isinstance(queries, Statement):
        return Script((queries,))
    if not isinstance(queries, Iterable):
        raise refused(
            f"queries are a text, or streams and queries from the builders, not {queries!r}", _EXAMPLE
        )
    statements = tuple(queries)
    for statement in statements:
        if not isinstance(statement, Statement):
            raise refused(f"{statement!r} is neither a stream nor a query", _EXAMPLE)
    return Script(statements)
