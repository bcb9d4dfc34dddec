"""What `hw.run` gives: the answers of every query as a table, and what became of the rows. The same on every engine.

```
answers = hw.run(text, {"weather": df})
answers["frost"].to_pandas()     answers["frost"].to_arrow()     for row in answers["frost"]: row.station
answers.bad    answers.late    answers.counts    answers.summary()
```

Rule 1  Answers of a query are in the order of event time, then match_id. Bad rows are in the order of their stream, file and line.
Rule 2  Columns have plain types: text, float64, int64, bool, timestamp[us, UTC]. NULL is NULL.
Rule 3  A picture of a table leaves `query` and `match_id` out; everything else has them.

Memory  That of the engine: the local one has all answers in memory, Spark where Spark has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import pyarrow as pa

from headwater.hosts.api import table_views
from headwater.hosts.api.answer_rows import AnswerRow, rows_of
from headwater.model import ColumnType, DataError
from headwater.query.language.suggestions import suggest
from headwater.query.planning.plan import Plan

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

    from headwater.hosts.run_reports.summary import Summary

BatchWriter = Callable[["Answers", int], None]
"""Gets the answers of a micro-batch, and its number."""


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Where answers, late rows and bad rows go; `checkpoint` and `trigger` are for streams."""

    to: str | Path | BatchWriter
    late: str | Path | None = None
    bad: str | Path | None = None
    checkpoint: str | Path | None = None
    trigger: Mapping[str, Any] | None = None


class TableSource(Protocol):
    """Where a table comes from: an engine gives it whole, or its first rows."""

    types: Mapping[str, ColumnType]
    streaming: bool

    def count(self) -> int:
        """How many rows there are."""
        ...

    def table(self, most: int | None = None) -> pa.Table:
        """All rows in order, or the first ones."""
        ...

    def frame(self) -> Any:
        """A DataFrame of Spark's, lazy and in no order; refused where there is no Spark."""
        ...


class Run(Protocol):
    """A run of an engine, done or to be done: what the face below asks."""

    engine: str
    plan: Plan
    streaming: bool

    def answers_of(self, query: str | None) -> TableSource:
        """Answers of a query; None: of all, each as JSON."""
        ...

    def late(self) -> TableSource:
        """Rows that came too late."""
        ...

    def bad(self) -> TableSource:
        """Rows that cannot be used."""
        ...

    def counts(self) -> TableSource:
        """What was counted."""
        ...

    def summary(self) -> Summary:
        """What the run came to."""
        ...

    def write(self, answers: Answers, request: WriteRequest) -> StreamingQuery | None:
        """Write everything; with streaming answers, the query that does."""
        ...

    def release(self) -> None:
        """Give back what is held."""
        ...


