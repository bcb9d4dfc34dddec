"""What is left of keys that came and went? Nothing, or what the meaning needs, and answers do not depend on what was dropped.

Every text runs in a zone's program. Keys come in waves, say something twice, and are gone (some come again long after); then time passes until every
window, life and FORGET is over. The bytes of all that is saved must be the same however many keys there were.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from headwater.hosts.zone import Program, ZoneState, save_zone
from headwater.model import GEOMETRY, SECOND, Column, ColumnType, Instant, Rows, coded
from headwater.query.planning.plan import Plan, compile_text
from tests.laws.zone_runs import Answers, collected, restored, useful

LINES = """
CREATE STREAM u (s STRING KEY, at TIMESTAMP TIME, v DOUBLE, v_slope DOUBLE, tolerance DOUBLE, heartbeat DOUBLE);
"""
PLACES = """
CREATE STREAM cars (s STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
CREATE STREAM events (s STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
CREATE FENCES zones (name STRING KEY);
"""
PREDICT = {
    "value": "v > 1",
    "may": "v > 1 MAY",
    "must": "v > 1 MUST",
    "probability": "v > 1 PROBABILITY >= 0.5",
    "tentative": "v > 1 TENTATIVE",
    "ahead": "v > 1 TENTATIVE AHEAD 2 SECONDS",
    "every": "v > 1 VALIDATED EVERY 1 SECOND",
    "buffer least": "v > 1 BUFFER 20 GIVE UP LEAST",
    "buffer random": "v > 1 BUFFER 20 GIVE UP RANDOM 3",
    "pairs": "PAIRS a, b WHERE ABS(a.v - b.v) <= 0.1 WITHIN 0 SECONDS",
    "pairs within": "PAIRS a, b WHERE ABS(a.v - b.v) <= 0.1 WITHIN 4 SECONDS",
    "pairs tentative": "PAIRS a, b WHERE ABS(a.v - b.v) <= 0.1 WITHIN 4 SECONDS TENTATIVE",
    "pairs every": "PAIRS a, b WHERE ABS(a.v - b.v) <= 0.1 WITHIN 4 SECONDS VALIDATED EVERY 1 SECOND",
    "pairs buffer": "PAIRS a, b WHERE ABS(a.v - b.v) <= 0.1 WITHIN 4 SECONDS BUFFER 20 GIVE UP OLDEST",
    "pairs unbounded": "PAIRS a, b WHERE ABS(a.v - b.v) >= 1 WITHIN 4 SECONDS",
    "three": "PAIRS a, b, c WHERE ABS(a.v - b.v) <= 0.01 AND ABS(b.v - c.v) <= 0.01 WITHIN 1 SECOND",
}
FOLLOW = {
    "once": "RADIUS 5 LAST 5 SECONDS FORGET 20 SECONDS",
    "each": "RADIUS 5 LAST 5 SECONDS FORGET 20 SECONDS DELIVER EACH",
    "no history": "RADIUS 5 FORGET 20 SECONDS",
    "moved": "RADIUS 5 LAST 5 SECONDS UPDATE MOVED 10 FORGET 20 SECONDS",
    "quality": "RADIUS 5 LAST 5 SECONDS QUALITY 0.5, 0.5 FORGET 20 SECONDS",
    "interests": "RADIUS 5 LAST 5 SECONDS FORGET 20 SECONDS EMIT INTERESTS",
    "best effort": "BOX 5, 5 LAST 5 SECONDS FORGET 20 SECONDS BEST EFFORT 3",
}
BEHIND = {
    "pattern": "MATCH_RECOGNIZE (MEASURES A.s AS a, B.s AS b PATTERN (A B) WITHIN 4 SECONDS)",
    "pattern by key": "MATCH_RECOGNIZE (PARTITION BY s MEASURES A.x AS a MATCH EVERY PATTERN (A ~> NOT B) WITHIN 4 SECONDS"
    " DEFINE B AS B.x > A.x)",
    "correlate": "CORRELATE (x > -1000 AS a, y > -1000 AS b WITHIN 3 SECONDS)",
    "nearest": "NEAREST (2 TO LOWEST x OVER 4 SECONDS EMIT CHANGES)",
    "ticks": "NEAREST (1 TO LOWEST x OVER 4 SECONDS EMIT EVERY 2 SECONDS)",
    "fence": "FENCE (zones DETECT ENTER, EXIT, INSIDE FORGET 5 SECONDS)",
    "suppress": "SUPPRESS (x TOLERANCE 1 HEARTBEAT 4 SECONDS FORGET 8 SECONDS)",
    "predict": "SUPPRESS (x TOLERANCE 1 HEARTBEAT 4 SECONDS FORGET 8 SECONDS) PREDICT (x > 1)",
    "predict pairs": "SUPPRESS (x TOLERANCE 1 HEARTBEAT 4 SECONDS FORGET 8 SECONDS)"
    " PREDICT (PAIRS a, b WHERE ABS(a.x - b.x) <= 10 WITHIN 2 SECONDS)",
}
BEHIND_FOLLOW = "FOLLOW (cars RADIUS 20 LAST 5 SECONDS FORGET 20 SECONDS)"
SELECTED = f"""
CREATE QUERY near AS SELECT * FROM events {BEHIND_FOLLOW};
CREATE QUERY q AS SELECT * FROM near WHERE x > -1000;
"""
CHAIN = f"""
CREATE QUERY near AS SELECT * FROM events {BEHIND_FOLLOW};
CREATE QUERY twos AS SELECT * FROM near {BEHIND["pattern"]};
CREATE QUERY q AS SELECT * FROM twos MATCH_RECOGNIZE (MEASURES A.b AS b PATTERN (A ~> B) WITHIN 3 SECONDS);
"""
FENCE = {
    "standing": "zones DETECT ENTER, EXIT, INSIDE, OUTSIDE, CROSS FORGET 20 SECONDS",
    "moving": "events RADIUS 5 DETECT ENTER, EXIT, INSIDE, OUTSIDE, CROSS FORGET 20 SECONDS",
    "roaming": "cars RADIUS 5 FORGET 20 SECONDS",
}
TEXTS = {
    **{f"predict {kind}": f"{LINES}CREATE QUERY q AS SELECT * FROM u PREDICT ({text});" for kind, text in PREDICT.items()},
    **{
        f"follow {kind}": f"{PLACES}CREATE QUERY q AS SELECT * FROM events FOLLOW (cars {text});"
        for kind, text in FOLLOW.items()
    },
    **{
        f"follow then {kind}": f"{PLACES}CREATE QUERY q AS SELECT * FROM events {BEHIND_FOLLOW} {text};"
        for kind, text in BEHIND.items()
    },
    "follow then select": PLACES + SELECTED,
    "follow then a chain": PLACES + CHAIN,
    **{f"fence {kind}": f"{PLACES}CREATE QUERY q AS SELECT * FROM cars FENCE ({text});" for kind, text in FENCE.items()},
}  # fmt: skip
A_WAVE = 10  # keys
NAMES = 250
NOISE = 24
"""Bytes by which a head may differ: counts and numbers of chunks have more digits."""

pytestmark = pytest.mark.parametrize("kind", TEXTS)


def test_keys_that_are_gone_leave_no_bytes(kind: str):
    few, many = (left_of(kind, waves) for waves in (3, 60))
    assert abs(many - few) <= NOISE


def test_answers_do_not_depend_on_what_was_dropped(kind: str):
    rows, end = world(kind, 30)
    steps = [second * SECOND for second in range(3, end // SECOND, 7)]
    once = run(kind, rows, [end])[0]
    assert by_content(once) and by_content(run(kind, rows, [*steps, end])[0]) == by_content(once)
    assert by_content(run(kind, rows, [*steps, end], restoring=True)[0]) == by_content(once)


TOGETHER = ("buffer", "every", "unbounded")
"""What looks at all keys; with EVERY something is told of each of them at the tick."""


NEAR = ("follow", "fence", "pairs", "three")
"""What looks at keys that are near."""


def test_what_a_step_saves_follows_its_rows_and_not_the_keys_that_are_there(kind: str):
    """All keys speak within five seconds, and all are alive; then a step has a few rows. What runs out by itself is written, too."""
    if any(word in kind for word in TOGETHER):
        pytest.skip("looks at all keys together")
    rows, _ = world(kind, 200, every_us=SECOND // 50)
    if any(word in kind for word in NEAR):
        rows = {name: far_apart(some) for name, some in rows.items()}
    zone = program(kind)
    since = 5 * SECOND
    state = run(kind, rows, [since, since + 1])[
        1
    ]  # the first step has a row of everybody, the second of nobody
    since += 1
    known = in_stores(zone, state)
    few = {name: later(some.take(slice(0, 5)), since) for name, some in rows.items()}
    state = run(kind, few, [since + 1000], state=state, since=since)[1]
    new = {name: cell for name, cell in in_stores(zone, state).items() if name not in known}
    assert 0 < 20 * sum(map(len, new.values())) < sum(map(len, known.values()))
    assert len(save_zone(zone, state).head) < 5_000


def in_stores(zone: Program, state: ZoneState) -> dict[str, bytes]:
    """What is saved by key; events that are stored are rows, not keys."""
    return {name: cell for name, cell in save_zone(zone, state).cells().items() if name.startswith("store/")}


def far_apart(rows: Rows) -> Rows:
    times = {"x": 100.0, "y": 100.0, "v": 10_000.0}
    places = [name for name in times if name in rows.columns]
    return rows.having(
        **{name: Column(ColumnType.DOUBLE, rows[name].values * times[name]) for name in places}
    )


def later(rows: Rows, at: Instant) -> Rows:
    return rows.having(at=Column(ColumnType.TIMESTAMP, np.full(rows.count, at)))


def left_of(kind: str, waves: int) -> int:
    """Bytes that are saved when all is over. A wave is a step, and time ends at the same hour however many there are."""
    rows, end = world(kind, waves)
    steps = list(range(5 * SECOND, end, 5 * SECOND))
    emitted, state = run(kind, rows, [*steps, 3600 * SECOND])
    assert emitted
    saved = save_zone(program(kind), state)
    return len(saved.head) + sum(map(len, saved.cells().values()))


def run(
    kind: str,
    rows: dict[str, Rows],
    watermarks: list[Instant],
    *,
    restoring: bool = False,
    state: ZoneState | None = None,
    since: Instant = 0,
) -> tuple[Answers, ZoneState]:
    zone = program(kind)
    state, blocks = state or zone.start(), []
    for watermark in watermarks:
        ordered = {}
        for stream in zone.plan.streams:
            times = rows[stream.name]["at"].values
            some = rows[stream.name].take((times >= since) & (times < watermark))
            ordered[stream.name] = useful(zone.plan, stream.name, some), watermark
        groups, answers, _ = zone.advance(state.groups, ordered)
        blocks += answers
        state, since = ZoneState(state.queues, groups), watermark
        if restoring:
            state = restored(zone, state)
    return collected(blocks), state


def by_content(emitted: Answers) -> list[str]:
    return sorted(repr(sorted(row.items())) for rows in emitted.values() for row in rows)


@cache
def program(kind: str) -> Program:
    plan: Plan = compile_text(TEXTS[kind])
    if plan.fences:
        square = {
            "type": "Polygon",
            "coordinates": [[[-50, -50], [50, -50], [50, 50], [-50, 50], [-50, -50]]],
        }
        table = {"name": ["middle"], GEOMETRY: [json.dumps(square)]}
        plan = plan.with_sets(
            {"zones": Rows.of({k: Column.of(ColumnType.STRING, v) for k, v in table.items()})}
        )
    return Program(plan)


def world(kind: str, waves: int, every_us: int = 2 * SECOND) -> tuple[dict[str, Rows], Instant]:
    """Rows of every stream, and when all is over. A wave comes every two seconds; each of its keys speaks twice, within a second."""
    random = np.random.default_rng(5)
    keys = waves * A_WAVE
    key = np.repeat(np.arange(keys), 2)
    at = (key // A_WAVE) * every_us + np.tile([0, SECOND], keys) + key % A_WAVE * 1000 + 5
    order = np.argsort(at, kind="stable")
    key, at = key[order], at[order]
    # Keys that come later come anywhere among the names, so that ranks change; and some come again long after.
    names = NAMES if every_us > SECOND else keys
    texts = np.array([f"k{n * 7919 % 10_000:04}" for n in range(names)], object)
    head = {"s": coded(key % names, texts), "at": Column(ColumnType.TIMESTAMP, at)}
    end = (2 * waves + 60) * SECOND
    if kind.startswith("predict"):
        drawn = {"v": random.uniform(0, 3, len(key)), "v_slope": random.uniform(-0.1, 0.1, len(key))}
        steady = {"tolerance": np.full(len(key), 0.1), "heartbeat": np.full(len(key), 8.0)}
        columns = {name: Column(ColumnType.DOUBLE, values) for name, values in (drawn | steady).items()}
        return {"u": Rows.of(head | columns)}, end
    found = {}
    for stream in ("cars", "events"):
        drawn = {name: random.uniform(-60, 60, len(key)) // 3 for name in ("x", "y")}
        columns = {name: Column(ColumnType.DOUBLE, values) for name, values in drawn.items()}
        found[stream] = Rows.of(head | columns)
    return found, end
