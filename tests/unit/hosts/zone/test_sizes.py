"""What a zone remembers is measured by what it saves."""

import numpy as np

from headwater.hosts.zone import Arrivals, Program, StateSize, Unit, add_sizes, clusters_of, save_zone
from headwater.model import END, SECOND, Column, ColumnType, Rows, strings
from headwater.query.planning.plan import compile_text

TEXT = """
CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);
CREATE QUERY down AS SELECT station FROM weather MATCH_RECOGNIZE (
  PARTITION BY station PATTERN (a b) WITHIN 1 HOUR DEFINE a AS temperature > 30, b AS temperature < 0);
CREATE QUERY hot AS SELECT * FROM weather WHERE temperature > 30;
"""


def unit(number: int, seconds: list[int], temperature: float) -> Unit:
    rows = Rows.of(
        {
            "station": strings([f"s{second}" for second in seconds]),
            "at": Column(ColumnType.TIMESTAMP, np.array(seconds, np.int64) * SECOND),
            "temperature": Column(ColumnType.DOUBLE, np.full(len(seconds), temperature)),
        }
    )
    return Unit("weather", number, 0, clusters_of(rows["at"].values), rows)


def test_sizes_name_the_queries_that_remember_something_and_the_rows_that_wait():
    program = Program(compile_text(TEXT))
    state, _ = program.step(program.start(), Arrivals({"weather": [unit(0, list(range(100, 150)), 35.0)]}))
    sizes = save_zone(program, state).sizes
    assert set(sizes) == {"down", "waiting rows of weather"}  # `hot` looks at rows one by one
    assert sizes["waiting rows of weather"].rows == 1
    assert sizes["waiting rows of weather"].oldest == 149 * SECOND
    assert sizes["down"].rows >= 49
    assert sizes["down"].size > 49 * 16


def test_sizes_of_zones_are_added_up_and_the_oldest_is_the_oldest_of_all():
    zones = [{"a": StateSize(10, 2, 1, 7)}, {"a": StateSize(5, 1, 0, END), "b": StateSize(1, 1, 1, 3)}]
    assert add_sizes(zones) == {"a": StateSize(15, 3, 1, 7), "b": StateSize(1, 1, 1, 3)}


def test_numbers_of_rows_are_no_times():
    """NEAREST PER holds back rows by their numbers: the oldest was said to be of 1970."""
    text = TEXT.split("CREATE QUERY")[0] + (
        "CREATE QUERY coldest AS SELECT * FROM weather NEAREST (2 TO (0) BY (temperature) OVER 1 HOUR PER station);"
    )
    program = Program(compile_text(text))
    state, _ = program.step(program.start(), Arrivals({"weather": [unit(0, list(range(100, 150)), 35.0)]}))
    size = save_zone(program, state).sizes["coldest"]
    assert size.keys >= 49
    assert size.oldest == END or size.oldest >= 100 * SECOND