class AnswerTable:
    """Some rows with typed columns: `.to_pandas()`, `.to_arrow()`, `.df` on Spark, `len(…)`, or row by row in a loop.

    Polars, DuckDB and others take it as it is (`polars.DataFrame(answers["frost"])`): it has the interface of Arrow for tables.
    """

    def __init__(self, source: TableSource, name: str, *, note: Callable[[], str] = lambda: "") -> None:
        """`name` is how it is reached, as in `answers["frost"]`; `note` is said below a picture of it."""
        self._source = source
        self._name = name
        self._note = note

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._source.types)

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """What each column holds."""
        return self._source.types

    def to_arrow(self) -> pa.Table:
        """All rows, in order, as a table of Arrow."""
        return self._source.table()

    def to_pandas(self) -> pandas.DataFrame:
        """All rows, in order, as a DataFrame of pandas. BIGINT and BOOLEAN with NULLs have the types that have NULLs, Int64 and boolean."""
        return table_views.to_pandas(self.to_arrow())

    @property
    def df(self) -> DataFrame:
        """A DataFrame of Spark's: lazy, in no order. Only where Spark runs the queries; a streaming one if the inputs are streaming."""
        return self._source.frame()

    def __len__(self) -> int:
        return self._source.count()

    def __iter__(self) -> Iterator[AnswerRow]:
        return rows_of(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return table_views.as_text(self._source, self._name, self._note())

    def _repr_html_(self) -> str:
        return table_views.as_html(self._source, self._name, self._note())

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(f"'AnswerTable' object has no attribute '{attribute}'")
        raise AttributeError(
            f"an AnswerTable has no '{attribute}': {self._name}.df is a DataFrame of Spark's (where Spark runs the queries), "
            f"{self._name}.to_pandas() one of pandas"
        )

    def __getitem__(self, item: Any) -> Any:
        raise TypeError(
            f"an AnswerTable has no [{item!r}]: {self._name}.to_pandas()[{item!r}], or go through its rows: for row in {self._name}"
        )


class Answers:
    """What the queries answer: `answers["frost"]`, `answers.late`, `answers.bad`, `answers.counts`, `answers.summary()`.

    It is a mapping from the names of queries to their tables. The local engine has run when this is there. Spark begins when something is
    asked for: everything is computed once, and held by Spark until `answers.release()`, or the end of a `with hw.run(…) as answers:`.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def engine(self) -> str:
        """What runs the queries: `local` or `spark`."""
        return self._run.engine

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries."""
        return tuple(query.name for query in self._run.plan.public_queries)

    def keys(self) -> tuple[str, ...]:
        """The same: `dict(answers)` works."""
        return self.queries

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    def __contains__(self, query: object) -> bool:
        return query in self.queries

    def __getitem__(self, query: str) -> AnswerTable:
        """The answers of one query, with typed columns."""
        if query not in self.queries:
            raise DataError(
                "unknown-query",
                f"there is no query named '{query}'",
                advice=suggest(str(query), self.queries, "queries"),
            )
        return AnswerTable(self._run.answers_of(query), f'answers["{query}"]', note=self._note_of_bad)

    def all(self) -> AnswerTable:
        """The answers of all queries in one table: query, event_time, match_id and the whole answer as JSON."""
        return AnswerTable(self._run.answers_of(None), "answers.all()", note=self._note_of_bad)

    @property
    def late(self) -> AnswerTable:
        """Rows that came too late: their stream, and the row as JSON. Of inputs that are complete no row is late."""
        return AnswerTable(self._run.late(), "answers.late")

    @property
    def bad(self) -> AnswerTable:
        """Rows that cannot be used: stream, file, line, reason and the row's text.

        Of a table in memory the line is the number of the row, from 1. Rows of a DataFrame of Spark's have no line.
        """
        return AnswerTable(self._run.bad(), "answers.bad")

    @property
    def counts(self) -> AnswerTable:
        """What was counted on the way: rows read, answers cut by LIMIT, repeats, rows held, events stored for FOLLOW at most."""
        return AnswerTable(self._run.counts(), "answers.counts")

    def summary(self) -> table_views.Text:
        """What the run came to, in the words of the command line: rows read, answers by query, what was late, bad or given up."""
        return table_views.Text("\n".join(self._run.summary().lines(timed=self.engine == "local")))

    def write(
        self,
        to: str | Path | BatchWriter,
        *,
        checkpoint: str | Path | None = None,
        late: str | Path | None = None,
        bad: str | Path | None = None,
        trigger: Mapping[str, Any] | None = None,
    ) -> StreamingQuery | None:
        """Write everything. With streaming answers this starts the query, which is returned.

        `to` is a folder of JSON lines, written so that every answer is there exactly once, or a function that gets the
        answers of each micro-batch (as `Answers` with rows) and its number. Answers that are complete are written at
        once; streaming ones need a `checkpoint`. `late` and `bad` are folders for these rows; `trigger` is Spark's.
        """
        return self._run.write(self, WriteRequest(to, late, bad, checkpoint, trigger))

    def release(self) -> None:
        """Give back what Spark holds. What is asked for afterwards is computed again. The local engine holds nothing elsewhere."""
        self._run.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        return table_views.answers_as_text(self._run)

    def _repr_html_(self) -> str:
        return table_views.answers_as_html(self._run)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(f"'Answers' object has no attribute '{attribute}'")
        names = " or ".join(f'answers["{name}"]' for name in self.queries[:2])
        raise AttributeError(f"answers have no '{attribute}': the answers of one query are {names}")

    def _note_of_bad(self) -> str:
        if self._run.streaming:
            return ""
        bad = self._run.summary().bad.total()
        return f"{bad:,} row{'s' * (bad != 1)} could not be used: answers.bad" if bad else ""
