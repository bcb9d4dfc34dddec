"""Patterns are changed between two starts on one checkpoint: those that stay go on half matched, the others see what comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.spark.test_runs import bounded, followed
from tests.spark.valley import write_jsonl

STREAM = "CREATE STREAM events (k STRING KEY, at TIMESTAMP TIME, kind STRING, v DOUBLE) LATE 2 SECONDS;"
KEYS = [f"k{n}" for n in range(9)]  # over all zones

ROW_PATTERN = """
CREATE QUERY p AS SELECT * FROM events MATCH_RECOGNIZE (
  PARTITION BY k
  MEASURES FIRST(at) AS began, SUM(B.v) AS total, COUNT(B.*) AS steps, MATCH_NUMBER() AS number
  PATTERN (A B+ C) WITHIN 1 HOUR
  DEFINE A AS kind = 'a', B AS kind = 'b' AND SUM(B.v) < 1000, C AS kind = 'c'
);
"""
EVENT_PATTERN = """
CREATE QUERY silent AS SELECT * FROM events MATCH_RECOGNIZE (
  PARTITION BY k
  MEASURES A.at AS began, B.v AS last
  MATCH EVERY
  PATTERN (A ~> B ~> NOT C) WITHIN 90 SECONDS WITH TIMEOUTS
  DEFINE A AS kind = 'a', B AS kind = 'b' AND B.v > A.v, C AS kind = 'c'
);
"""
NODE_PATTERN = """
CREATE QUERY node AS SELECT * FROM events MATCH_RECOGNIZE (
  PARTITION BY k
  MEASURES A.at AS began, C.v AS last
  MODE FIRST HOLD 8 EVENTS
  PATTERN (A B C) WITHIN 1 HOUR
  DEFINE A AS kind = 'a', B AS kind = 'b', C AS kind = 'c'
);
"""
ALL_ROWS = """
CREATE QUERY shown AS SELECT * FROM events MATCH_RECOGNIZE (
  PARTITION BY k
  MEASURES CLASSIFIER() AS part, PREV(v) AS before, RUNNING SUM(v) AS so_far, FIRST(at) AS began
  ALL ROWS PER MATCH
  PATTERN (A B+ C) WITHIN 1 HOUR
  DEFINE A AS kind = 'a', B AS kind = 'b', C AS kind = 'c'
);
"""
STAY = {"p": ROW_PATTERN, "silent": EVENT_PATTERN, "node": NODE_PATTERN, "shown": ALL_ROWS}


def later(name: str, first: str) -> str:
    """A pattern that begins with one kind of rows and ends with `c`."""
    return f"""
