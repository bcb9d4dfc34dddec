from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np

from headwater.hosts.files import json_lines
from headwater.hosts.local import RunReport, run_local, stream_local
from headwater.hosts.local.answer_order import PendingAnswers
from headwater.model import END, Column, ColumnType, Rows
from headwater.query.planning.plan import compile_text

STREAM = "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, wind DOUBLE) LATE 10 SECONDS{};\n"
QUERIES = """
CREATE QUERY cold AS SELECT station, temperature FROM weather WHERE temperature < 0;
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (temperature < 0, wind < 2 WITHIN 30 SECONDS);
CREATE QUERY colder AS SELECT station FROM cold WHERE temperature < -5;
"""
HEADER = "station,at,temperature,wind\n"


def written(folder: Path, name: str, lines: list[str]) -> str:
    path = folder / name
    path.write_text(HEADER + "".join(line + "\n" for line in lines))
    return str(path)


def plan(more: str = ""):
    return compile_text(STREAM.format(more) + QUERIES)


def answers(outputs) -> list[str]:
    return [line for output in outputs for rows in output.answers for line in json_lines(rows).to_pylist()]


def total(outputs, part) -> int:
    return sum(part(output) for output in outputs)


def test_every_query_is_answered_also_one_that_reads_another(tmp_path):
    path = written(tmp_path, "w.csv", ["b,20,-6,9", "a,10,-1,1", "a,41,5,1", "c,soon,1,1"])
    outputs = list(run_local(plan(), {"weather": [path]}))
    found = [rows for one in outputs for rows in one.answers]
    cold = [row for rows in found for row in rows.tolist() if row["query"] == "cold"]
    assert [(row["event_time"], row["station"], row["temperature"]) for row in cold] == [
        (10_000_000, "a", -1.0),
        (20_000_000, "b", -6.0),
    ]
    colder = [row for rows in found for row in rows.tolist() if row["query"] == "colder"]
    assert [(row["event_time"], row["station"]) for row in colder] == [(20_000_000, "b")]
    frost = [row for rows in found for row in rows.tolist() if row["query"] == "frost"]
    assert [(row["event_time"], row["temperature_key"], row["wind_key"]) for row in frost] == [
        (10_000_000, "a", "a"),
        (20_000_000, "b", "a"),
        (41_000_000, "b", "a"),
    ]
    assert [row["reason"] for one in outputs for row in one.bad.tolist()] == [
        "bad-time: 'soon' is not a timestamp (column 'at')"
    ]
    assert (total(outputs, lambda one: one.seen), total(outputs, lambda one: one.files)) == (4, 1)


def test_memory_files_and_order_change_nothing(tmp_path):
    rng = random.Random(5)
    lines = [
        f"s{rng.randrange(5)},{rng.randrange(400)},{rng.uniform(-9, 9):.1f},{rng.randrange(9)}"
        for _ in range(500)
    ]
    whole = written(tmp_path, "all.csv", lines)
    parts = tmp_path / "parts"
    parts.mkdir()
    for start in range(0, 500, 90):
        written(parts, f"{start}.csv", lines[start : start + 90])
    expected = sorted(answers(run_local(plan(), {"weather": [whole]})))
    assert len(expected) > 300
    assert sorted(answers(run_local(plan(), {"weather": [str(parts)]}))) == expected
    few = run_local(plan(), {"weather": [str(parts)]}, memory_rows=100, chunk_rows=7)
    assert sorted(answers(few)) == expected


def test_repeats_are_counted_where_the_stream_says_so(tmp_path):
    path = written(tmp_path, "w.csv", ["a,10,-1,5", "a,10,-1,5", "a,10,-1,6"])
    outputs = list(run_local(plan(" DEDUPLICATE"), {"weather": [path, path]}))
    assert sum(one.counts.get("repeated:weather", 0) for one in outputs) == 4
    assert sum(rows.count for one in outputs for rows in one.answers) == 2


def test_a_stream_without_rows_has_no_answers(tmp_path):
    path = written(tmp_path, "w.csv", [])
    outputs = list(run_local(plan(), {"weather": [path]}))
    assert [one for one in outputs if one.answers or one.bad.count or one.counts] == []
    assert total(outputs, lambda one: one.files) == 1


def late(outputs: list[RunReport]) -> list[dict]:
    return [row for output in outputs for rows in output.late.values() for row in rows.tolist()]


