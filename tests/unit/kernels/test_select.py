import numpy as np

from headwater.kernels.select import Selection, SelectKernel
from headwater.model import BEGINNING, END, Column, ColumnType, Rows, StreamSchema, strings

STRING, DOUBLE, TIMESTAMP = ColumnType.STRING, ColumnType.DOUBLE, ColumnType.TIMESTAMP
SCHEMA = StreamSchema(
    "weather", (("station", STRING), ("at", TIMESTAMP), ("heat", DOUBLE)), time="at", key="station"
)
ROWS = Rows.of(
    {
        "station": strings(["s1", "s2", "s2"]),
        "at": Column.of(TIMESTAMP, [1, 2, 2]),
        "heat": Column.of(DOUBLE, [5.0, 7.0, 7.0]),
    }
)


def above(number: float):
    return lambda rows: rows["heat"].is_valid & (rows["heat"].values > number)


def test_a_query_answers_the_rows_that_satisfy_its_condition():
    kernel = SelectKernel(SCHEMA, [Selection("hot", "", 0, where=0), Selection("any", "", 0)], [above(6.0)])
    step = kernel.step(kernel.start(BEGINNING), ROWS, END)
    (block,) = step.answers
    assert list(block.rows.columns) == ["query", "event_time", "match_id", "station", "at", "heat"]
    assert [(row["query"], row["event_time"], row["heat"]) for row in block.rows.tolist()] == [
        ("any", 1, 5.0),
        ("hot", 2, 7.0),
        ("any", 2, 7.0),
        ("hot", 2, 7.0),
        ("any", 2, 7.0),
    ]
    assert len(np.unique(block.rows["match_id"].values)) == 5
    assert step.complete_until == END


def test_shapes_are_distinguished():
    kernel = SelectKernel(SCHEMA, [Selection("b", "", 2), Selection("a", "", 1)])
    step = kernel.step(kernel.start(BEGINNING), ROWS, END)
    assert [(block.shape, block.rows.count) for block in step.answers] == [(1, 3), (2, 3)]


def test_no_rows_no_answers():
    kernel = SelectKernel(SCHEMA, [Selection("any", "", 0), Selection("hot", "", 0, where=0)], [above(6.0)])
    step = kernel.step(kernel.start(BEGINNING), Rows({}, 0), 5)
    assert (step.answers, step.complete_until) == ((), 5)
