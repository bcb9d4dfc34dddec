"""A standalone cluster of Spark's on loopback: a master and workers of one core each, from the pip package."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.hosts.spark.java import find_java
from headwater.hosts.spark.java_process import spark_home
from tests.spark.kills import descendants

DRIVER = """
import sys
from pathlib import Path
from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.file_runs import run_streaming
from headwater.hosts.spark.session import start_spark, stop_spark
from headwater.hosts.spark.sink import FolderSink
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import table_of
from headwater.query.planning.plan import compile_text

master, folder, how = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
settings = {"spark.master": master, "spark.executor.memory": "600m", "spark.authenticate": "false"}
spark = start_spark(extra=settings, log=folder / f"driver-{how}.log")
plan = compile_text((folder / "queries.hw").read_text(), zones=4)
with hold(folder / "checkpoint", plan) as held:
    sink = FolderSink(folder / "out", "answers", ("answer",), held.run_id)
    query = run_streaming(
        spark, plan, {"weather": [str(folder / "in")]}, lambda zones, batch: sink.write(table_of(zones), batch),
        checkpoint=held, options=StreamingOptions(files_per_batch=1, **{how: True}),
    )
    query.awaitTermination()
stop_spark(spark)
"""


class Cluster:
    """Its master and its workers, whose logs are in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = _java_without_vectors(folder / "java")
        self.workers: list[subprocess.Popen[bytes]] = []
        self.master = self._start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self._said("master.Master-0", r"Starting Spark master at (spark://\S+)")

    def add_worker(self) -> None:
        """One more, which may run one executor of one core."""
        options = ("--cores", "1", "--memory", "700m", "--host", "127.0.0.1", "--webui-port", "0")
        number = len(self.workers)
        folder = ("--work-dir", str(self.folder / f"work-{number}"))
        self.workers.append(self._start("worker.Worker", *options, *folder, self.url, number=number))
        self._said(f"worker.Worker-{number}", r"(Successfully registered) with master")

    def kill_worker(self) -> None:
        """Kill the first one and the executor it runs."""
        _kill(self.workers[0])

    def drive(self, folder: Path, how: str) -> subprocess.Popen[bytes]:
        """Start a run over the files of a folder, one a batch: `once`, or until it `ends`."""
        log = (folder / f"{how}.log").open("wb")
        command = [sys.executable, "-c", DRIVER, self.url, str(folder), how]
        return subprocess.Popen(command, stdout=log, stderr=log)

    def end(self) -> None:
        """Kill whatever still runs."""
        for process in [*self.workers, self.master]:
            _kill(process)

    def _start(self, name: str, *words: str, number: int = 0) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "JAVA_HOME": str(self.home),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONHASHSEED": "0",
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        log = (self.folder / f"{name}-{number}.log").open("wb")
        command = [str(spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *words]
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def _said(self, name: str, pattern: str, *, within_s: float = 120) -> str:
        """What a log says before long."""
        log, deadline = self.folder / f"{name}.log", time.monotonic() + within_s
        while time.monotonic() < deadline:
            if found := re.search(pattern, log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        raise AssertionError(log.read_text(errors="replace"))


@contextmanager
def cluster_in(folder: Path, *, workers: int) -> Iterator[Cluster]:
    """A cluster that is gone afterwards."""
    folder.mkdir()
    cluster = Cluster(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.end()


def _java_without_vectors(home: Path) -> Path:
    """A Java that takes no `--add-modules=jdk.incubator.vector`: executors are started with it, and a trimmed runtime lacks it."""
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "java"
    script.write_text(
        "#!/bin/bash\nkept=()\n"
        'for word in "$@"; do [ "$word" = --add-modules=jdk.incubator.vector ] || kept+=("$word"); done\n'
        f'exec "{find_java().program}" "${{kept[@]}}"\n'
    )
    script.chmod(0o755)
    return home


def _kill(process: subprocess.Popen[bytes]) -> None:
    for pid in [process.pid, *descendants(process.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()
