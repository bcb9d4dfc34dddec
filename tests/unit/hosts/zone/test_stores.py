"""Events are stored once for all FOLLOW queries that look at them; each query looks at them at its own pace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from headwater.hosts.zone import Program, ZoneState, fetch_from, load_zone, save_zone
from headwater.hosts.zone.clock import InputClock
from headwater.hosts.zone.queue import QueueState
from headwater.model import BEGINNING, END, SECOND, Column, HostError, Instant, Rows, row_log
from headwater.query.planning.groups import store_of
from headwater.query.planning.plan import compile_text

STREAMS = "\n".join(
    f"CREATE STREAM {name} (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, v DOUBLE, PLACE (x, y));"
    for name in ("traffic", "lanes", "cars", "phones")
)
CARS = "CREATE QUERY by_car AS SELECT focal, id FROM traffic FOLLOW (cars RADIUS 10 LAST 10 SECONDS);"
FAST = "CREATE QUERY fast AS SELECT focal, id FROM traffic WHERE v > 5 FOLLOW (cars RADIUS 10);"
PHONES = "CREATE QUERY by_phone AS SELECT focal, id FROM traffic FOLLOW (phones RADIUS 10 LAST 30 SECONDS);"
BOTH = "CREATE QUERY both AS SELECT focal, id FROM lanes, traffic FOLLOW (cars RADIUS 10 LAST 20 SECONDS);"

Arrived = Mapping[
    str, tuple[Sequence[tuple[str, int, float]], int]
]  # (id, second, x) of each stream, and its time


class Run:
    """A zone that is stepped with rows in order."""

    def __init__(self, text: str) -> None:
        self.program = Program(compile_text(STREAMS + text))
        self.groups = self.program.start().groups
        self.reached: dict[str, Instant] = {}

    def step(self, arrived: Arrived) -> list[tuple[str, str, str, int]]:
        """What is told: query, focal, event, second."""
        ordered = {
            name: (self._rows(name, arrived.get(name, ((), 0))[0]), _time(arrived.get(name, ((), 0))[1]))
            for name in self.program.queues
        }
        self.reached = {name: watermark for name, (_, watermark) in ordered.items()}
        self.groups, blocks, _ = self.program.advance(self.groups, ordered)
        return sorted(
            (row["query"], row["focal"], row["id"], row["event_time"] // SECOND)
            for block in blocks
            for row in block.tolist()
        )

    def go_on_with(self, text: str) -> None:
        """Save, and go on with other queries."""
        queues = {
            name: QueueState({name: InputClock(reached)}, reached) for name, reached in self.reached.items()
        }
        saved = save_zone(self.program, ZoneState(queues, self.groups))
        self.program = Program(compile_text(STREAMS + text))
        self.groups = load_zone(self.program, saved.head, fetch_from(saved.cells())).groups

    def stored(self, source: str) -> list[str]:
        """The events in the store of a source."""
        rows = self.groups[store_of(source)].log.rows()
        return [] if rows is None else rows["id"].tolist()

    def _rows(self, name: str, rows: Sequence[tuple[str, int, float]]) -> Rows:
        values = {
            "id": [row[0] for row in rows],
            "at": [row[1] * SECOND for row in rows],
            "x": [row[2] for row in rows],
            "y": [0.0] * len(rows),
            "v": [9.0] * len(rows),
        }
        types = self.program.queues[name].empty.types
        return Rows({column: Column.of(kind, values[column]) for column, kind in types.items()}, len(rows))


def _time(second: int) -> Instant:
    return END if second < 0 else BEGINNING if second == 0 else second * SECOND


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event is a chunk, so that a store holds what it must and nothing else."""
    monkeypatch.setattr(row_log, "CHUNK_ROWS", 1)


def test_all_who_look_at_a_source_have_one_store() -> None:
    program = Program(compile_text(STREAMS + CARS + FAST + PHONES + BOTH))
    names = [group.name for group in program.groups]
    assert [name for name in names if name.startswith("events:")] == ["events:traffic", "events:lanes"]
    assert [name for name in names if name.startswith("follow:")] == [
        "follow:cars in traffic",
        "follow:phones in traffic",
        "follow:cars in lanes, traffic",
    ]


