"""Several streams read as one."""

from headwater.model import Column, ColumnType, Rows, StreamSchema, strings
from headwater.query.checking.merges import merge

CARS = StreamSchema(
    "cars",
    (("id", ColumnType.STRING), ("at", ColumnType.TIMESTAMP), ("x", ColumnType.DOUBLE)),
    time="at",
    key="id",
)
BUSES = StreamSchema(
    "buses",
    (("line", ColumnType.STRING), ("x", ColumnType.BIGINT), ("seen", ColumnType.TIMESTAMP)),
    time="seen",
    key="line",
)


def test_a_merged_row_says_which_stream_it_is_of() -> None:
    together = merge([CARS, BUSES])
    assert together.name == "cars, buses"
    assert together.schema.columns == (
        ("time", ColumnType.TIMESTAMP),
        ("source", ColumnType.BIGINT),
        ("key", ColumnType.STRING),
        ("0.x", ColumnType.DOUBLE),
        ("1.x", ColumnType.BIGINT),
    )
    cars = Rows.of(
        {
            "id": strings(["a"]),
            "at": Column.of(ColumnType.TIMESTAMP, [7]),
            "x": Column.of(ColumnType.DOUBLE, [1.5]),
        }
    )
    buses = Rows.of(
        {"line": strings(["b"]), "seen": Column.of(ColumnType.TIMESTAMP, [5])}
    )  # x does not travel
    rows = together.together([together.rows(0, cars), together.rows(1, buses)])
    assert rows.tolist() == [
        {"time": 7, "source": 0, "key": "a", "0.x": 1.5, "1.x": None},
        {"time": 5, "source": 1, "key": "b", "0.x": None, "1.x": None},
    ]
