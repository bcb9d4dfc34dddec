"""What Python gives as queries: a text, the path of a file, or what the builders made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headwater.hosts.query_texts import read_query_text
from headwater.model import DataError
from headwater.query import python_input
from headwater.query.checking.catalogue import Catalogue
from headwater.query.checking.check import check as check_text
from headwater.query.checking.history_limit import most_history_us
from headwater.query.language.build_pieces import Duration
from headwater.query.language.printer import show
from headwater.query.language.tree import Script
from headwater.query.planning.plan import Plan, make_plan
from headwater.query.python_input import Queries as _Queries
from headwater.query.python_input import script_of

Queries = _Queries | Path
"""A text, the path of a file with one, or what the builders made, alone or several."""

_ENDINGS: Final = (".hw", ".sql")


@dataclass(frozen=True, slots=True)
class QuerySource:
    """Queries that have been read; `file` is what messages call them."""

    queries: str | Script
    file: str = "query"

    def checked(self, most_history: Duration | None) -> CheckedQueries:
        """The same checked; raises QueriesRefused with every error there is."""
        if isinstance(self.queries, Script):
            catalogue = python_input.check(self.queries, most_history=most_history)
            return CheckedQueries(catalogue, show(self.queries))
        longest = most_history_us(most_history)
        return CheckedQueries(check_text(self.queries, file=self.file, most_history_us=longest), self.queries)


@dataclass(frozen=True, slots=True)
class CheckedQueries:
    """Queries without errors, of which plans for any number of zones are made."""

    catalogue: Catalogue
    text: str

    def plan(self, zones: int) -> Plan:
        """Their plan for so many zones."""
        return make_plan(self.catalogue, self.text, zones=zones)


def query_source(queries: Queries) -> QuerySource:
    """A file is read; a text that is the name of one is refused."""
    if isinstance(queries, Path):
        return QuerySource(read_query_text(queries, str(queries)), str(queries))
    if isinstance(queries, str):
        name = queries.strip()
        if name.endswith(_ENDINGS) and not any(mark in name for mark in " \t\n;()"):
            raise DataError(
                "missing-queries",
                f"'{name}' is the name of a file, and a text of queries is expected",
                advice=[f'pass a path: from pathlib import Path; Path("{name}")'],
            )
        return QuerySource(queries)
    return QuerySource(script_of(queries))


def check(queries: Queries, *, most_history: Duration | None = None) -> Catalogue:
    """The checked streams and queries; raises QueriesRefused with all errors. `most_history` is that of `hw.run`.

    ```python
    try:
        hw.check("CREATE STREAM s (at TIMESTAMP TIME, degrees DOUBLE); CREATE QUERY hot AS SELECT * FROM s WHERE degres > 30;")
    except hw.HeadwaterError as error:
        print(error)
    ```

    ```output
    error[unknown-column]: there is no column named 'degres'
    …
      did you mean 'degrees'?
    ```
    """
    return python_input.check(_read(queries), most_history=most_history)


def explain(queries: Queries | Plan) -> str:
    """The plan of every query, to be read by people; raises QueriesRefused.

    ```python
    print(hw.explain("CREATE STREAM s (at TIMESTAMP TIME, degrees DOUBLE); CREATE QUERY hot AS SELECT * FROM s WHERE degrees > 30;"))
    ```

    ```output
    …
    query hot
      reads    s
      where    degrees > 30
    …
    ```
    """
    return python_input.explain(_read(queries))


def _read(queries: Any) -> Any:
    """The text of a file; anything else as it is."""
    if isinstance(queries, str | Path):
        return query_source(queries).queries
    return queries
