"""The Python way in, with a session the user already has."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import functions as F

import headwater as hw
from headwater.hosts.spark.interpreter import our_python
from headwater.model import QueriesRefused
from tests.spark.valley import (
    COLD_AGAIN,
    FROST,
    MUGGY,
    STREAM,
    read_answers,
    readings,
    write_files,
    write_jsonl,
)

TEXT = STREAM + FROST + MUGGY + COLD_AGAIN
COLUMNS = "station string, at timestamp, x double, y double, temperature double, humidity double, wind double"


def frame(spark, folder):
    return spark.read.schema(COLUMNS).json(str(folder))


def test_static_frames_give_typed_answers(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=2, each=200, seed=3)
    answers = hw.run(TEXT, {"weather": frame(spark, folder)})
    frost = answers["frost"].df
    assert [f"{field.name} {field.dataType.simpleString()}" for field in frost.schema.fields] == [
        "query string",
        "event_time timestamp",
        "match_id string",
        "temperature double",
        "temperature_key string",
        "temperature_time timestamp",
        "humidity double",
        "humidity_key string",
        "humidity_time timestamp",
        "wind double",
        "wind_key string",
        "wind_time timestamp",
    ]
    rows = frost.collect()
    assert rows
    assert all(-5 <= row.temperature <= 0 and row.humidity >= 80 and row.wind <= 2 for row in rows)
    cold = answers["cold"].df.orderBy("event_time", "station").collect()
    expected = sorted(
        (row["at"], row["station"], row["temperature"])
        for i in range(2)
        for row in readings(200, 3 + i, first=i * 200)
        if row["temperature"] is not None and row["temperature"] < -8
    )
    assert [(row.at.strftime("%Y-%m-%dT%H:%M:%SZ"), row.station, row.temperature) for row in cold] == expected
    assert len(answers.late) == 0
    assert answers.all().df.where(F.col("query") == "frost").count() == len(rows)


def test_streaming_frames_write_everything_with_one_query(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=4, each=150, seed=3)
    stream = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(folder))
    answers = hw.run(TEXT, {"weather": stream})
    query = answers.write(
        tmp_path / "out",
        checkpoint=tmp_path / "c",
        late=tmp_path / "late",
        bad=tmp_path / "bad",
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    written = {(row["query"], row["match_id"]) for row in read_answers(tmp_path / "out")}
    static = hw.run(TEXT, {"weather": frame(spark, folder)}).all().df.collect()
    everything = {(row.query, row.match_id) for row in static}
    assert written
    assert written <= everything
    last = max(row.event_time for row in static)
    early = {(row.query, row.match_id) for row in static if (last - row.event_time).total_seconds() > 120}
    assert early <= written


def test_a_function_gets_each_batch_once_with_typed_answers(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=2, each=150, seed=3)
    stream = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(folder))
    got: dict[int, int] = {}

    def each(batch: hw.Answers, number: int) -> None:
        got[number] = len(batch["frost"]) + len(batch["cold"])

    hw.run(TEXT, {"weather": stream}).write(
        each, checkpoint=tmp_path / "c", trigger={"availableNow": True}
    ).awaitTermination()
    assert sorted(got) == [0, 1]
    assert got[1] > 0


def test_bad_rows_of_a_frame_are_reported_and_harm_nobody(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=100, seed=3)
    good = frame(spark, folder)
    broken = (
        good.limit(1)
        .withColumn("temperature", F.lit(float("nan")))
        .union(good.limit(1).withColumn("at", F.lit(None).cast("timestamp")))
    )
    answers = hw.run(TEXT, {"weather": good.union(broken)})
    bad = sorted(row.reason for row in answers.bad.df.collect())
    assert bad == [
        "missing-time: the row has no time",
        "not-finite: column 'temperature' is not a finite number",
    ]
    clean = hw.run(TEXT, {"weather": good})
    assert sorted(r.match_id for r in answers.all().df.collect()) == sorted(
        r.match_id for r in clean.all().df.collect()
    )


UPDATES = """
CREATE STREAM updates (id STRING KEY, at TIMESTAMP TIME, v DOUBLE, v_slope DOUBLE, tolerance DOUBLE, heartbeat DOUBLE);
CREATE QUERY low AS SELECT key, update_time FROM updates WHERE UPPER(id) <> 'X' PREDICT (v < 10);
"""


@pytest.mark.parametrize("streaming", [False, True])
def test_updates_of_a_frame_that_cannot_be_are_bad(spark, tmp_path, streaming: bool) -> None:
    """Not those that a WHERE leaves out, although Spark has no words for it."""
    (tmp_path / "in").mkdir()
    lines = [("a", 0, 5.0), ("a", -0.5, 5.0), ("b", 0, 0.0), ("x", -1, 0.0), ("c", 0, 4.0)]
    write_jsonl(
        tmp_path / "in" / "0.jsonl",
        [
            {
                "id": id,
                "at": f"2026-01-01T00:00:0{n}Z",
                "v": 1,
                "v_slope": 0,
                "tolerance": off,
                "heartbeat": life,
            }
            for n, (id, off, life) in enumerate(lines)
        ],
    )
    columns = "id string, at timestamp, v double, v_slope double, tolerance double, heartbeat double"
    read = (spark.readStream if streaming else spark.read).schema(columns)
    answers = hw.run(UPDATES, {"updates": read.json(str(tmp_path / "in"))})
    if streaming:
        answers.write(
            tmp_path / "out", checkpoint=tmp_path / "c", bad=tmp_path / "bad", trigger={"availableNow": True}
        ).awaitTermination()
        bad = [json.loads(line) for file in (tmp_path / "bad").glob("*.jsonl") for line in file.open()]
    else:
        assert sorted(row.key for row in answers["low"].df.collect()) == ["a", "c"]
        bad = [row.asDict() for row in answers.bad.df.collect()]
    assert sorted(row["reason"] for row in bad) == [
        "bad-heartbeat: 0.0 is not above 0 (column 'heartbeat')",
        "bad-tolerance: -0.5 is below 0 (column 'tolerance')",
    ]
    assert {json.loads(row["text"])["tolerance"] for row in bad} == {-0.5, 0.0}


def test_builders_run_like_text(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=200, seed=3)
    from headwater.query.language.parse import parse

    script, errors = parse(TEXT)
    assert not errors
    text = hw.run(TEXT, {"weather": frame(spark, folder)}).all().df.collect()
    built = hw.run(script, {"weather": frame(spark, folder)}).all().df.collect()
    assert sorted(r.match_id for r in text) == sorted(r.match_id for r in built)
    assert {json.loads(r.answer)["query"] for r in text} == {"frost", "muggy", "cold", "still", "each"}


@pytest.mark.parametrize("streaming", [False, True], ids=["static", "streaming"])
def test_stages_run_on_the_python_that_calls_them(spark, tmp_path, monkeypatch, streaming: bool) -> None:
    """A session whose own Python has no Headwater, as where an environment was not activated: here it is not even there."""
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(tmp_path / "python3"))
    folder = write_files(tmp_path / "in", files=1, each=60, seed=3)
    read = spark.readStream if streaming else spark.read
    answers = hw.run(TEXT, {"weather": read.schema(COLUMNS).json(str(folder))})
    query = answers.write(tmp_path / "out", checkpoint=tmp_path / "c", trigger={"availableNow": True})
    if query is not None:
        query.awaitTermination()
    assert read_answers(tmp_path / "out")
    assert spark.sparkContext.pythonExec == str(tmp_path / "python3"), "other functions run where they did"


@pytest.mark.parametrize(
    ("master", "ours"), [("local", True), ("local[2, 3]", True), ("yarn", False), ("spark://a:7077", False)]
)
def test_on_a_cluster_the_python_of_the_session_stays(master: str, ours: bool) -> None:
    context = SimpleNamespace(master=master, pythonExec="python3")
    session: Any = SimpleNamespace(sparkContext=context)
    with our_python(session):
        assert context.pythonExec == (sys.executable if ours else "python3")
    assert context.pythonExec == "python3"


@pytest.mark.parametrize(
    ("inputs", "code"),
    [({}, "no-input"), ({"wether": None}, "unknown-stream")],
)
def test_mistakes_are_reported_before_anything_runs(spark, tmp_path, inputs, code) -> None:
    folder = write_files(tmp_path / "in", files=1, each=5, seed=3)
    given = {name: frame(spark, folder) for name in inputs}
    with pytest.raises(hw.HeadwaterError) as refused:
        hw.run(TEXT, given)
    assert refused.value.code == code


def test_a_frame_with_a_column_missing_or_of_another_type_is_refused(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=5, seed=3)
    with pytest.raises(hw.HeadwaterError) as missing:
        hw.run(TEXT, {"weather": frame(spark, folder).drop("wind")})
    assert missing.value.code == "missing-column"
    with pytest.raises(hw.HeadwaterError) as other:
        hw.run(TEXT, {"weather": frame(spark, folder).withColumn("wind", F.col("wind").cast("string"))})
    assert other.value.code == "column-type"


def test_streaming_and_static_frames_do_not_mix_and_a_query_must_be_there(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=5, seed=3)
    text = f"{STREAM}{STREAM.replace('weather', 'coast')}{FROST}{FROST.replace('frost', 'salt').replace('weather', 'coast')}"
    still, moving = frame(spark, folder), spark.readStream.schema(COLUMNS).json(str(folder))
    with pytest.raises(hw.HeadwaterError) as mixed:
        hw.run(text, {"weather": still, "coast": moving})
    assert mixed.value.code == "mixed-inputs"
    with pytest.raises(hw.HeadwaterError) as unknown:
        hw.run(text, {"weather": still, "coast": still})["forst"]
    assert unknown.value.code == "unknown-query"
    assert unknown.value.advice == ("known queries: frost, salt", "did you mean 'frost'?")


def test_the_time_zone_of_the_session_changes_nothing(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=2, each=150, seed=3)
    utc = {(r.match_id, r.event_us) for r in _event_times(hw.run(TEXT, {"weather": frame(spark, folder)}))}
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    elsewhere = hw.run(TEXT, {"weather": frame(session, folder)})
    assert {(r.match_id, r.event_us) for r in _event_times(elsewhere)} == utc
    stream = session.readStream.schema(COLUMNS).json(str(folder))
    seen: set = set()
    hw.run(TEXT, {"weather": stream}).write(
        lambda batch, _: seen.update((r.match_id, r.event_us) for r in _event_times(batch)),
        checkpoint=tmp_path / "c",
        trigger={"availableNow": True},
    ).awaitTermination()
    assert seen
    assert seen <= utc


def _event_times(answers: hw.Answers) -> list:
    return answers.all().df.select("match_id", F.unix_micros("event_time").alias("event_us")).collect()


def test_a_time_without_a_zone_is_utc(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=100, seed=3)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    lines = session.read.schema(COLUMNS.replace("at timestamp", "at string")).json(str(folder))
    naive = lines.withColumn("at", F.expr("cast(replace(at, 'Z', '') as timestamp_ntz)"))
    assert _event_times(hw.run(TEXT, {"weather": naive})) == _event_times(
        hw.run(TEXT, {"weather": frame(spark, folder)})
    )


def test_what_follow_keeps_is_bounded_and_reported(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=50, seed=3)
    text = STREAM + "CREATE QUERY near AS SELECT * FROM weather FOLLOW (weather RADIUS 1 KM LAST 2 DAYS);"
    given = {"weather": frame(spark, folder)}
    with pytest.raises(QueriesRefused) as refused:
        hw.run(text, given)
    assert [error.code for error in refused.value.errors] == ["history-too-long"]
    counts = {
        row.name: row.amount
        for row in hw.run(text, given, zones=3, most_history="2 DAYS").counts.df.collect()
    }
    assert counts["most_stored:weather"] == 50
    assert hw.run(text, given, most_history=timedelta(days=2)).queries == ("near",)


def test_a_checkpoint_is_held_while_the_query_runs(spark, tmp_path) -> None:
    folder = write_files(tmp_path / "in", files=1, each=50, seed=3)
    stream = spark.readStream.schema(COLUMNS).json(str(folder))
    answers = hw.run(STREAM + FROST, {"weather": stream})
    query = answers.write(tmp_path / "out", checkpoint=tmp_path / "c")
    with pytest.raises(hw.HeadwaterError) as refused:
        answers.write(tmp_path / "out", checkpoint=tmp_path / "c")
    assert refused.value.code == "checkpoint-in-use"
    query.stop()
