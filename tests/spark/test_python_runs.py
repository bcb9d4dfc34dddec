"""Python on Spark: any input beside any other, everything computed once, and sessions that have what is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import headwater as hw
from headwater.hosts.api.sessions import refuse_connect
from headwater.hosts.spark import session as sessions
from headwater.model import HostError

TEXT = """
CREATE STREAM one (id STRING KEY, at TIMESTAMP TIME, x DOUBLE);
CREATE QUERY high AS SELECT id, at, x FROM one WHERE x > 0;
CREATE STREAM two (id STRING KEY, at TIMESTAMP TIME, x DOUBLE);
CREATE STREAM three (id STRING KEY, at TIMESTAMP TIME, x DOUBLE);
CREATE QUERY of_two AS SELECT id, x FROM two WHERE x > 2;
CREATE QUERY of_three AS SELECT id, x FROM three WHERE x > 1;
"""
ONE = TEXT.partition("CREATE STREAM two")[0]
ROWS = pd.DataFrame(
    {
        "id": ["a", "b", "c", None],
        "at": pd.to_datetime(["2026-01-01T00:00:02", "2026-01-01T00:00:01", None, "2026-01-01T00:00:03"]),
        "x": [1.5, 2.5, 3.5, None],
    }
)


def streamed(spark: Any, folder: Path) -> Any:
    folder.mkdir(exist_ok=True)
    return spark.readStream.schema("id string, at timestamp, x double").json(str(folder))


def test_frames_tables_and_files_go_together_and_are_those_of_the_local_engine(spark, tmp_path) -> None:
    ROWS.to_csv(tmp_path / "three.csv", index=False)
    here = hw.run(TEXT, {"one": ROWS, "two": ROWS, "three": tmp_path / "three.csv"}, engine="local")
    frame = spark.createDataFrame(pa.Table.from_pandas(ROWS))
    inputs = {"one": frame, "two": pa.table(ROWS), "three": tmp_path / "three.csv"}
    with hw.run(TEXT, inputs) as answers:
        assert answers.engine == "spark"
        for query in answers:
            assert answers[query].to_arrow() == here[query].to_arrow()
            assert answers[query].to_pandas().equals(here[query].to_pandas())
        assert {query: [row.id for row in answers[query]] for query in answers} == {
            "high": ["b", "a"],
            "of_two": ["b"],
            "of_three": ["b", "a"],
        }
        assert [(row.stream, row.file, row.line) for row in answers.bad] == [
            ("one", None, None),
            ("three", str(tmp_path / "three.csv"), 4),
            ("two", None, 3),
        ]
        assert {row.name: row.amount for row in answers.counts} == {
            row.name: row.amount for row in here.counts
        }
        assert repr(answers).splitlines()[:3] == [
            "answers of Spark",
            "read      12 rows in 1 file",
            "answers   5: high 2, of_three 2, of_two 1",
        ]
        assert repr(answers["high"]).splitlines()[1:] == repr(here["high"]).splitlines()[1:]
        assert "held by Spark" in " ".join(repr(answers).split())


def test_everything_is_computed_once_until_it_is_released(spark, tmp_path) -> None:
    reads = tmp_path / "reads"
    reads.mkdir()

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import uuid

        (reads / uuid.uuid4().hex).touch()
        yield from batches

    source = spark.createDataFrame(pa.Table.from_pandas(ROWS)).coalesce(1)
    frame = source.mapInArrow(counted, source.schema)
    text = ONE
    answers = hw.run(text, {"one": frame})
    assert list(reads.iterdir()) == [], "nothing is read before something is asked for"
    assert len(answers["high"]) == 2
    assert len(list(reads.iterdir())) == 1
    assert (len(answers.late), len(answers.bad), answers["high"].df.count()) == (0, 1, 2)
    assert [row.id for row in answers["high"]] == ["b", "a"]
    assert "high 2" in repr(answers)
    assert len(list(reads.iterdir())) == 1, "what was asked for next is a look at what is there"
    answers.release()
    assert len(answers["high"]) == 2
    assert len(list(reads.iterdir())) == 2
    answers.release()


def test_streaming_answers_have_no_rows_and_say_how_to_get_some(spark, tmp_path) -> None:
    text = ONE
    answers = hw.run(text, {"one": streamed(spark, tmp_path / "in")})
    for take in (
        lambda: len(answers["high"]),
        answers.bad.to_arrow,
        answers.summary,
        lambda: list(answers.all()),
    ):
        with pytest.raises(HostError) as refused:
            take()
        assert refused.value.code == "streaming-answers"
    for picture in (
        repr(answers),
        repr(answers["high"]),
        answers._repr_html_(),
        answers["high"]._repr_html_(),
    ):
        assert "no rows yet; write them: answers.write(" in picture
    assert answers["high"].df.isStreaming


def test_streams_do_not_mix_with_files_and_tables(spark, tmp_path) -> None:
    ROWS.to_csv(tmp_path / "two.csv", index=False)
    for other in (ROWS, tmp_path / "two.csv"):
        with pytest.raises(hw.HeadwaterError) as refused:
            hw.run(TEXT, {"one": streamed(spark, tmp_path / "in"), "two": other, "three": other})
        assert refused.value.code == "mixed-inputs"
    with pytest.raises(hw.HeadwaterError) as local:
        hw.run(TEXT, {"one": streamed(spark, tmp_path / "in"), "two": ROWS, "three": ROWS}, engine="local")
    assert (local.value.code, local.value.message) == (
        "wrong-engine",
        "the input 'one' is a stream of Spark's: the local engine takes only inputs that are complete",
    )


def test_a_session_without_the_state_store_is_refused_in_one_sentence(spark, tmp_path) -> None:
    other = spark.newSession()
    other.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    )
    text = ONE
    answers = hw.run(text, {"one": streamed(other, tmp_path / "in")})
    with pytest.raises(HostError) as refused:
        _ = answers["high"].df
    assert (refused.value.code, refused.value.message) == (
        "no-rocksdb",
        "streams need the RocksDB state store, which this session does not use",
    )
    assert refused.value.advice[0].startswith("set it: spark.conf.set(")
    exec(refused.value.advice[0].removeprefix("set it: "), {"spark": other})
    assert answers["high"].df.isStreaming


def test_a_session_of_spark_connect_or_one_that_ended_is_refused(spark) -> None:
    connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    ended = spark.newSession()
    ended._sc = type("Context", (), {"_jsc": None})()
    for given, words in (
        (connect, "the session is one of Spark Connect, in which the queries of Headwater cannot run"),
        (ended, "the session has been stopped"),
    ):
        with pytest.raises(HostError) as refused:
            refuse_connect(given)
        assert (refused.value.code, refused.value.message) == ("wrong-session", words)


def test_a_session_is_there_once_and_its_settings_do_not_change(spark) -> None:
    assert hw.session() is spark
    assert hw.session(cores=2, memory="2g") is spark
    with pytest.raises(HostError) as refused:
        hw.session(memory="9g", **{"spark.ui.enabled": True})
    assert (refused.value.code, refused.value.message) == (
        "wrong-session",
        "a session is running with another spark.driver.memory and another spark.ui.enabled",
    )


def test_a_session_of_somebody_else_is_taken_if_it_can_do_what_is_needed(spark, monkeypatch) -> None:
    monkeypatch.setattr(sessions, "_running", [])
    assert hw.session().sparkContext is spark.sparkContext
    with pytest.raises(HostError, match=r"another spark\.master"):
        hw.session(cores=64)
    before = spark.conf.get("spark.sql.streaming.stateStore.providerClass")
    try:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", "another")
        with pytest.raises(HostError, match="streams need the RocksDB state store"):
            hw.session()
    finally:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", before)


class Builder:
    """What a builder of PySpark does with settings."""

    def __init__(self, **options: str) -> None:
        self._options = {name.replace("_", "."): value for name, value in options.items()}

    def config(self, name: str, value: str) -> Builder:
        self._options[name] = value
        return self


def test_a_builder_gets_what_is_needed_and_keeps_what_it_has(monkeypatch) -> None:
    for name in ("JAVA_HOME", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    built = hw.configure(Builder(**{"spark.sql.session.timeZone": "Europe/Zurich"}))
    assert built._options["spark.sql.session.timeZone"] == "Europe/Zurich"
    assert built._options["spark.sql.streaming.stateStore.providerClass"].endswith(
        "RocksDBStateStoreProvider"
    )
    assert built._options["spark.python.daemon.module"] == "headwater.hosts.spark.worker_daemon"
    assert Path(os.environ["JAVA_HOME"], "bin", "java").exists()
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    monkeypatch.delenv("PYSPARK_PYTHON")
    hw.configure(Builder(spark_master="yarn"))
    assert "PYSPARK_PYTHON" not in os.environ, "on a cluster another Python may be the right one"
    for name in ("JAVA_HOME", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)


PROGRAM = """
import pandas as pd
import headwater as hw

text = "CREATE STREAM s (at TIMESTAMP TIME, x DOUBLE); CREATE QUERY q AS SELECT x FROM s WHERE x > 0;"
rows = pd.DataFrame({"at": [1, 2], "x": [1.0, -1.0]})
with hw.run(text, {"s": rows}, engine="spark") as answers:
    print(answers["q"].df.count(), [row.x for row in answers["q"]])
spark = hw.session()
spark.stop()
again = hw.session(cores=1)
print(again is spark, again.range(3).count(), again.conf.get("spark.master"))
"""


def test_spark_starts_by_itself_without_java_on_the_path_and_starts_again_after_a_stop(tmp_path) -> None:
    names = ("bash", "chmod", "mv", "nice", "rm", "sh")
    for name in names:
        found = next(path for path in (Path("/bin", name), Path("/usr/bin", name)) if path.exists())
        (tmp_path / name).symlink_to(found)
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=kept | {"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("1 [1.0]\nFalse 3 local[1]\n", "", 0)
