"""Starting Spark's Java process, and talking to it.

Spark's own launcher says with which options; we run that command ourselves and not through its shell scripts:

Rule 1  Each jar stands once on the class path. A repeated one (the scripts repeat slf4j) makes the JVM refuse its class archive.
        The largest come first, because recording classes for the archive compares each with the jars in turn.
Rule 2  The vector module is left out: a trimmed Java does not have it, and nothing here uses it.
Rule 3  All it says goes into a log file. Ctrl-C in the terminal does not reach it or its workers: they are a session of
        their own, and end when we say so. An interrupted call closes its own connection and no other
        (`_interrupt_one_call`).
Rule 4  It ends by itself when its standard input closes, which happens even if this process is killed.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import pyspark
from py4j.clientserver import ClientServerConnection
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.serializers import UTF8Deserializer, read_int

from headwater.hosts.spark.java import Java
from headwater.model import HostError

READY_WITHIN_S: Final = 180.0
END_WITHIN_S: Final = 20.0
LOG_LINES_SHOWN: Final = 12

# What a user may have set for another Spark and would change ours.
_NOT_FOR_US: Final = (
    "HADOOP_CONF_DIR", "PYSPARK_DRIVER_PYTHON", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET",
    "SPARK_CONNECT_MODE_ENABLED", "SPARK_DIST_CLASSPATH", "SPARK_LOCAL_DIRS", "SPARK_MASTER", "SPARK_REMOTE",
    "SPARK_SUBMIT_OPTS", "SPARK_TESTING", "YARN_CONF_DIR",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Machine:
    """A running Java process that waits for commands on a port."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str

    def connect(self) -> Any:
        """The gateway through which PySpark commands it."""
        _silence_python_side()
        _interrupt_one_call()
        named = {"PYSPARK_GATEWAY_PORT": str(self.port), "PYSPARK_GATEWAY_SECRET": self.secret}
        os.environ.update(named)
        try:
            return launch_gateway()
        finally:
            for name in named:
                del os.environ[name]

    def end(self) -> None:
        """Close its standard input, wait, and make sure."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        _end(self.process, END_WITHIN_S)


def launch(
    java: Java, settings: Mapping[str, str], options: Sequence[str], *, folder: Path, log: Path
) -> Machine:
    """Start it with Spark `settings` and further JVM `options`; `folder` is for its temporary files."""
    begin = log.stat().st_size if log.is_file() else 0
    environment = _environment(java, folder)
    try:
        with log.open("ab") as written:
            command = _command(java, settings, options, environment, written)
            return _run(command, environment, folder, written)
    except _NotStartedError as failure:
        raise HostError(
            "spark-does-not-start", f"Spark does not start: {failure}", advice=log_end(log, begin)
        ) from failure


def class_path() -> list[Path]:
    """Spark's jars, in the order they are searched."""
    jars = spark_home().glob("jars/*.jar")
    return sorted(
        jars, key=lambda jar: (not jar.name.startswith("slf4j-api-"), -jar.stat().st_size, jar.name)
    )


def spark_home() -> Path:
    """The Spark that came with PySpark."""
    return Path(pyspark.__file__).parent


def log_end(log: Path, begin: int = 0) -> list[str]:
    """The last lines of a log from byte `begin` on, as advice in an error."""
    if not log.is_file():
        return []
    lines = log.read_bytes()[begin:].decode(errors="replace").splitlines()
    return [*lines[-LOG_LINES_SHOWN:], f"the whole log: {log}"]


def _environment(java: Java, folder: Path) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_US}
    empty = folder / "conf"
    empty.mkdir(exist_ok=True)
    return environment | {
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONHASHSEED": "0",
        "SPARK_CONF_DIR": str(empty),
        "SPARK_CONNECT_MODE": "0",
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": _launcher_jar().name.split("_")[1].rsplit("-", 1)[0],
    }


def _launcher_jar() -> Path:
    return next(spark_home().glob("jars/spark-launcher_*.jar"))


def _command(
    java: Java,
    settings: Mapping[str, str],
    options: Sequence[str],
    environment: Mapping[str, str],
    log: IO[bytes],
) -> list[str]:
    """The command Spark's launcher gives, with our class path and options."""
    conf = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    question = [
        str(java.program), "-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
        "-cp", str(_launcher_jar()), "org.apache.spark.launcher.Main", "org.apache.spark.deploy.SparkSubmit",
        *conf, "pyspark-shell",
    ]  # fmt: skip
    try:
        result = subprocess.run(
            question,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
    except OSError as cause:
        raise _NotStartedError(f"'{java.program}' cannot be run: {cause.strerror}") from cause
    # What stands before the first NUL is talk; after it, one argument before each NUL.
    arguments = result.stdout.decode().partition("\0\n")[2].split("\0")[:-1]
    if result.returncode or "-cp" not in arguments:
        raise _NotStartedError(f"its launcher ended with code {result.returncode}")
    arguments[arguments.index("-cp") + 1] = os.pathsep.join(map(str, class_path()))
    arguments = [word for word in arguments if word != "--add-modules=jdk.incubator.vector"]
    return [arguments[0], *options, *arguments[1:]]


def _run(command: Sequence[str], environment: Mapping[str, str], folder: Path, log: IO[bytes]) -> Machine:
    # With SPARK_HOME, workers would import PySpark from a zip file and compile it every time.
    variables = {name: value for name, value in environment.items() if name != "SPARK_HOME"}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        variables["_PYSPARK_DRIVER_CONN_INFO_PATH"] = f"{scratch}/gateway"
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=variables, start_new_session=True
        )
        try:
            return _when_ready(process, Path(scratch, "gateway"))
        except BaseException:
            _end(process, 0.0)
            raise


def _when_ready(process: subprocess.Popen[bytes], connection: Path) -> Machine:
    deadline = time.monotonic() + READY_WITHIN_S
    while not connection.exists():
        code = process.poll()
        if code is not None:
            raise _NotStartedError(f"its Java process ended with code {code}")
        if time.monotonic() > deadline:
            raise _NotStartedError(f"it was not ready after {READY_WITHIN_S:.0f} seconds")
        time.sleep(0.02)
    with connection.open("rb") as written:
        port = read_int(written)
        secret = UTF8Deserializer().loads(written)
    return Machine(process, port, secret)


class _NotStartedError(Exception):
    """Why Spark does not start, shown with the end of its log."""


def _silence_python_side() -> None:
    """PySpark and what it talks to the JVM with print what they raise, too, some of it in nobody's name."""
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    logging.getLogger("py4j").propagate = False
    nobody = logging.getLogger()
    nobody.addFilter(_is_not_from_py4j)
    if not nobody.handlers and logging.lastResort is not None:
        # Otherwise the first message in nobody's name would set up logging for the whole process.
        nobody.addHandler(logging.lastResort)


def _interrupt_one_call() -> None:
    """On Ctrl-C, Py4J asks the JVM to close the connection of the interrupted call, named by both of its ports.

    The JVM closes all that have either of them, and one of the two is the port that it listens on: every connection
    goes, those of other threads in the middle of their calls, and the next one if it comes before the JVM is done.
    """
    ClientServerConnection.shutdown_socket = lambda connection, *ports: connection.close()


def _is_not_from_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def _end(process: subprocess.Popen[bytes], within_s: float) -> None:
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
