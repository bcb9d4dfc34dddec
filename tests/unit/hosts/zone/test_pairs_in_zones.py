"""A PREDICT of pairs lives in every zone: each pair is told once, whatever the number of zones, and nothing else twice."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from headwater.hosts.zone import Arrivals, Program, Unit, clusters_of, fetch_from, load_zone, save_zone
from headwater.model import SECOND, Column, ColumnType, Rows, parse_instant, strings
from headwater.query.planning.plan import Plan, compile_text

START = parse_instant("2026-03-01T08:00:00")

STREAMS = """
CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y)) LATE 2 SECONDS;
CREATE STREAM buses (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y)) LATE 5 SECONDS;
"""
NEAR = "ABS(a.x - b.x) <= 20 AND ABS(a.y - b.y) <= 20 WITHIN 3 SECONDS"
QUERIES = f"""
CREATE QUERY sent AS SELECT * FROM cars SUPPRESS (x, y TOLERANCE 5 METERS HEARTBEAT 30 SECONDS);
CREATE QUERY east AS SELECT * FROM sent PREDICT (x > 500);
CREATE QUERY meeting AS SELECT * FROM sent PREDICT (PAIRS a, b WHERE {NEAR} MAY);
CREATE QUERY short AS SELECT a_key, b_key FROM meeting WHERE ends - begins < INTERVAL '10' SECOND;
CREATE QUERY boarding AS SELECT * FROM cars, buses
  SUPPRESS (x, y TOLERANCE 5 METERS HEARTBEAT 30 SECONDS) PREDICT (PAIRS a, b WHERE {NEAR} TENTATIVE);
CREATE QUERY alone AS SELECT * FROM buses SUPPRESS (x TOLERANCE 5 METERS HEARTBEAT 1 MINUTE) PREDICT (x < 300);
"""


def moving(objects: int, seed: int, seconds: int = 60) -> list[Rows]:
    """Objects in a square of a kilometre, a report every three seconds; one arrival every six."""
    draw = np.random.default_rng(seed)
    place = draw.uniform(0, 1000, (objects, 2))
    speed = draw.uniform(-15, 15, (objects, 2))
    arrivals, at = [], 0
    for _ in range(seconds // 6):
        parts = []
        for _ in range(2):
            turns = draw.random(objects) < 0.2
            speed[turns] = draw.uniform(-15, 15, (int(turns.sum()), 2))
            place = place + 3 * speed
            parts.append((np.full(objects, START + at * SECOND), place))
            at += 3
        times, places = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        arrivals.append(
            Rows.of(
                {
                    "id": strings([f"{seed}-{i:03d}" for i in range(objects)] * 2),
                    "at": Column(ColumnType.TIMESTAMP, times),
                    "x": Column(ColumnType.DOUBLE, np.ascontiguousarray(places[:, 0])),
                    "y": Column(ColumnType.DOUBLE, np.ascontiguousarray(places[:, 1])),
                }
            )
        )
    return arrivals


def run(
    plan: Plan, cars: Sequence[Rows], buses: Sequence[Rows], *, restored: bool
) -> tuple[Counter[str], Counter[str]]:
    """What all zones tell, as texts, and what they count; `restored`: state goes through bytes at every step."""
    emitted: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for zone in range(plan.zones):
        program = Program(plan, zone)
        state = program.start()
        for number in range(len(cars) + 1):
            units = {}
            if number < len(cars):
                for name, arrivals in (("cars", cars), ("buses", buses)):
                    rows = arrivals[number]
                    rows_of_zone = plan.routing(name)(rows)[zone]
                    unit = Unit(name, number, 0, clusters_of(rows["at"].values), rows.take(rows_of_zone))
                    units[name] = [unit]
            state, output = program.step(state, Arrivals(units, end=number == len(cars)))
            emitted.update(str(row) for block in output.answers for row in block.tolist())
            counts.update(output.counts)
            if restored:
                saved = save_zone(program, state)
                state = load_zone(program, saved.head, fetch_from(saved.cells()))
    return emitted, +counts


@pytest.mark.parametrize("zones", [2, 5])
def test_zones_share_the_pairs_and_emit_everything_once(zones: int) -> None:
    cars, buses = moving(60, 1), moving(25, 2)
    text = STREAMS + QUERIES
    whole, counted = run(compile_text(text), cars, buses, restored=False)
    assert {text.split("'query': '")[1].split("'")[0] for text in whole} == {
        "sent", "east", "meeting", "short", "boarding", "alone",
    }  # fmt: skip
    plan = compile_text(text, zones=zones)
    shared, counted_by_zones = run(plan, cars, buses, restored=True)
    assert shared == whole
    assert counted_by_zones == counted
    assert {query.name for query in plan.queries if query.shared} == {
        "sent", "east", "meeting", "short", "boarding", "boarding/SUPPRESS 1", "boarding/SUPPRESS 2",
    }  # fmt: skip
    assert plan.query("alone").spread == plan.query("alone/SUPPRESS").spread == ("id",)


def test_every_zone_emits_some_of_the_pairs() -> None:
    cars = moving(60, 1)
    text = STREAMS + QUERIES
    plan = compile_text(text, zones=2)
    amounts = []
    for zone in range(2):
        program = Program(plan, zone)
        state, meetings = program.start(), 0
        for number, rows in enumerate(cars):
            unit = Unit("cars", number, 0, clusters_of(rows["at"].values), rows)
            state, output = program.step(state, Arrivals({"cars": [unit]}))
            meetings += sum(block["query"].tolist().count("meeting") for block in output.answers)
        amounts.append(meetings)
    assert min(amounts) > 0


def test_a_buffer_or_another_reader_keeps_pairs_in_one_zone() -> None:
    chain = "FROM cars SUPPRESS (x, y TOLERANCE 5 METERS HEARTBEAT 30 SECONDS) PREDICT"
    text = f"""{STREAMS}
    CREATE QUERY few AS SELECT * {chain} (PAIRS a, b WHERE {NEAR} BUFFER 40);
    CREATE QUERY first AS SELECT * {chain} (PAIRS a, b WHERE {NEAR});
    CREATE QUERY second AS SELECT * FROM first MATCH_RECOGNIZE (PATTERN (A B) WITHIN 1 MINUTE DEFINE B AS B.a_key = A.a_key);
    """
    plan = compile_text(text, zones=4)
    assert not any(query.shared for query in plan.queries)
    for name in ("few", "first"):
        assert plan.zone_of(name) == plan.zone_of(f"{name}/SUPPRESS")
