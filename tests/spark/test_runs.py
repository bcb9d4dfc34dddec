"""The Spark host over files: bounded and followed runs say the same, and a restart goes on where the last run stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.checkpoint_notes import FORMAT
from headwater.hosts.spark.file_runs import run_batch, run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import ZoneReport, table_of
from headwater.model import HostError
from headwater.query.planning.plan import compile_text
from tests.spark.valley import COLD_AGAIN, FROST, MUGGY, STREAM, readings, write_files, write_jsonl

COLD = "CREATE QUERY cold AS SELECT station, at, temperature FROM weather WHERE temperature < -8;"
EVERYTHING = STREAM + FROST + MUGGY + COLD_AGAIN


def followed(
    spark, text: str, inputs: dict[str, list[str]], checkpoint: Path, *, zones: int = 4, **how
) -> list[tuple]:
    """(kind, name, body) of everything a followed run tells, counts left out."""
    rows_seen: list[tuple] = []

    def each(zones: Sequence[ZoneReport], _: int) -> None:
        table = table_of(zones)
        rows_seen.extend(
            zip(*(table[name].to_pylist() for name in ("kind", "name", "match_id", "body")), strict=True)
        )

    plan = compile_text(text, zones=zones)
    with hold(checkpoint, plan) as held:
        query = run_streaming(
            spark,
            plan,
            inputs,
            each,
            checkpoint=held,
            options=StreamingOptions(**{"files_per_batch": 1, **how}),
        )
        query.awaitTermination()
        assert query.exception() is None
    return sorted(row for row in rows_seen if row[0] != "count")


def bounded(spark, text: str, inputs: dict[str, list[str]], *, zones: int = 4) -> list[tuple]:
    rows_seen = []
    for batch in run_batch(spark, compile_text(text, zones=zones), inputs):
        rows_seen += zip(
            *(batch.column(name).to_pylist() for name in ("kind", "name", "match_id", "body")), strict=True
        )
    return sorted(row for row in rows_seen if row[0] != "count")


def test_a_bounded_run_and_a_drained_stream_say_the_same(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=6, each=200, seed=3)
    inputs = {"weather": [str(folder)]}
    batch = bounded(spark, EVERYTHING, inputs)
    stream = followed(spark, EVERYTHING, inputs, tmp_path / "checkpoint", ends=True)
    assert batch == stream
    answered = {name for kind, name, _, _ in batch if kind == "answer"}
    assert answered == {"frost", "muggy", "cold", "still", "each"}
    assert len({(name, match_id) for kind, name, match_id, _ in batch if kind == "answer"}) == len(batch)


def test_the_number_of_zones_and_of_files_a_batch_changes_nothing(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=4, each=150, seed=5)
    inputs = {"weather": [str(folder)]}
    one = followed(spark, EVERYTHING, inputs, tmp_path / "one", zones=2, files_per_batch=4, ends=True)
    many = followed(spark, EVERYTHING, inputs, tmp_path / "many", zones=7, files_per_batch=1, ends=True)
    assert one == many
    assert bounded(spark, EVERYTHING, inputs, zones=1) == one


def test_a_restart_goes_on_where_the_last_run_stopped(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=3, each=150, seed=7)
    inputs = {"weather": [str(folder)]}
    first = followed(spark, EVERYTHING, inputs, tmp_path / "checkpoint", once=True)
    write_files(folder, files=3, each=150, seed=7, first=3)
    second = followed(spark, EVERYTHING, inputs, tmp_path / "checkpoint", ends=True)
    undisturbed = followed(spark, EVERYTHING, inputs, tmp_path / "another", ends=True)
    assert sorted(first + second) == undisturbed


def test_queries_come_and_go_between_two_starts_and_the_others_keep_their_state(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=3, each=150, seed=11)
    inputs = {"weather": [str(folder)]}
    checkpoint = tmp_path / "checkpoint"
    first = followed(spark, STREAM + FROST + MUGGY, inputs, checkpoint, once=True)
    write_files(folder, files=3, each=150, seed=11, first=3)
    replaced = MUGGY.replace("humidity > 90", "humidity > 60")
    second = followed(spark, STREAM + FROST + replaced + COLD_AGAIN, inputs, checkpoint, ends=True)

    whole = followed(spark, STREAM + FROST, inputs, tmp_path / "whole", ends=True)
    assert sorted(row for row in first + second if row[1] == "frost") == whole

    seen_before = max(r["at"] for i in range(3) for r in readings(150, 11 + i, first=i * 150))
    anew = followed(spark, STREAM + replaced + COLD_AGAIN + FROST, inputs, tmp_path / "anew", ends=True)
    for name in ("muggy", "cold"):
        expected_times = {row[3] for row in anew if row[1] == name}
        got = {row[3] for row in second if row[1] == name}
        assert got, name
        assert got <= expected_times, name
    cold_after = [row for row in anew if row[1] == "cold" and f'"at":"{seen_before}"' not in row[3]]
    assert [row for row in cold_after if _at(row) > seen_before] == [
        row for row in second if row[1] == "cold"
    ]


def _at(row: tuple) -> str:
    import json

    return json.loads(row[3])["at"]


def test_a_query_added_to_an_empty_zone_knows_what_time_it_is(spark, tmp_path) -> None:
    zones = 7
    folder = write_files(tmp_path / "in", files=2, each=150, seed=19)
    inputs = {"weather": [str(folder)]}
    first = compile_text(STREAM + FROST, zones=zones)
    names = [f"later{n}" for n in range(40)]
    added = next(n for n in names if _zone_of(n, zones) != first.zone_of("frost"))
    late = STREAM + FROST + f"CREATE QUERY {added} AS SELECT station, at FROM weather;"
    followed(spark, STREAM + FROST, inputs, tmp_path / "c", zones=zones, once=True)
    seen_before = max(r["at"] for i in range(2) for r in readings(150, 19 + i, first=i * 150))
    behind = readings(150, 19, first=0)[:6]
    ahead = readings(150, 21, first=300)
    write_jsonl(folder / "zz.jsonl", [*behind, *ahead])
    rows_seen = followed(spark, late, inputs, tmp_path / "c", zones=zones, ends=True)
    answered = [json.loads(row[3])["at"] for row in rows_seen if row[0] == "answer" and row[1] == added]
    assert answered
    assert min(answered) > seen_before
    lost = [json.loads(row[3])["at"] for row in rows_seen if row[0] == "late"]
    assert sorted(lost) == sorted(row["at"] for row in behind)


def _zone_of(query: str, zones: int) -> int:
    return compile_text(
        STREAM + f"CREATE QUERY {query} AS SELECT station FROM weather;", zones=zones
    ).zone_of(query)


def test_a_restart_that_spells_the_folder_otherwise_reads_nothing_twice(spark, tmp_path, monkeypatch) -> None:
    folder = write_files(tmp_path / "in", files=2, each=100, seed=23)
    first = followed(spark, STREAM + COLD, {"weather": [str(folder)]}, tmp_path / "c", once=True)
    monkeypatch.chdir(tmp_path)
    second = followed(spark, STREAM + COLD, {"weather": ["./in"]}, tmp_path / "c", ends=True)
    whole = followed(spark, STREAM + COLD, {"weather": [str(folder)]}, tmp_path / "d", ends=True)
    assert sorted(first + second) == whole


def test_a_stream_may_be_called_anything(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=50, seed=23)
    text = (STREAM + COLD).replace("weather", '"../../we/ather"')
    rows_seen = followed(
        spark, text, {"../../we/ather": [str(folder)]}, tmp_path / "a" / "b" / "c", ends=True
    )
    assert rows_seen
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "in"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b"]


def test_late_rows_are_reported_and_lateness_goes_by_file(spark, tmp_path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    rows = readings(60, 1)
    write_jsonl(folder / "a.jsonl", rows[:40])
    late = {**rows[0], "station": "late"}
    just = {**rows[39], "station": "just"}
    write_jsonl(folder / "b.jsonl", [late, just, *rows[40:]])
    runs = [
        followed(
            spark,
            STREAM + FROST,
            {"weather": [str(folder)]},
            tmp_path / f"c{n}",
            files_per_batch=n,
            ends=True,
        )
        for n in (1, 2)
    ]
    assert runs[0] == runs[1]
    stations = [json.loads(row[3])["station"] for row in runs[0] if row[0] == "late"]
    assert "late" in stations
    assert "just" not in stations


def test_bad_rows_reach_the_table_with_file_line_and_reason(spark, tmp_path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    good = readings(10, 2)
    text = "".join(json.dumps(row) + "\n" for row in good[:5])
    (folder / "a.jsonl").write_text(text + "{not json\n" + '{"station":"s","at":"soon"}\n')
    rows_seen = followed(spark, STREAM + FROST, {"weather": [str(folder)]}, tmp_path / "c", ends=True)
    bad = [row[3] for row in rows_seen if row[0] == "bad"]
    named = [json.loads(body) for body in bad]
    assert [(row["line"], row["reason"].partition(":")[0]) for row in named] == [
        (6, "bad-json"),
        (7, "bad-time"),
    ]
    assert [Path(row["file"]).name for row in named] == ["a.jsonl", "a.jsonl"]
    assert [
        row[3] for row in bounded(spark, STREAM + FROST, {"weather": [str(folder)]}) if row[0] == "bad"
    ] == bad


def test_two_inputs_of_one_stream_wait_for_each_other(spark, tmp_path) -> None:
    whole = write_files(tmp_path / "whole", files=4, each=100, seed=13)
    north, south = tmp_path / "north", tmp_path / "south"
    north.mkdir()
    south.mkdir()
    for number in range(4):
        rows = readings(100, 13 + number, first=number * 100)
        write_jsonl(north / f"{number}.jsonl", rows[::2])
        write_jsonl(south / f"{number}.jsonl", rows[1::2])
    apart = followed(spark, EVERYTHING, {"weather": [str(north), str(south)]}, tmp_path / "a", ends=True)
    together = followed(spark, EVERYTHING, {"weather": [str(whole)]}, tmp_path / "b", ends=True)
    assert [row for row in apart if row[0] == "answer"] == [row for row in together if row[0] == "answer"]


def test_a_checkpoint_for_other_streams_is_refused_with_advice(spark, tmp_path) -> None:
    plan = compile_text(STREAM + FROST, zones=4)
    hold(tmp_path / "c", plan).release()
    other = compile_text((STREAM + FROST).replace("humidity DOUBLE", "humidity BIGINT"), zones=4)
    with pytest.raises(HostError) as refused:
        hold(tmp_path / "c", other)
    assert refused.value.code == "checkpoint-other-streams"
    assert any("--checkpoint" in line for line in refused.value.advice)


def test_a_checkpoint_of_another_format_or_in_use_is_refused(tmp_path) -> None:
    plan = compile_text(STREAM + FROST, zones=4)
    held = hold(tmp_path / "c", plan)
    with pytest.raises(HostError) as in_use:
        hold(tmp_path / "c", plan)
    assert in_use.value.code == "checkpoint-in-use"
    held.release()
    notes = tmp_path / "c" / "headwater" / "run.json"
    notes.write_text(notes.read_text().replace(f'"format": {FORMAT}', '"format": 99'))
    with pytest.raises(HostError) as unreadable:
        hold(tmp_path / "c", plan)
    assert unreadable.value.code == "state-unreadable"
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "offsets").mkdir()
    with pytest.raises(HostError) as foreign:
        hold(tmp_path / "d", plan)
    assert foreign.value.code == "checkpoint-foreign"


def test_an_input_that_falls_silent_is_left_behind_by_the_clock_alone(spark, tmp_path) -> None:
    text = (
        "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE) IDLE 2 SECONDS;"
        "CREATE QUERY all_rows AS SELECT station, at FROM weather;"
    )
    for name, step in (("north", 20), ("south", 2)):
        rows = [
            {
                "station": name,
                "at": f"2026-01-15T00:{n * step // 60:02d}:{n * step % 60:02d}Z",
                "temperature": n,
            }
            for n in range(6)
        ]
        (tmp_path / name).mkdir()
        write_jsonl(tmp_path / name / "0.jsonl", rows)
    heard: list[tuple[int, str]] = []
    enough = Event()

    def each(zones: Sequence[ZoneReport], batch: int) -> None:
        bodies = [json.loads(body) for body in table_of(zones)["body"].to_pylist() if body]
        heard.extend((batch, f"{body['station']} {body['at'][14:19]}") for body in bodies)
        if any(said == "north 01:20" for _, said in heard):
            enough.set()

    plan = compile_text(text, zones=2)
    with hold(tmp_path / "checkpoint", plan) as held:
        inputs = {"weather": [str(tmp_path / "north"), str(tmp_path / "south")]}
        query = run_streaming(spark, plan, inputs, each, checkpoint=held)
        try:
            assert enough.wait(60), f"only {heard}"
        finally:
            query.stop()
    first = {said for batch, said in heard if batch == 0}
    assert {"north 00:00", "south 00:08"} <= first
    assert not first & {"north 00:20", "north 00:40", "north 01:00", "north 01:20"}
    assert {"north 00:20", "north 00:40", "north 01:00"} <= {said for batch, said in heard if batch > 0}
