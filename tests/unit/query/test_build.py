from datetime import timedelta

import pytest

from headwater.model import ColumnType, QueriesRefused
from headwater.query.build import script, select, stream
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.operators.correlate.build import correlate
from headwater.query.operators.fence.build import fence
from headwater.query.operators.follow.build import follow
from headwater.query.operators.nearest.build import highest, nearest
from headwater.query.operators.pattern.build import match
from headwater.query.operators.predict.build import predict
from headwater.query.operators.suppress.build import suppress


def said(text: str):
    found, errors = parse(text)
    assert errors == []
    return found.statements[0]


def test_a_stream_built_is_the_stream_written():
    built = stream(
        "weather",
        {"station": "STRING", "at": "timestamp", "lon": ColumnType.DOUBLE, "lat": "float"},
        time="at",
        key="station",
        place=("lon", "lat"),
        geographic=True,
        late="10 SECONDS",
        drop_late=True,
        idle=timedelta(minutes=1),
        deduplicate=True,
    )
    assert built == said(
        """CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, PLACE (lon, lat) GEOGRAPHIC)
           LATE 10 SECONDS DROP IDLE 60 SECONDS DEDUPLICATE"""
    )


def test_dropping_late_rows_needs_no_lateness():
    built = stream("s", {"at": "TIMESTAMP"}, time="at", drop_late=True)
    assert built == said("CREATE STREAM s (at TIMESTAMP TIME) LATE 0 SECONDS DROP")


def test_a_selection_built_is_the_selection_written():
    assert select("q", "s") == said("CREATE QUERY q AS SELECT * FROM s")
    assert select("q", "s", "a, b + 1 AS c", where="a > 1") == said(
        "CREATE QUERY q AS SELECT a, b + 1 AS c FROM s WHERE a > 1"
    )


def test_a_source_may_be_given_as_a_name_or_as_the_stream_or_query_itself():
    cars = stream(
        "cars",
        {"car": "STRING", "at": "TIMESTAMP", "x": "DOUBLE", "y": "DOUBLE"},
        time="at",
        key="car",
        place=("x", "y"),
    )
    fast = select("fast", cars, where="x > 1")
    assert fast == select("fast", "cars", where="x > 1")
    builders = [
        lambda source: select("q", source),
        lambda source: correlate("q", source, "x > 1", within="1 DAY"),
        lambda source: nearest("q", source, 1, to=highest("x"), over="1 DAY"),
        lambda source: match("q", source, "A", define={"A": "x > 1"}),
        lambda source: suppress("q", source, "x", tolerance=1, heartbeat="1 DAY"),
        lambda source: predict("q", source, "x > 1"),
        lambda source: fence("q", source, source, radius=5),
        lambda source: follow("q", source, source, radius=5),
    ]
    for build in builders:
        assert build(fast) == build("fast")
        assert build(cars) == build("cars")
        with pytest.raises(QueriesRefused, match="source takes a text, not 5"):
            build(5)


def test_statements_make_a_script():
    both = script(stream("s", {"at": "TIMESTAMP"}, time="at"), select("q", "s"))
    assert parse(show(both)) == (both, [])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: select("q", "s", "a b"), "columns:1:3"),
        (lambda: select("q", "s", where="a = 'x"), "where:1:5"),
        (lambda: stream("s", {"a": "STRNG"}, time="a"), "there is no type named 'STRNG'"),
        (lambda: stream("s", {"at": "TIMESTAMP"}, time="a"), "there is no column named 'a' for time"),
    ],
)  # fmt: skip
def test_a_piece_that_cannot_be_read_is_shown(build, message):
    with pytest.raises(QueriesRefused) as caught:
        build()
    assert message in str(caught.value)
