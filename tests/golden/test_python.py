"""Every golden file through Python: `hw.run` gives the same tables on both engines, from files and from tables in memory."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import headwater as hw
from headwater.hosts.files import find_files, read_file_rows, rows_to_arrow
from headwater.model import Rows, join_rows
from tests.golden.hosts import ZONES, Together
from tests.golden.test_golden import ANSWERED, steady

SHOWN_EVERY = 40
"""Of so many queries one is compared with its types, too: on Spark each is a job of its own."""


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Together:
    made = Together(steady(ANSWERED), tmp_path_factory.mktemp("golden"))
    made.plan()
    return made


def files_of(together: Together) -> dict[str, Any]:
    """The folders of every input; one without files is an empty table, for a folder without files is refused."""
    found: dict[str, Any] = {}
    for name, paths in together.paths.items():
        filled = [path for path in paths if find_files(path)]
        found[name] = filled or tables_of(together, [name])[name]
    return found


def tables_of(together: Together, names: list[str]) -> dict[str, Any]:
    """The good rows of streams as tables, and a row without a time behind them, which is bad."""
    plan = together.plan()
    found: dict[str, Any] = {}
    for name in names:
        schema = plan.stream(name)
        files = [file for path in together.paths[name] for file in find_files(path)]
        columns = [column for column, _ in schema.columns]
        pieces = [piece.rows for file in files for piece in read_file_rows(file, schema, columns)]
        table = rows_to_arrow(join_rows([Rows.empty(schema.types), *pieces]))
        nothing = pa.table([pa.nulls(1, field.type) for field in table.schema], schema=table.schema)
        found[name] = pa.concat_tables([table, nothing])
    return found


def test_both_engines_give_the_same_tables(together: Together, spark) -> None:
    """Every thirtieth stream is a table, so that one run of each engine has both; more would be as many tasks of Spark."""
    inputs = files_of(together)
    streams = [name for name in together.paths if name in together.streams]
    inputs |= tables_of(together, streams[::30])
    local = hw.run(together.text, inputs, engine="local")
    with hw.run(together.text, inputs, engine="spark", session=spark, zones=ZONES) as on_spark:
        assert on_spark.queries == local.queries
        everything, expected = on_spark.all().to_arrow(), local.all().to_arrow()
        assert everything.num_rows == expected.num_rows > 1000
        for mine, other in zip(everything.to_pylist(), expected.to_pylist(), strict=True):
            assert mine == other
        assert on_spark.bad.to_arrow().to_pylist() == local.bad.to_arrow().to_pylist()
        assert len(on_spark.late) == len(local.late) == 0
        for query in local.queries[::SHOWN_EVERY]:
            assert on_spark[query].to_arrow() == local[query].to_arrow(), query
        said = {row.name: row.amount for row in on_spark.counts}
        assert said["rows"] == {row.name: row.amount for row in local.counts}["rows"]
        assert answer_lines(on_spark) == answer_lines(local) != []


def answer_lines(answers: hw.Answers) -> list[str]:
    return [line for line in answers.summary().splitlines() if line.startswith(("answers", "bad"))]
