"""Answers as tables for people."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from headwater.hosts.files.table_output import MOST_CELL, TableOutput, TableStyle
from headwater.model import Column, ColumnType, Rows, parse_instant, strings


def _answers(query: str, **columns: tuple[ColumnType, Sequence[Any]]) -> Rows:
    """Answers a second apart."""
    count = len(next(iter(columns.values()))[1])
    begin = parse_instant("2026-01-31T06:00:00")
    return Rows.of(
        {
            "query": strings([query] * count),
            "event_time": Column.of(ColumnType.TIMESTAMP, [begin + i * 1_000_000 for i in range(count)]),
            "match_id": Column.of(ColumnType.ID, [f"{i:032x}".encode() for i in range(count)]),
            **{name: Column.of(kind, values) for name, (kind, values) in columns.items()},
        }
    )


def _written(*parts: Sequence[Rows], style: TableStyle | None = None) -> list[str]:
    stream = io.BytesIO()
    output = TableOutput(stream, style or TableStyle())
    for blocks in parts:
        output.write(blocks)
    output.close()
    return stream.getvalue().decode().splitlines()


def test_each_query_has_a_table_with_aligned_columns() -> None:
    cold = _answers("cold", station=(ColumnType.STRING, ["a", None]), t=(ColumnType.DOUBLE, [-1.5, None]))
    hot = _answers("hot", n=(ColumnType.BIGINT, [12345678]), sure=(ColumnType.BOOLEAN, [True]))
    assert _written([cold, hot]) == [
        "cold",
        "event_time            station          t",
        "────────────────────  ────────  ────────",
        "2026-01-31T06:00:00Z  a             -1.5",
        "2026-01-31T06:00:01Z  NULL          NULL",
        "",
        "hot",
        "event_time                   n  sure",
        "────────────────────  ────────  ─────",
        "2026-01-31T06:00:00Z  12345678  true",
    ]


def test_rows_that_come_later_continue_the_table_until_one_does_not_fit() -> None:
    def some(name: str) -> list[Rows]:
        return [_answers("cold", station=(ColumnType.STRING, [name]))]

    assert _written(some("a"), some("b"), some("a long station"), some("c")) == [
        "cold",
        "event_time            station",
        "────────────────────  ────────",
        "2026-01-31T06:00:00Z  a",
        "2026-01-31T06:00:00Z  b",
        "",
        "event_time            station",
        "────────────────────  ──────────────",
        "2026-01-31T06:00:00Z  a long station",
        "2026-01-31T06:00:00Z  c",
    ]


def test_match_ids_are_shown_on_request() -> None:
    (*_, line) = _written([_answers("q", a=(ColumnType.BIGINT, [1]))], style=TableStyle(match_ids=True))
    assert line == f"2026-01-31T06:00:00Z  {'00' * 16}       1"


def test_columns_without_room_are_left_out_and_named() -> None:
    wide = {f"c{number}": (ColumnType.DOUBLE, [1.0]) for number in range(5)}
    lines = _written([_answers("q", **wide)], style=TableStyle(width=lambda: 42))
    assert lines[0] == "q  (no room for c2, c3, c4; --format json shows all columns)"
    assert lines[-1] == "2026-01-31T06:00:00Z       1.0       1.0"


def test_long_texts_are_cut_and_wide_characters_take_two_places() -> None:
    rows = _answers("q", a=(ColumnType.STRING, ["x" * 99, "温度計", "e"]), b=(ColumnType.BIGINT, [1, 2, 3]))
    _, _, _, *lines = _written([rows])
    at = len("2026-01-31T06:00:00Z  ")
    assert lines[0][at:] == f"{'x' * (MOST_CELL - 1)}…       1"
    assert lines[1][at:] == f"温度計{' ' * (MOST_CELL - 6)}       2"
    assert lines[2][at:] == f"e{' ' * (MOST_CELL - 1)}       3"


def test_no_text_controls_the_terminal() -> None:
    rows = _answers("q\x1b[2J", a=(ColumnType.STRING, ["two\nlines", "\x1b]0;title\x07"]))
    written = "\n".join(_written([rows]))
    assert "\x1b" not in written and "\x07" not in written
    assert "two\\nlines" in written and "\\x1b]0;title\\x07" in written and "q\\x1b[2J" in written


def test_long_numbers_are_rounded_for_people() -> None:
    values = [0.1 + 0.2, 1 / 3, 1e300 / 3, 123456789012345.0, math.pi * 1e-7]
    *_, a, b, c, d, e = _written([_answers("q", v=(ColumnType.DOUBLE, values))])
    assert [line.split()[1] for line in (a, b, c, d, e)] == [
        "0.3", "0.3333333333", "3.333333333e+299", "123456789012345.0", "3.141592654e-07",
    ]  # fmt: skip


def test_gathered_answers_are_one_table_for_each_query() -> None:
    parts: list[list[Rows]] = [[_answers(name, a=(ColumnType.BIGINT, [1]))] for name in ("p", "q", "p", "q")]
    headings: Mapping[str, int] = {
        "gathered": len([x for x in _written(*parts, style=TableStyle(gather_s=60)) if x in ("p", "q")]),
        "as they come": len([x for x in _written(*parts) if x in ("p", "q")]),
    }
    assert headings == {"gathered": 2, "as they come": 4}
