"""An embedded Spark for those who have none: local, silent, quick to start, gone when we are.

Rule 1  Nothing of Spark's or Java's own appears on the terminal or in the working directory. Its log is a file
        (`log_file`), its other files are in a temporary folder that goes away with it.
Rule 2  Ctrl-C is ours: it raises KeyboardInterrupt here, and Spark goes on until `stop_spark`.
Rule 3  One at a time in a process, as Spark has it.

Disk    The `MOST_LOGS` last logs stay in the cache folder.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from headwater.hosts.cache import cache_folder
from headwater.hosts.cores import usable_cores
from headwater.hosts.spark.class_archive import Archive, archive_for
from headwater.hosts.spark.java import Java, find_java
from headwater.hosts.spark.java_process import Machine, class_path, launch, log_end
from headwater.hosts.stored_code import use_compiled_code
from headwater.hosts.temporary_folders import TemporaryFolder, temporary_folder
from headwater.model import HostError

MOST_LOGS: Final = 10

STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_CLASSES = "classes"
_LONGEST_FOLDER = 50
_ATOMIC_RENAME = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"

_ALWAYS: Final[Mapping[str, str]] = {
    "spark.app.name": "headwater",
    # Other users of this machine may connect to our ports: without the secret of this session they get nothing.
    "spark.authenticate": "true",
    # Plans of thousands of queries go to workers as they are: packing them tighter takes longer than sending them.
    "spark.broadcast.UDFCompressionThreshold": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "WARN",
    "spark.python.daemon.module": "headwater.hosts.spark.worker_daemon",
    # What goes between our stages is mostly numbers: packing it tighter takes longer than writing it.
    "spark.shuffle.compress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.maxBytesPerBatch": "33554432",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # The same for all stages, so that all of them share one daemon and its workers.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.checkpointFileManagerClass": _ATOMIC_RENAME,
    "spark.sql.streaming.numRecentProgressUpdates": "100",
    STATE_STORE: ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@dataclass(slots=True)
class _Running:
    """Our session, and what goes away with it."""

    spark: SparkSession
    machine: Machine
    folder: TemporaryFolder
    log: Path
    archive: Archive
    settings: Mapping[str, str]
    prepared: bool = False


_running: list[_Running] = []
_makers: list[subprocess.Popen[bytes]] = []


def start_spark(
    *,
    cores: int | None = None,
    memory: str = "2g",
    log: Path | None = None,
    small: bool = False,
    extra: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start a Spark of our own on `cores` cores (None: all of them) with `memory` for its JVM.

    `small` is for runs of seconds: compile quickly rather than well. `extra` are further Spark settings, which win.
    """
    if SparkContext._active_spark_context is not None:
        raise HostError(
            "spark-runs-already",
            "a Spark session is already running in this process",
            advice=["use that session, or stop it first"],
        )
    use_compiled_code()
    java = find_java()
    folder = temporary_folder("spark")
    written = log or _new_log(cache_folder() / "logs")
    settings = _settings(cores or usable_cores(), memory, folder.path) | dict(extra or {})
    archive = archive_for(java, class_path(), cache_folder() / "classes")
    try:
        with _our_interrupts():
            machine = _launched(java, settings, folder.path, written, archive, small=small)
            spark = _connected(machine, settings, written)
    except BaseException:
        folder.remove()
        raise
    running = _Running(spark, machine, folder, written, archive, settings)
    _running.append(running)
    atexit.register(_stop, running)
    threading.Thread(target=_wake_workers, args=(spark.sparkContext,), daemon=True).start()
    return spark


def running_spark() -> SparkSession | None:
    """The session of our own that is alive; what is left of one that somebody stopped, or whose Java has ended, is cleared away."""
    for running in list(_running):
        if running.spark.sparkContext._jsc is not None and running.machine.process.poll() is None:
            return running.spark
        _stop(running)
    return None


def settings_of(spark: SparkSession) -> Mapping[str, str]:
    """The settings with which a session of our own was started."""
    running = _ours(spark)
    return running.settings if running else {}


def stop_spark(spark: SparkSession) -> None:
    """Stop a session and, if it is ours, its JVM, and remove its temporary files."""
    running = _ours(spark)
    if running is None:
        spark.stop()
        return
    prepare_next_start(spark)
    _stop(running)


@contextmanager
def embedded_spark(*, debug: bool = False, **options: Any) -> Iterator[SparkSession]:
    """A session for one run, with the options of `start_spark`; `debug` shows Spark's log on standard error."""
    if debug:
        options["log"] = Path("/dev/stderr")
    spark = start_spark(**options)
    try:
        yield spark
    finally:
        stop_spark(spark)