def test_followed_files_decide_what_is_late(tmp_path):
    first = written(tmp_path, "1.csv", [f"a,{second},-1,9" for second in (100, 60, 101, 102, 103)])
    second = written(tmp_path, "2.csv", ["b,92,-1,9", "b,93,-1,9", "b,200,-1,9", "b,110,-1,9"])
    arrivals = [("weather", first), ("weather", second)]
    outputs = list(stream_local(plan(), arrivals))
    assert [(row["station"], row["at"]) for row in late(outputs)] == [("b", 92_000_000)]
    cold = [row for one in outputs for rows in one.answers for row in rows.tolist() if row["query"] == "cold"]
    assert [row["event_time"] // 1_000_000 for row in cold] == [60, 93, 100, 101, 102, 103, 110, 200]
    open_ended = list(stream_local(plan(), arrivals, end=False))
    assert [row["event_time"] // 1_000_000 for row in _cold(open_ended)] == [60, 93, 100, 101, 102, 103, 110]


def test_several_inputs_wait_for_the_slowest(tmp_path):
    north = written(tmp_path, "n.csv", [f"n,{second},-1,9" for second in range(300, 310)])
    south = written(tmp_path, "s.csv", [f"s,{second},-1,9" for second in range(100, 110)])
    inputs = {"weather": ["north", "south"]}
    outputs = list(stream_local(plan(), [("north", north), ("south", south)], inputs=inputs, end=False))
    assert late(outputs) == []
    assert [
        row["station"] for row in _cold(outputs)
    ] == []  # until the south is past, nothing before 99 is sure
    done = list(stream_local(plan(), [("north", north), ("south", south)], inputs=inputs))
    assert [row["station"] for row in _cold(done)] == ["s"] * 10 + ["n"] * 10


def _cold(outputs: list[RunReport]) -> list[dict]:
    blocks: list[Rows] = [rows for output in outputs for rows in output.answers]
    return [row for rows in blocks for row in rows.tolist() if row["query"] == "cold"]


def test_answers_of_the_past_come_in_order_however_the_input_is_cut(tmp_path):
    """Interests bring history, and a loop is told when it closes: both are told after answers of later times."""
    followed = compile_text(
        "CREATE STREAM cars (car STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));"
        "CREATE STREAM ev (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, v DOUBLE, PLACE (x, y));"
        "CREATE QUERY near AS SELECT id FROM ev FOLLOW (cars RADIUS 5 LAST 9 SECONDS);"
        "CREATE QUERY high AS SELECT id FROM ev WHERE v > 5;"
        "CREATE QUERY rising AS SELECT * FROM ev FOLLOW (cars RADIUS 5 LAST 1 SECOND) MATCH_RECOGNIZE ("
        " MEASURES A.id AS a PATTERN (A B+) WITHIN 8 SECONDS DEFINE B AS v > A.v);"
    )
    rng = random.Random(3)
    (tmp_path / "cars.csv").write_text(
        "car,at,x,y\n" + "".join(f"c{n % 3},{n},{rng.randrange(12)},0\n" for n in range(2, 40, 3))
    )
    (tmp_path / "ev.csv").write_text(
        "id,at,x,y,v\n"
        + "".join(f"e{n},{n / 2},{rng.randrange(12)},0,{rng.randrange(9)}\n" for n in range(80))
    )
    inputs = {"cars": [str(tmp_path / "cars.csv")], "ev": [str(tmp_path / "ev.csv")]}
    expected = sorted(answers(run_local(followed, inputs)))
    assert len(expected) > 100
    outputs = list(run_local(followed, inputs, chunk_rows=3))
    assert sorted(answers(outputs)) == expected
    spans = [
        (min(times), max(times))
        for one in outputs
        if (times := [time for rows in one.answers for time in rows["event_time"].values.tolist()])
    ]
    assert len(spans) > 5, "answers are handed over while the run goes on"
    assert all(before <= after for (_, before), (after, _) in pairwise(spans))


def test_when_too_many_answers_wait_the_earlier_half_goes():
    def some(*times: int) -> Rows:
        return Rows.of({"event_time": Column(ColumnType.TIMESTAMP, np.array(times, np.int64))})

    def handed(blocks: tuple[Rows, ...]) -> list[int]:
        return sorted(time for block in blocks for time in block["event_time"].values.tolist())

    waiting = PendingAnswers(4)
    assert handed(waiting.ready([some(5, 3), some(4)], 4)) == [3]
    assert handed(waiting.ready([some(9, 7)], 4)) == []
    assert handed(waiting.ready([some(8, 6)], 4)) == [4, 5, 6, 7]
    assert handed(waiting.ready([], END)) == [8, 9]
