"""`hw.session()`, a SparkSession with everything that is needed, and `hw.configure(builder)` for those who make their own.

Rule 1  One session in a process, as Spark has it: a cell of a notebook that runs twice gets the same session twice.
Rule 2  A session that somebody else started is taken if it can do what is needed, and refused in one sentence if not. It is never changed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from headwater.hosts.api.engine_choice import refuse_missing_spark
from headwater.model import HostError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_CONFIGURED: Final = {
    STATE_STORE: ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.python.daemon.module": "headwater.hosts.spark.worker_daemon",
    "spark.sql.execution.arrow.maxBytesPerBatch": "33554432",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}


def session(*, cores: int | None = None, memory: str | None = None, **settings: Any) -> SparkSession:
    """A SparkSession on this machine. Nothing needs to be installed or set: Java comes with Headwater.

    `cores` is how many it may use (default: all), `memory` is what its JVM may use ("2g"). `settings` are any settings of Spark, which win
    over ours: `hw.session(**{"spark.jars.packages": "…"})`. The session ends with the process, or with `.stop()`.

    Called again it returns the session that runs. It also returns a running session that somebody else started, if that can run queries of
    Headwater.
    """
    refuse_missing_spark("headwater.session() needs Spark")
    from headwater.hosts.spark.session import running_spark, settings_of, start_spark

    wanted = {name: _as_setting(value) for name, value in settings.items()}
    asked = {
        **({"spark.master": f"local[{cores}]"} if cores else {}),
        **({"spark.driver.memory": memory} if memory else {}),
        **wanted,
    }
    spark = running_spark()
    if spark is not None:
        _refuse_other_settings(asked, settings_of(spark), "hw.session().stop()")
        return spark
    foreign = _active_session()
    if foreign is None:
        return start_spark(cores=cores, memory=memory or "2g", extra=wanted)
    _refuse_other_settings(asked, {name: foreign.conf.get(name, None) for name in asked}, "its .stop()")
    refuse_connect(foreign)
    refuse_other_state_store(foreign)
    return foreign


def configure(builder: Any) -> Any:
    """The builder of a session with what Headwater needs: `hw.configure(SparkSession.builder.master("local[*]")).getOrCreate()`.

    It sets the state store (RocksDB), Arrow's batches, the Python daemon that has Headwater imported, and UTC. If Spark would find no
    Java, JAVA_HOME becomes the one that comes with Headwater; if the master is local, or nobody says, and PYSPARK_PYTHON is not set, the stages run on this
    Python. Settings that the builder has already stay as they are.
    """
    refuse_missing_spark("headwater.configure() needs Spark")
    from headwater.hosts.spark.java import find_java, spark_finds_java

    if not spark_finds_java():
        os.environ["JAVA_HOME"] = str(find_java().home)
    options = dict(getattr(builder, "_options", {}))
    if str(options.get("spark.master", "local")).startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in _CONFIGURED.items():
        if name not in options:
            builder = builder.config(name, value)
    return builder


def refuse_connect(spark: Any) -> None:
    """Refuse what is no session, or one of Spark Connect, or one that has ended."""
    from pyspark.sql import SparkSession

    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise HostError(
            "wrong-session",
            "the session is one of Spark Connect, in which the queries of Headwater cannot run",
            advice=["use a classic session: hw.session(), or SparkSession.builder.master(…)"],
        )
    if not isinstance(spark, SparkSession):
        raise HostError(
            "wrong-session",
            f"session is {spark!r}, not a SparkSession",
            advice=["session=hw.session(), or leave it out"],
        )
    if spark.sparkContext._jsc is None:
        raise HostError(
            "wrong-session", "the session has been stopped", advice=["start another: hw.session()"]
        )


def refuse_other_state_store(spark: SparkSession) -> None:
    """Refuse a session in which a query of streams cannot have state."""
    found = spark.conf.get(STATE_STORE, "")
    if found != ROCKSDB:
        raise HostError(
            "no-rocksdb",
            "streams need the RocksDB state store, which this session does not use",
            advice=[
                f'set it: spark.conf.set("{STATE_STORE}", "{ROCKSDB}")',
                "or make the session with hw.session() or hw.configure(builder)",
            ],
        )


def _active_session() -> Any:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    return SparkSession(SparkContext._active_spark_context) if SparkContext._active_spark_context else None


def _refuse_other_settings(asked: dict[str, str], running: Any, stop: str) -> None:
    different = [name for name, value in asked.items() if running.get(name) != value]
    if different:
        raise HostError(
            "wrong-session",
            f"a session is running with another {' and another '.join(different)}",
            advice=[f"stop it first ({stop}), or leave the settings out to use it as it is"],
        )


def _as_setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
