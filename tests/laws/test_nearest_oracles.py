"""The oracle of NEAREST on examples worked by hand.

Objects are written `a0:5 b3:2`: key a at second 0 and distance 5 from the point 0, and so on. Answers are written as they are told:
`13 +b` is b entering at 13, `13 -a` a leaving, `20 1b 2a` the set at a tick.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import SECOND, Column, ColumnType, StreamSchema, distance_m
from tests.laws.oracles.nearest import answers, history, not_objects, skyband, windows

SCHEMA = StreamSchema(
    "s",
    (
        ("k", ColumnType.STRING),
        ("at", ColumnType.TIMESTAMP),
        ("x", ColumnType.DOUBLE),
        ("y", ColumnType.DOUBLE),
        ("zone", ColumnType.STRING),
    ),
    time="at",
    key="k",
)
PAPER = "a0:5 b3:2 c4:4 d6:9"


def rows_of(text: str, zones: str = "") -> list[dict[str, Any]]:
    found = []
    for n, word in enumerate(text.split()):
        head, value = word.split(":")
        x = None if value == "?" else float(value)
        zone = zones.split()[n] if zones else None
        found.append({"k": head[0], "at": int(head[1:]) * SECOND, "x": x, "y": 0.0, "zone": zone})
    return found


def ask(k: int = 1, over: int | None = 10, **more: Any) -> NearestQuery:
    """The k nearest to 0 by x, over so many seconds."""
    columns = (("zone", "zone"),) if more.get("per") else ()
    fields: dict[str, Any] = {
        "name": "q",
        "fingerprint": "",
        "shape": 0,
        "where": None,
        "k": k,
        "metric": Metric.EUCLIDEAN,
        "attributes": ("x",),
        "weights": None,
        "points": Points(np.zeros((1, 1))),
        "window_us": None if over is None else over * SECOND,
        "window_rows": None,
        "per": None,
        "ties": False,
        "algorithm": Algorithm.RA,
        "sigma": None,
        "emission": Emission.CHANGES,
        "every_us": None,
        "columns": columns,
    }
    return NearestQuery(**fields | more)


def emitted(query: NearestQuery, text: str, zones: str = "", since: int = -100) -> str:
    """What is told, e.g. `0 +a, 3 -a +b`."""
    by_time: dict[int, list[str]] = {}
    for answer in answers(SCHEMA, rows_of(text, zones), query, since=since * SECOND):
        sign = str(answer["rank"]) if "rank" in answer else {"enter": "+", "leave": "-"}[answer["change"]]
        by_time.setdefault(answer["event_time"] // SECOND, []).append(sign + answer["key"])
    return ", ".join(f"{time} {' '.join(words)}" for time, words in by_time.items())


def ticks(every: int, **more: Any) -> dict[str, Any]:
    return {"emission": Emission.EVERY, "every_us": every * SECOND, **more}


ENTERS = {"emission": Emission.ENTERS}


# --- which objects are near, and when ---------------------------------------------------------------------------------------


def test_the_example_of_the_definition():
    assert emitted(ask(**ENTERS), PAPER) == "0 +a, 3 +b, 13 +c, 14 +d"
    assert emitted(ask(), PAPER) == "0 +a, 3 -a +b, 13 -b +c, 14 -c +d, 16 -d"


def test_what_is_dominated_at_once_may_be_forgotten_at_once():
    ((_, _, found),) = windows(SCHEMA, rows_of(PAPER), ask())
    keys = [
        "".join(one.row["k"] for one in skyband(ask(), moment.window)) for moment in history(ask(), found)
    ]
    # at          0    3    4     6      10     13    14   16
    assert keys == ["a", "b", "bc", "bcd", "bcd", "cd", "d", ""]


def test_a_window_ends_where_it_says():
    """In the window at T are those with t <= T < t + w, just after T: at 10 a is gone when b comes."""
    assert emitted(ask(), "a0:1 b10:5") == "0 +a, 10 -a +b, 20 -b"
    assert emitted(ask(), "a0:1 b9:5") == "0 +a, 10 -a +b, 19 -b"
    assert emitted(ask(**ENTERS), "a0:1 b9:5 c10:3") == "0 +a, 10 +c"  # b never: c comes as a goes


def test_what_happens_at_one_instant_happens_together():
    """b and c come together: b is never an answer."""
    assert emitted(ask(), "a0:3 b5:2 c5:1") == "0 +a, 5 -a +c, 15 -c"
    # c comes at the instant at which b goes: a, not as near as c, is not told in between
    assert emitted(ask(over=5), "b0:1 a4:3 c5:2") == "0 +b, 5 -b +c, 10 -c"


def test_of_equally_near_ones_the_newer_is_nearer():
    assert emitted(ask(), "a0:2 b1:2 c2:2") == "0 +a, 1 -a +b, 2 -b +c, 12 -c"
    assert emitted(ask(**ENTERS), "a0:-2 b0:2") == "0 +b"  # of one time: the later in the order


def test_ties_make_the_set_larger():
    assert emitted(ask(ties=True), "a0:2 b1:2 c2:2") == "0 +a, 1 +b, 2 +c, 10 -a, 11 -b, 12 -c"
    assert (
        emitted(ask(2, ties=True), "a0:1 b1:3 c2:3 d3:2")
        == "0 +a, 1 +b, 2 +c, 3 -c -b +d, 10 -a +c +b, 11 -b, 12 -c, 13 -d"
    )
    assert emitted(ask(3, ties=True), "a0:1 b1:1") == "0 +a, 1 +b, 10 -a, 11 -b"  # fewer than k


def test_an_object_may_leave_and_come_again_but_enters_once():
    """e is pushed out by f at 3, and is among the two nearest again when d has gone at 10."""
    again = "d0:1 e2:5 f3:2"
    assert emitted(ask(2), again) == "0 +d, 2 +e, 3 -e +f, 10 -d +e, 12 -e, 13 -f"
    assert emitted(ask(2, **ENTERS), again) == "0 +d, 2 +e, 3 +f"


def test_what_a_younger_and_nearer_one_pushed_out_never_comes_again():
    assert emitted(ask(over=6), "c0:5 a2:2 b3:1") == "0 +c, 2 -c +a, 3 -a +b, 9 -b"
    assert emitted(ask(2), "a0:3 b1:2 c2:1 d9:4") == "0 +a, 1 +b, 2 -a +c, 11 -b +d, 12 -c, 19 -d"


def test_windows_of_rows_know_no_time():
    rows = {"over": None, "window_rows": 2}
    assert emitted(ask(**rows), "a0:1 b100:5 c101:3 d102:4") == "0 +a, 101 -a +c"
    assert emitted(ask(**rows), "a0:1 b100:5 c101:3 d102:4 e103:9") == "0 +a, 101 -a +c, 103 -c +d"
    assert (
        emitted(ask(**rows), "a0:1 b5:2 c5:3 d5:4") == "0 +a, 5 -a +c"
    )  # of one instant only the last two are left
    assert emitted(ask(5, **rows), "a0:1 b5:2 c6:3") == "0 +a, 5 +b, 6 -a +c"  # k larger than the window


def test_rows_that_are_no_objects_push_nothing_out_of_a_window_of_rows():
    query = ask(over=None, window_rows=2)
    text = "a0:1 b1:? c2:5 d3:?"
    assert emitted(query, text) == "0 +a"
    assert not_objects(SCHEMA, rows_of(text), query) == 2
    assert not_objects(SCHEMA, rows_of(text), query, since=2 * SECOND) == 1


def test_rows_that_fail_the_condition_are_neither_objects_nor_counted():
    conditions = [lambda row: row["k"] < "c"]
    query = ask(where=0)
    found = answers(SCHEMA, rows_of("a0:5 b3:? c4:1 d5:?"), query, conditions)
    assert [(one["event_time"] // SECOND, one["change"], one["key"]) for one in found] == [
        (0, "enter", "a"),
        (10, "leave", "a"),
    ]
    assert not_objects(SCHEMA, rows_of("a0:5 b3:? c4:1 d5:?"), query, conditions) == 1


def test_objects_before_the_beginning_are_not_seen():
    assert emitted(ask(), PAPER, since=3) == "3 +b, 13 -b +c, 14 -c +d, 16 -d"
    assert emitted(ask(), PAPER, since=4) == "4 +c, 14 -c +d, 16 -d"


def test_each_value_of_the_per_column_has_its_own_window():
    text, zones = "a0:5 b3:2 c4:4 d6:9", "n s n s"
    assert emitted(ask(per="zone"), text, zones) == "0 +a, 3 +b, 4 -a +c, 13 -b +d, 14 -c, 16 -d"
    rows = {"over": None, "window_rows": 1, "per": "zone"}
    assert emitted(ask(**rows), text, zones) == "0 +a, 3 +b, 4 -a +c, 6 -b +d"
    assert emitted(ask(per="zone", **ENTERS), "a0:1 b1:2") == "0 +a, 10 +b"  # NULL is a value like any other


# --- ticks ---------------------------------------------------------------------------------------------------------------------


def test_ticks_emit_the_set_as_it_is_before_what_happens_at_the_tick():
    """At 10 a is still there (t_o < 10 <= t_o + w), and b, which comes at 10, is not yet."""
    assert emitted(ask(2, **ticks(5)), "a0:2 b10:1") == "5 1a, 10 1a, 15 1b, 20 1b"
    assert emitted(ask(2, **ticks(5)), "a1:2 b9:1") == "5 1a, 10 1b 2a, 15 1b"
    assert emitted(ask(2, **ticks(20)), "a1:2 b9:1") == ""  # nothing is there at 20


def test_ticks_count_from_1970():
    assert emitted(ask(**ticks(7, over=20)), "a1:2") == "7 1a, 14 1a, 21 1a"
    assert emitted(ask(**ticks(7, over=10)), "a-9:2") == "-7 1a, 0 1a"


def test_ticks_over_rows_emit_only_what_is_new():
    rows = {"over": None, "window_rows": 2}
    assert emitted(ask(2, **rows, **ticks(5)), "a1:2 b2:1 c20:3") == "5 1b 2a, 25 1b 2c"
    assert emitted(ask(2, **rows, **ticks(5)), "a5:2 b10:1") == "10 1a, 15 1b 2a"
    # an object that changes nothing is still news
    assert emitted(ask(1, **rows, **ticks(5)), "a1:1 b6:9") == "5 1a, 10 1a"
    zones = {"per": "zone", **rows}
    assert emitted(ask(**zones, **ticks(5)), "a1:1 b2:2 c11:1", "n s n") == "5 1a 1b, 15 1c"


def test_ranks_go_by_distance_then_newer_first_also_with_ties():
    assert emitted(ask(2, ties=True, **ticks(5, over=5)), "a1:1 b2:3 c3:3") == "5 1a 2c 3b"


# --- PA ------------------------------------------------------------------------------------------------------------------------------


def test_probable_answers_lose_what_is_cut():
    """k = 1, σ = 1/2: R* = 2. At 2 there are a, b, c; a is cut, and is not there when b and c are gone."""
    text = "b0:1 c1:2 a2:3"
    assert emitted(ask(), text) == "0 +b, 10 -b +c, 11 -c +a, 12 -a"
    assert emitted(ask(algorithm=Algorithm.PA, sigma=0.5), text) == "0 +b, 10 -b +c, 11 -c"


def test_probable_answers_are_cut_after_each_instant():
    """Of four that come together the two nearest are kept; d comes when b has gone, so c stays."""
    query = ask(algorithm=Algorithm.PA, sigma=0.5)
    assert emitted(query, "a0:4 b0:1 c0:2 e0:3") == "0 +b, 10 -b"
    assert emitted(query, "b0:1 c5:2 d10:3 e11:4") == "0 +b, 10 -b +c, 15 -c +d, 20 -d"


def test_expired_objects_take_no_room_in_the_list_of_probable_ones():
    query = ask(over=None, window_rows=3, algorithm=Algorithm.PA, sigma=0.5)
    # after d: window b c d, kept b c (d is cut); after e: window c d e, kept c e; after f: e is kept
    assert emitted(query, "a0:9 b1:1 c2:2 d3:3 e4:4 f5:5") == "0 +a, 1 -a +b, 4 -b +c, 5 -c +e"


# --- distances ---------------------------------------------------------------------------------------------------------------


def test_distances_are_weighted_and_added_up():
    rows = [{"k": "a", "at": 0, "x": 3.0, "y": 5.0, "zone": None}]
    query = ask(
        attributes=("x", "y"), points=Points(np.array([[0.0, 1.0]])), columns=(("x", "x"), ("why", "y"))
    )
    (enter, _) = answers(SCHEMA, rows, query)
    assert enter == {
        "query": "q",
        "event_time": 0,
        "change": "enter",
        "key": "a",
        "object_time": 0,
        "distance": 5.0,
        "x": 3.0,
        "why": 5.0,
    }
    heavy = ask(attributes=("x", "y"), weights=(4.0, 0.25), points=Points(np.array([[0.0, 1.0]])))
    assert answers(SCHEMA, rows, heavy)[0]["distance"] == np.sqrt(4 * 9 + 4.0)


@pytest.mark.parametrize(("metric", "expected"), [(Metric.HIGHEST, "b"), (Metric.LOWEST, "c")])
def test_the_highest_or_lowest_have_no_distance(metric: Metric, expected: str):
    found = answers(SCHEMA, rows_of("a0:5 b0:7 c0:-7"), ask(metric=metric, **ENTERS))
    assert found == [{"query": "q", "event_time": 0, "change": "enter", "key": expected, "object_time": 0}]


def test_points_are_answered_one_by_one():
    ids = Column.of(ColumnType.BIGINT, [7, 8])
    query = ask(points=Points(np.array([[0.0], [5.0]]), ids), **ENTERS)
    found = answers(SCHEMA, rows_of("a0:1 b1:4"), query)
    assert [(one["point"], one["key"], one["event_time"] // SECOND) for one in found] == [
        (7, "a", 0),
        (8, "a", 0),
        (8, "b", 1),
        (7, "b", 10),
    ]


def test_places_on_the_globe_are_metres_apart():
    rows = [{"k": "a", "at": 0, "x": 179.5, "y": 60.0, "zone": None}]
    at = Points(np.array([[-179.5, 61.0]]))
    query = ask(metric=Metric.GEOGRAPHIC, attributes=("x", "y"), points=at)
    expected = distance_m(179.5, 60.0, -179.5, 61.0, geographic=True)
    assert answers(SCHEMA, rows, query)[0]["distance"] == pytest.approx(expected, rel=1e-9)
