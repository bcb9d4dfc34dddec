from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.routing import Routing
from headwater.kernels.correlate.subscription import Subscription
from headwater.model import (
    SECOND,
    Circle,
    Column,
    ColumnType,
    PlaceColumns,
    Rows,
    StreamSchema,
    strings,
)

STRING, DOUBLE, TIMESTAMP = ColumnType.STRING, ColumnType.DOUBLE, ColumnType.TIMESTAMP
SCHEMA = StreamSchema(
    "weather",
    (("station", STRING), ("at", TIMESTAMP), ("x", DOUBLE), ("y", DOUBLE), ("heat", DOUBLE)),
    time="at",
    key="station",
    place=PlaceColumns("x", "y"),
)
WEST, EAST = Circle(0.0, 0.0, 10.0), Circle(1000.0, 0.0, 10.0)


def asking(low: float, high: float, **options) -> Subscription:
    sensor = options.pop("sensor", None)
    return Subscription(
        "q", "", 0, (Clause("heat", "heat", Interval(low, high), sensor=sensor),), SECOND, **options
    )


def rows(*items: tuple[str | None, float | None, float | None]) -> Rows:
    """Rows of (station, x, heat)."""
    return Rows.of(
        {
            "station": strings([station for station, _, _ in items]),
            "at": Column.of(TIMESTAMP, range(len(items))),
            "x": Column.of(DOUBLE, [x for _, x, _ in items]),
            "y": Column.of(DOUBLE, [None if x is None else 0.0 for _, x, _ in items]),
            "heat": Column.of(DOUBLE, [heat for _, _, heat in items]),
        }
    )


def zones(routing: Routing, *items: tuple[str | None, float | None, float | None]) -> list[list[int]]:
    return [
        [zone for zone, wants in enumerate(row) if wants]
        for row in routing.zones_using(rows(*items)).T.tolist()
    ]


def test_a_row_goes_where_its_place_and_its_value_are_needed():
    routing = Routing(SCHEMA, [asking(0, 10, region=WEST), asking(20, 30, region=EAST)], [0, 1], 2)
    assert zones(routing, ("s", 0.0, 5.0), ("s", 1000.0, 25.0), ("s", 0.0, 25.0), ("s", 500.0, 5.0)) == [
        [0],
        [1],
        [],
        [],
    ]
    assert zones(routing, ("s", None, 5.0), ("s", 0.0, None)) == [[], []]


def test_a_row_just_outside_a_region_goes_nowhere():
    routing = Routing(
        SCHEMA, [asking(0, 10, region=WEST), asking(0, 10, region=Circle(19.5, 0.0, 9.0))], [0, 1], 2
    )
    assert zones(routing, ("s", 10.0, 5.0), ("s", 10.25, 5.0), ("s", 10.5, 5.0)) == [[0], [], [1]]


def test_what_needs_no_region_is_needed_everywhere():
    routing = Routing(SCHEMA, [asking(0, 10, region=WEST), asking(5, 6)], [0, 1], 3)
    assert zones(routing, ("s", 0.0, 5.0), ("s", 500.0, 5.0), ("s", None, 6.0)) == [[0, 1], [1], [1]]


def test_a_sensor_is_found_by_its_name():
    routing = Routing(SCHEMA, [asking(0, 10, sensor="s1"), asking(0, 10, sensors=("s2", "s3"))], [0, 1], 2)
    assert zones(routing, ("s1", 0.0, 5.0), ("s2", None, 5.0), ("s4", 0.0, 5.0), (None, 0.0, 5.0)) == [
        [0],
        [1],
        [],
        [],
    ]


def test_a_condition_of_all_queries_of_a_zone_keeps_rows_away():
    conditions = [lambda rows: rows["heat"].values > 3.0]
    routing = Routing(SCHEMA, [asking(0, 10, where=0), asking(0, 10)], [0, 1], 2, conditions)
    assert zones(routing, ("s", 0.0, 2.0), ("s", 0.0, 4.0)) == [[1], [0, 1]]


def test_more_zones_than_fit_in_a_word():
    queries = [asking(n, n + 0.5) for n in range(100)]
    routing = Routing(SCHEMA, queries, list(range(100)), 100)
    assert zones(routing, *(("s", 0.0, float(n)) for n in range(100))) == [[n] for n in range(100)]


def test_no_query_needs_any_row():
    assert zones(Routing(SCHEMA, [], [], 2), ("s", 0.0, 1.0)) == [[]]