def prepare_next_start(spark: SparkSession) -> None:
    """Make a class archive in the background, of the classes loaded so far, if there is none yet.

    `stop_spark` does it too. A run that goes on for a while does it as soon as it has answered: the archive is there at
    its end, or nearly (`finish_preparing`).
    """
    running = _ours(spark)
    if running is not None and not running.prepared:
        running.prepared = True
        with suppress(OSError):
            maker = running.archive.make(running.folder.path / _CLASSES)
            _makers.extend([maker] if maker else [])


def finish_preparing(*, within_s: float) -> None:
    """Wait for the archives begun here; what is not done in time goes on without us."""
    deadline = time.monotonic() + within_s
    for maker in _makers:
        with suppress(subprocess.TimeoutExpired):
            maker.wait(max(0.0, deadline - time.monotonic()))


def log_file(spark: SparkSession) -> Path | None:
    """Where Spark's own messages go; None for a session that is not ours."""
    running = _ours(spark)
    return running.log if running else None


def _settings(cores: int, memory: str, folder: Path) -> dict[str, str]:
    # Workers talk to the JVM a little faster by files than by ports; systems limit how long the name of such a file is.
    by_files = os.name == "posix" and len(str(folder)) <= _LONGEST_FOLDER
    return {
        **_ALWAYS,
        "spark.python.unix.domain.socket.enabled": str(by_files).lower(),
        "spark.driver.memory": memory,
        "spark.local.dir": str(folder / "local"),
        "spark.master": f"local[{cores}]",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }


def _launched(
    java: Java, settings: Mapping[str, str], folder: Path, log: Path, archive: Archive, *, small: bool
) -> Machine:
    (folder / "tmp").mkdir()
    options = [f"-Djava.io.tmpdir={folder / 'tmp'}", "-XX:-UsePerfData"]
    # Packed rows are arrays of megabytes, which Java's collector takes badly unless its regions are larger than they are.
    options += ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if small else ["-XX:G1HeapRegionSize=32m"]
    quick = [*options, *archive.options(folder / _CLASSES)]
    try:
        return launch(java, settings, quick, folder=folder, log=log)
    except HostError:
        if not archive.is_made:
            raise
        # A damaged archive must not keep Spark from starting.
        machine = launch(java, settings, options, folder=folder, log=log)
        archive.path.unlink(missing_ok=True)
        return machine


def _connected(machine: Machine, settings: Mapping[str, str], log: Path) -> SparkSession:
    configured = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    try:
        with _environment_of_workers():
            context = SparkContext(conf=configured, gateway=machine.connect())
            _silence_accumulators(context)
            return SparkSession(context)
    except BaseException as error:
        _forget_gateway()
        machine.end()
        if not isinstance(error, Exception):
            raise
        raise HostError(
            "spark-does-not-start", "Spark does not start: its context failed", advice=log_end(log)
        ) from error


def _silence_accumulators(context: SparkContext) -> None:
    """PySpark's server of counters prints a traceback when its JVM is gone, before anybody can say it in words."""
    context._accumulatorServer.handle_error = lambda request, address: None


def _wake_workers(context: SparkContext) -> None:
    """Have the daemon import its libraries while the caller still prepares what the workers will do."""
    with suppress(Exception):
        context.parallelize([0], 1).map(abs).count()


@contextmanager
def _environment_of_workers() -> Iterator[None]:
    """PySpark reads from the environment which Python its workers run on."""
    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYSPARK_PYTHON"]
        else:
            os.environ["PYSPARK_PYTHON"] = before


@contextmanager
def _our_interrupts() -> Iterator[None]:
    """PySpark's own answer to Ctrl-C cancels all jobs, so that a query fails instead of being stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ours(spark: SparkSession) -> _Running | None:
    context = spark.sparkContext
    return next((running for running in _running if running.spark.sparkContext is context), None)


def _stop(running: _Running) -> None:
    if running not in _running:
        return
    _running.remove(running)
    atexit.unregister(_stop)
    # The JVM may be gone already; whatever it says then, what follows makes sure.
    with suppress(Exception):
        for query in running.spark.streams.active:
            query.stop()
        running.spark.stop()
    with suppress(Exception):
        running.spark.sparkContext._gateway.shutdown()
    _forget_gateway()
    running.machine.end()
    running.folder.remove()


def _forget_gateway() -> None:
    """So that the next start makes a JVM of its own."""
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None


def _new_log(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("spark-*.log"))[: -MOST_LOGS + 1]:
        with suppress(OSError):
            old.unlink()
    return folder / f"spark-{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}.log"