CREATE QUERY {name} AS SELECT * FROM events MATCH_RECOGNIZE (
  PARTITION BY k MEASURES X.at AS began, C.v AS last
  PATTERN (X ~> C) WITHIN 1 HOUR DEFINE X AS kind IN ({first}), C AS kind = 'c'
);
"""


def event(second: int, key: str, kind: str, v: float) -> dict[str, object]:
    return {"k": key, "at": f"2026-01-15T00:{second // 60:02d}:{second % 60:02d}Z", "kind": kind, "v": v}


def write_before(folder: Path) -> None:
    """Every key is left half matched: `a`, for most of them `b` too. The last row lets time pass all others."""
    folder.mkdir()
    begun = [event(n, key, "a", n) for n, key in enumerate(KEYS)]
    going_on = [event(20 + n, key, "b", 10 * n) for n, key in enumerate(KEYS) if n % 3]
    write_jsonl(folder / "0.jsonl", begun)
    write_jsonl(folder / "1.jsonl", [*going_on, event(40, "clock", "tick", 0)])


def write_after(folder: Path) -> None:
    """What completes them; one key begins and ends again, and one is new."""
    going_on = [event(50 + n, key, "b", 100 + n) for n, key in enumerate(KEYS)]
    ended = [event(70 + n, key, "c", n) for n, key in enumerate(KEYS) if n % 4]
    again = [event(90 + n, key, kind, 7) for key in ("k1", "new") for n, kind in enumerate("abc")]
    write_jsonl(folder / "2.jsonl", going_on)
    write_jsonl(folder / "3.jsonl", [*ended, *again])
    write_jsonl(folder / "4.jsonl", [event(200, "clock", "tick", 0)])


CHANGED_AT = "2026-01-15T00:00:40Z"


def bodies(rows: list[tuple], name: str) -> list[dict]:
    """What a query told, in order of time."""
    found = [json.loads(body) for kind, of, _, body in rows if kind == "answer" and of == name]
    return sorted(found, key=lambda body: (body.get("event_time", ""), json.dumps(body, sort_keys=True)))


@pytest.mark.parametrize("zones", [1, 4])
def test_patterns_that_stay_complete_what_they_had_begun_and_new_ones_see_what_comes(
    spark, tmp_path, zones: int
) -> None:
    folder, stay = tmp_path / "in", "".join(STAY.values())
    inputs = {"events": [str(folder)]}
    write_before(folder)
    first = followed(spark, STREAM + stay + later("q", "'a'"), inputs, tmp_path / "c", zones=zones, once=True)
    write_after(folder)
    changed = STREAM + later("r", "'a'") + stay + later("q", "'a', 'b'")
    second = followed(spark, changed, inputs, tmp_path / "c", zones=zones, ends=True)

    undisturbed = bounded(spark, STREAM + stay, inputs, zones=zones)
    both = [row for row in sorted(first + second) if row[1] in STAY]
    assert both == undisturbed
    for name in STAY:
        across = [body for body in bodies(second, name) if body["began"] < CHANGED_AT]
        assert across, f"{name} began nothing before the change that was completed after it"

    (tmp_path / "later").mkdir()
    for number in (2, 3, 4):
        (tmp_path / "later" / f"{number}.jsonl").write_text((folder / f"{number}.jsonl").read_text())
    alone = bounded(
        spark, STREAM + later("q", "'a', 'b'") + later("r", "'a'"), {"events": [str(tmp_path / "later")]}
    )
    for name in ("q", "r"):
        assert bodies(second, name) == bodies(alone, name)
        assert min(body["began"] for body in bodies(second, name)) > CHANGED_AT
    assert {body["k"] for body in bodies(second, "r")} == {"k1", "new"}
    assert not bodies(first, "q")


def test_a_plain_reader_that_is_added_leaves_a_pattern_as_it_was(spark, tmp_path) -> None:
    folder = tmp_path / "in"
    inputs = {"events": [str(folder)]}
    write_before(folder)
    first = followed(spark, STREAM + ROW_PATTERN, inputs, tmp_path / "c", once=True)
    write_after(folder)
    reader = "CREATE QUERY large AS SELECT k, total FROM p WHERE total > 0;"
    second = followed(spark, STREAM + ROW_PATTERN + reader, inputs, tmp_path / "c", ends=True)
    rows = [row for row in sorted(first + second) if row[1] == "p"]
    assert rows == bounded(spark, STREAM + ROW_PATTERN, inputs)
    assert len(bodies(second, "large")) == len(bodies(second, "p")) > 0


def test_a_pattern_that_moves_because_its_answers_must_meet_begins_anew_and_says_nothing_wrong(
    spark, tmp_path
) -> None:
    folder = tmp_path / "in"
    inputs = {"events": [str(folder)]}
    meeting = """
CREATE QUERY pairs AS SELECT * FROM p CORRELATE (2 OF steps >= 1 WITHIN 1 HOUR);
"""
    write_before(folder)
    first = followed(spark, STREAM + ROW_PATTERN, inputs, tmp_path / "c", once=True)
    write_after(folder)
    second = followed(spark, STREAM + ROW_PATTERN + meeting, inputs, tmp_path / "c", ends=True)
    right = bodies(bounded(spark, STREAM + ROW_PATTERN, inputs), "p")
    assert not first
    assert bodies(second, "p")
    for body in bodies(second, "p"):
        assert {**body, "number": None} in [{**other, "number": None} for other in right]
        assert body["number"] == 1, "matches are counted anew too"
    assert all(body["began"] > CHANGED_AT for body in bodies(second, "p"))
    assert {body["k"] for body in bodies(second, "p")} == {"k1", "new"}

    back = followed(spark, STREAM + ROW_PATTERN, inputs, tmp_path / "c", ends=True)
    assert not back, "nothing is told again when the reader goes"
