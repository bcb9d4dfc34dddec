"""What the stateful stage reports, on its way out: one cell of bytes a zone and micro-batch, its answers in columns.

As rows of Spark's, answers would be copied five times on the way to a file, in a shape that suits nobody; as bytes they are
passed on untouched. Whoever takes them makes of them what is needed: columns, or the table (see `output_table`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

import pyarrow as pa

from headwater.hosts.spark.output_table import TABLE_ARROW, output_batches
from headwater.hosts.zone import StateSize, StepOutput
from headwater.model import Rows, decode, encode, rows_tree, tree_rows

REPORT = "report binary"


@dataclass(frozen=True, slots=True)
class ZoneReport:
    """The report of one zone for one micro-batch: its output, the bad rows it was sent, how many rows were read, and what it remembers now."""

    output: StepOutput
    bad: Rows | None
    seen: int
    state: Mapping[str, StateSize] = field(default_factory=dict)

    def packed(self) -> bytes:
        """As bytes."""
        output = self.output
        return encode(
            {
                "answers": [rows_tree(rows) for rows in output.answers],
                "late": _trees(output.late),
                "given_up": _trees(output.given_up),
                "counts": dict(output.counts),
                "bad": None if self.bad is None else rows_tree(self.bad),
                "seen": self.seen,
                "state": {name: list(astuple(size)) for name, size in self.state.items()},
            }
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """As record batches of the table."""
        return output_batches(self.output, self.bad, self.seen)


def unpacked(data: bytes) -> ZoneReport:
    """The report of a zone, from its bytes."""
    tree = decode(data)
    answers = tuple(tree_rows(rows) for rows in tree["answers"])
    output = StepOutput(answers, _rows(tree["late"]), _rows(tree["given_up"]), tree["counts"])
    bad = None if tree["bad"] is None else tree_rows(tree["bad"])
    state = {name: StateSize(*size) for name, size in tree["state"].items()}
    return ZoneReport(output, bad, int(tree["seen"]), state)


def as_table(packed: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What is packed to the table, on Spark's workers."""
    for batch in packed:
        for cell in batch.column(0):
            yield from unpacked(cell.as_py()).batches()


def table_of(zones: Iterable[ZoneReport]) -> pa.Table:
    """The table of the reports of some zones, with `event_time` as a timestamp."""
    table = pa.Table.from_batches([batch for report in zones for batch in report.batches()], TABLE_ARROW)
    place = table.schema.get_field_index("event_time")
    return table.set_column(place, "event_time", table["event_time"].cast(pa.timestamp("us", "UTC")))


def _trees(named: Mapping[str, Rows]) -> dict[str, Any]:
    return {name: rows_tree(rows) for name, rows in named.items()}


def _rows(trees: Mapping[str, Any]) -> dict[str, Rows]:
    return {name: tree_rows(tree) for name, tree in trees.items()}