def test_a_store_keeps_what_the_slowest_of_them_may_still_need() -> None:
    run = Run(CARS + PHONES)
    events = [(f"e{second}", second, 0.0) for second in range(100, 160, 10)]
    answers = run.step({"traffic": (events, 160), "cars": ([("c", 150, 0.0)], 160)})
    # Nobody has heard of phones: cars do not wait for them, and what phones may ask for is kept.
    assert answers == [("by_car", "c", "e140", 140), ("by_car", "c", "e150", 150)]
    assert run.stored("traffic") == [event for event, _, _ in events]
    answers = run.step({"traffic": ([], 160), "cars": ([], 160), "phones": ([("p", 135, 0.0)], 145)})
    assert answers == [("by_phone", "p", f"e{second}", second) for second in (110, 120, 130, 140)]
    assert run.stored("traffic") == ["e120", "e130", "e140", "e150"]  # 145 - 30 s is what phones look back to
    answers = run.step({"traffic": ([], 200), "cars": ([], 200), "phones": ([], 200)})
    assert answers == [("by_phone", "p", "e150", 150)]
    assert run.stored("traffic") == []


def test_location_updates_wait_for_events_of_all_sources() -> None:
    run = Run(CARS + BOTH)
    came = {"traffic": ([("t", 110, 0.0)], 120), "cars": ([("c", 100, 0.0), ("c", 115, 0.0)], 130)}
    answers = run.step({**came, "lanes": ([("l", 105, 0.0)], 108)})
    assert answers == [("both", "c", "l", 105), ("by_car", "c", "t", 110)]
    run.go_on_with(CARS + BOTH)
    answers = run.step({"traffic": ([], 140), "cars": ([], 140), "lanes": ([("m", 110, 0.0)], 140)})
    assert answers == [("both", "c", "m", 110), ("both", "c", "t", 110)]


def test_events_of_several_sources_at_one_time_come_in_the_order_of_the_whole_stream() -> None:
    text = """CREATE QUERY pairs AS SELECT focal, a AS id, b FROM lanes, traffic FOLLOW (cars RADIUS 10)
      MATCH_RECOGNIZE (MEASURES A.id AS a, B.id AS b PATTERN (A B) WITHIN 9 SECONDS);"""
    rows = {"lanes": ["b", "d"], "traffic": ["a", "c"]}
    run = Run(text)
    came: dict[str, tuple[Sequence[tuple[str, int, float]], int]] = {
        name: ([(one, 100, 0.0) for one in ids], -1) for name, ids in rows.items()
    }
    assert run.step({**came, "cars": ([("f", 100, 0.0)], -1)}) == [
        ("pairs", "f", "a", 100),
        ("pairs", "f", "c", 100),
    ]


def test_a_query_with_other_focal_objects_comes_and_goes_without_disturbing_those_that_are_there() -> None:
    run = Run(CARS)
    run.step({"traffic": ([("e", 100, 0.0)], 101), "cars": ([("c", 100, 0.0)], 101)})
    run.go_on_with(CARS + PHONES)
    came = {"traffic": ([("f", 102, 0.0)], 110), "cars": ([("c", 105, 5.0)], 110)}
    assert run.step({**came, "phones": ([("p", 103, 0.0)], 110)}) == [
        ("by_car", "c", "f", 102),
        ("by_phone", "p", "f", 102),
    ]
    run.go_on_with(PHONES)
    assert run.step({"traffic": ([("g", 111, 0.0)], -1), "phones": ([], -1)}) == [("by_phone", "p", "g", 111)]


def test_a_store_has_the_events_that_any_query_wants() -> None:
    run = Run(FAST.replace("v > 5", "x > 8") + PHONES.replace("FROM traffic", "FROM traffic WHERE x < 3"))
    run.step({"traffic": ([("e", 100, 0.0), ("f", 101, 7.0), ("g", 102, 9.0)], 103)})
    assert run.stored("traffic") == ["e", "g"]


def test_state_of_another_number_of_zones_is_refused() -> None:
    two, three = (Program(compile_text(STREAMS + CARS, zones=zones)) for zones in (2, 3))
    saved = save_zone(two, two.start())
    with pytest.raises(HostError) as refused:
        load_zone(three, saved.head, fetch_from(saved.cells()))
    assert str(refused.value).splitlines() == [
        "error[checkpoint-other-zones]: state was saved with 2 zones, but this run uses 3",
        "  the number of zones is fixed when a checkpoint is created: hw.run(..., zones=2)",
    ]
