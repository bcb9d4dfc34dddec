"""NEAREST on Spark: points spread over all zones, points that change between two starts, points of DataFrames."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headwater as hw
from headwater.hosts.declared_sets import sets_from_files, sets_from_tables
from headwater.hosts.files import json_lines
from headwater.hosts.local import run_local
from headwater.hosts.spark.checkpoint import hold, parts_in, parts_of
from headwater.hosts.spark.declared_sets import collected_set
from headwater.hosts.spark.file_runs import run_batch, run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import ZoneReport, table_of
from headwater.model import DataError, HostError, LimitReached
from headwater.query.planning.plan import Plan, compile_text
from tests.spark.valley import write_jsonl

STREAM = """
CREATE STREAM panels (panel STRING KEY, at TIMESTAMP TIME, solar DOUBLE, volts DOUBLE) LATE 2 SECONDS;
CREATE POINTS profiles (id STRING KEY, solar DOUBLE, volts DOUBLE);
"""
ENTERS = "CREATE QUERY q AS SELECT * FROM panels NEAREST (2 TO EACH OF profiles BY (solar, volts) OVER 60 SECONDS);"
CHANGES = """
CREATE QUERY c AS SELECT * FROM panels NEAREST (1 TO EACH OF profiles BY (solar, volts) OVER 20 ROWS EMIT CHANGES);
CREATE QUERY near AS SELECT point, key FROM c WHERE distance < 0.05;
CREATE QUERY top AS SELECT * FROM panels NEAREST (2 TO HIGHEST solar OVER 30 SECONDS PER panel EMIT EVERY 10 SECONDS);
"""
ZONES = 4


def panels(count: int, seed: int, *, first: int = 0) -> list[dict[str, object]]:
    """A row every two seconds."""
    draw = np.random.default_rng(seed)
    rows = []
    for n in range(first, first + count):
        at = pd.Timestamp("2026-01-15T00:00:00Z") + pd.Timedelta(seconds=2 * n)
        solar, volts = (round(float(value), 3) for value in draw.random(2))
        rows.append({"panel": f"p{n % 9}", "at": at.isoformat(), "solar": solar, "volts": volts})
    return rows


def profiles(count: int, seed: int = 5) -> dict[str, tuple[float, float]]:
    draw = np.random.default_rng(seed)
    return {f"q{n}": tuple(np.round(draw.random(2), 4).tolist()) for n in range(count)}  # type: ignore[misc]


def with_points(text: str, points: Mapping[str, tuple[float, float]], **how: Any) -> Plan:
    plan = compile_text(text, zones=how.pop("zones", ZONES))
    return plan.with_sets(sets_from_tables(plan, {"profiles": pa.table(frame(points))}).rows, **how)


def frame(points: Mapping[str, tuple[float, float]]) -> dict[str, list[Any]]:
    return {
        "id": list(points),
        "solar": [solar for solar, _ in points.values()],
        "volts": [volts for _, volts in points.values()],
    }


def followed(spark, plan: Plan, folder: Path, checkpoint: Path, **how: Any) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = []

    def each(zones: Sequence[ZoneReport], _: int) -> None:
        outputs.extend(answers_of(table_of(zones)))

    with hold(checkpoint, plan) as held:
        query = run_streaming(
            spark,
            plan,
            {"panels": [str(folder)]},
            each,
            checkpoint=held,
            options=StreamingOptions(files_per_batch=1, **how),
        )
        query.awaitTermination()
        assert query.exception() is None
    return in_order(outputs)


def answers_of(table: pa.Table) -> list[dict[str, Any]]:
    return [
        json.loads(body)
        for kind, body in zip(table["kind"].to_pylist(), table["body"].to_pylist(), strict=True)
        if kind == "answer"
    ]


def on_local(text: str, points: Mapping[str, tuple[float, float]], folder: Path) -> list[dict[str, Any]]:
    plan = with_points(text, points, zones=1)
    return in_order(
        json.loads(line)
        for outputs in run_local(plan, {"panels": [str(folder)]})
        for rows in outputs.answers
        for line in json_lines(rows).to_pylist()
    )


def in_order(answers: Any) -> list[dict[str, Any]]:
    return sorted(answers, key=lambda answer: (answer["query"], answer["match_id"]))


def test_points_spread_over_all_zones_say_what_one_loop_says(spark, tmp_path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for n in range(3):
        write_jsonl(folder / f"{n}.jsonl", panels(40, n, first=40 * n))
    text, points = STREAM + ENTERS + CHANGES, profiles(3000)
    plan = with_points(text, points)
    assert parts_in(plan) == {"q": ZONES, "c": ZONES}
    for zone in range(ZONES):
        (group,) = [group for group in plan.groups(zone) if group.name == "nearest:panels"]
        point_counts = {query.name: len(query.points) for query in group.kernel.queries}  # type: ignore[attr-defined]
        assert 0 < point_counts["q"] == point_counts["c"] < 3000
    expected = on_local(text, points, folder)
    batch = in_order(
        answer
        for table in run_batch(spark, plan, {"panels": [str(folder)]})
        for answer in answers_of(pa.Table.from_batches([table]))
    )
    stream = followed(spark, plan, folder, tmp_path / "c", ends=True)
    assert {answer["query"] for answer in expected} == {"q", "c", "near", "top"}
    assert len(expected) > 20_000
    assert batch == expected
    assert stream == expected


@pytest.mark.parametrize("many", [False, True])
def test_points_that_stay_go_on_and_new_ones_see_what_comes(spark, tmp_path, many: bool) -> None:
    """Also when there are more of them than before, enough to be spread: they stay where their state is."""
    folder, later = tmp_path / "in", tmp_path / "later"
    folder.mkdir()
    later.mkdir()
    text = STREAM + ENTERS
    remaining, gone, new = profiles(6, 1), {"gone": (0.5, 0.5), "moved": (0.1, 0.1)}, {"moved": (0.9, 0.9)}
    new |= {f"n{n}": place for n, place in enumerate(profiles(1100 if many else 3, 2).values())}
    write_jsonl(folder / "0.jsonl", panels(60, 1))
    first = followed(spark, with_points(text, remaining | gone), folder, tmp_path / "c", once=True)
    assert parts_of(tmp_path / "c") == {"q": 1}
    for place in (folder, later):
        write_jsonl(place / "1.jsonl", panels(60, 2, first=60))
    plan = with_points(text, new | remaining, parts=parts_of(tmp_path / "c"))
    assert parts_in(plan) == {"q": 1}
    second = followed(spark, plan, folder, tmp_path / "c", ends=True)

    undisturbed = on_local(text, remaining, folder)
    assert in_order(answer for answer in first + second if answer["point"] in remaining) == undisturbed
    border = max(answer["event_time"] for answer in first)
    across = [answer for answer in second if answer["point"] in remaining and answer["object_time"] < border]
    assert across, "some objects from before the change become answers after it"
    assert in_order(a for a in second if a["point"] in new) == on_local(text, new, later)
    assert {answer["point"] for answer in second} == set(remaining) | set(new)


class TestDataFrames:
    def test_points_may_be_a_frame_of_sparks_or_of_pandas(self, spark, tmp_path) -> None:
        write_jsonl(tmp_path / "0.jsonl", panels(30, 3))
        rows = spark.createDataFrame(
            pd.DataFrame(panels(30, 3)).assign(at=lambda df: pd.to_datetime(df["at"]))
        )
        points = profiles(5)
        bad = {**frame(points)}
        bad = {"id": [*bad["id"], "q1", None, "x"], "solar": [*bad["solar"], 1, 1, 1]} | {
            "volts": [*bad["volts"], 1.0, 1.0, float("nan")]
        }
        expected = on_local(STREAM + ENTERS, points, tmp_path)
        for given in (pd.DataFrame(bad), spark.createDataFrame(pd.DataFrame(bad))):
            answers = hw.run(STREAM + ENTERS, {"panels": rows, "profiles": given}, zones=ZONES)
            outputs = in_order(json.loads(row.answer) for row in answers.all().df.collect())
            assert outputs == expected
            reasons = {row.reason.partition(":")[0] for row in answers.bad.df.collect()}
            assert reasons in (
                {"repeated-id", "missing-id", "missing-value"},
                {"repeated-id", "missing-id", "not-finite"},
            )

    def test_a_stream_begins_with_good_points_only_and_goes_on_with_others(self, spark, tmp_path) -> None:
        folder = tmp_path / "in"
        folder.mkdir()
        write_jsonl(folder / "0.jsonl", panels(60, 1))
        columns = "panel string, at timestamp, solar double, volts double"
        stream = spark.readStream.schema(columns).json(str(folder))
        bad = pd.DataFrame({"id": ["a", "a"], "solar": [1.0, 2.0], "volts": [1.0, 2.0]})
        with pytest.raises(DataError, match="1 row of 'profiles' cannot be used") as refused:
            hw.run(STREAM + ENTERS, {"panels": stream, "profiles": bad})
        assert refused.value.code == "bad-points"
        assert (
            refused.value.advice[0] == "row 2 of 'profiles': repeated-id: 'a' is the id of an earlier point"
        )

        def go_on(points: Mapping[str, tuple[float, float]]) -> None:
            given = {"panels": stream, "profiles": pd.DataFrame(frame(points))}
            query = hw.run(STREAM + ENTERS, given, zones=ZONES).write(
                tmp_path / "out", checkpoint=tmp_path / "c", trigger={"availableNow": True}
            )
            assert query is not None
            query.awaitTermination()

        remaining = profiles(3, 1)
        go_on(remaining)
        write_jsonl(folder / "1.jsonl", panels(60, 2, first=60))
        go_on(remaining | {f"n{name}": place for name, place in profiles(1100, 2).items()})
        assert parts_of(tmp_path / "c") == {"q": 1}
        outputs = [
            json.loads(line)
            for file in (tmp_path / "out").glob("*.jsonl")
            for line in file.read_text().splitlines()
        ]
        whole = on_local(STREAM + ENTERS, remaining, folder)
        border = max(answer["event_time"] for answer in outputs)
        assert in_order(a for a in outputs if a["point"] in remaining) == [
            answer for answer in whole if answer["event_time"] <= border
        ]

    def test_what_is_not_a_table_of_points_is_refused(self, spark, tmp_path) -> None:
        stream = spark.readStream.schema("id string, solar double, volts double").json(str(tmp_path))
        mixed = pd.DataFrame({"id": ["a", "b"], "solar": [1.0, "x"], "volts": [1, 2]})
        readings = spark.createDataFrame(
            pd.DataFrame(panels(3, 1)).assign(at=lambda df: pd.to_datetime(df["at"]))
        )
        for given, words, code in (
            (stream, "are a stream, but points must be a table", "points-table"),
            (mixed, "cannot be read: its values are float, str", "column-type"),
            (pd.DataFrame({"id": ["a"], "solar": [1.0]}), "no column 'volts'", "points-table"),
            ([1, 2], "is a list with an int: a list may only have paths", "wrong-input"),
        ):
            with pytest.raises(DataError, match=words) as refused:
                hw.run(STREAM + ENTERS, {"panels": readings, "profiles": given})
            assert refused.value.code == code

    def test_no_more_points_are_collected_than_there_is_room_for(self, spark) -> None:
        plan = compile_text(STREAM + ENTERS)
        many = spark.range(10_000_000).selectExpr("string(id) id", "rand() solar", "rand() volts")
        with pytest.raises(LimitReached, match="standing queries"):
            few = collected_set(plan, plan.points[0], many, memory=1_000_000)
            sets_from_tables(plan, {"profiles": few}, memory=1_000_000)

    def test_a_loss_is_measured(self, spark, tmp_path) -> None:
        write_jsonl(tmp_path / "0.jsonl", panels(200, 3))
        text = STREAM + ENTERS.replace("60 SECONDS", "60 SECONDS USING PROBABLE 0.3")
        rows = spark.read.schema("panel string, at timestamp, solar double, volts double").json(str(tmp_path))
        given = {"panels": rows, "profiles": pd.DataFrame(frame(profiles(20)))}
        counts = {row.name: row.amount for row in hw.run(text, given, audit=1.0).counts.df.collect()}
        assert counts["audited:q"] > counts.get("missed:q", 0)
        with pytest.raises(DataError, match="no query is USING PROBABLE"):
            hw.run(STREAM + ENTERS, given, audit=0.5)
        with pytest.raises(DataError, match="not 2"):
            hw.run(text, given, audit=2)

    def test_points_from_files_and_tables_are_the_same(self, tmp_path) -> None:
        plan, points = compile_text(STREAM + ENTERS), profiles(10)
        (tmp_path / "p.jsonl").write_text(
            "".join(f"{json.dumps(row)}\n" for row in pd.DataFrame(frame(points)).to_dict("records"))
        )
        of_files = sets_from_files(plan, {"profiles": [str(tmp_path / "p.jsonl")]}).rows["profiles"]
        of_frame = sets_from_tables(plan, {"profiles": pa.table(frame(points))}).rows["profiles"]
        assert {n: c.tolist() for n, c in of_files.columns.items()} == {
            n: c.tolist() for n, c in of_frame.columns.items()
        }


class TestCheckpoint:
    def test_it_remembers_over_how_many_zones_points_lie(self, tmp_path) -> None:
        for count, parts in ((3, 1), (1100, ZONES)):
            folder = tmp_path / str(count)
            hold(folder, with_points(STREAM + ENTERS + CHANGES, profiles(count))).release()
            assert parts_of(folder) == {"q": parts, "c": parts}
        plain = compile_text(
            "CREATE STREAM s (at TIMESTAMP TIME, a DOUBLE); CREATE QUERY q AS SELECT * FROM s;"
        )
        hold(tmp_path / "plain", plain).release()
        assert parts_of(tmp_path / "plain") == parts_of(tmp_path / "nowhere") == {}

    @pytest.mark.parametrize("parts", ["7", '{"q": 3}', '{"q": "1"}', '{"q": true}', "[1]", "null"])
    def test_notes_about_parts_that_make_no_sense_are_damage(self, tmp_path, parts: str) -> None:
        hold(tmp_path / "c", with_points(STREAM + ENTERS, profiles(3))).release()
        notes = tmp_path / "c" / "headwater" / "run.json"
        noted = json.loads(notes.read_text())
        notes.write_text(json.dumps({**noted, "parts": json.loads(parts)}))
        with pytest.raises(HostError, match="its notes are damaged"):
            parts_of(tmp_path / "c")
