from __future__ import annotations

import pytest

from headwater.hosts.run_reports.spark_errors import error_from_fault

OURS = """\
[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted due to stage failure: Task 0 failed 1 times
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "headwater/model/codec.py", line 50, in decode
    raise _unreadable("it is too short")
headwater.model.errors.HostError: error[state-unreadable]: saved state cannot be read: it is too short
  start with a new --checkpoint folder
  or another thing

\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:581)
"""
JAVA = """\
An error occurred while calling o1.parquet.
org.apache.spark.SparkException: Job aborted.
\tat org.apache.spark.sql.execution.streaming.state.RocksDBException.x(RocksDB.scala:1)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
Caused by: java.lang.OutOfMemoryError: Java heap space
\t... 7 more
"""
STATE = """\
[STREAM_FAILED] Query terminated with exception: [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred
Caused by: org.rocksdb.RocksDBException: Corruption: block checksum mismatch in 000009.sst
\tat org.rocksdb.RocksDB.open(Native Method)
"""


def test_an_error_of_our_own_is_reported_as_it_is_with_its_advice():
    assert str(error_from_fault(OURS)).splitlines() == [
        "error[state-unreadable]: saved state cannot be read: it is too short",
        "  start with a new --checkpoint folder",
        "  or another thing",
    ]


def test_of_other_faults_the_deepest_cause_is_reported():
    assert str(error_from_fault(JAVA)).splitlines() == [
        "error[spark-failed]: the run on Spark failed: java.lang.OutOfMemoryError: Java heap space",
        "  --debug shows Spark's log",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[Errno 111] Connection refused\n",
        "py4j.protocol.Py4JNetworkError: Answer from Java side is empty\n",
        "An error occurred while trying to connect to the Java server (127.0.0.1:33925)\n",
        "An error occurred while calling o143.isActive\n",
        "py4j.protocol.Py4JNetworkError: Error while sending or receiving\n",
    ],
)
def test_a_java_process_that_is_gone_is_reported_so(text):
    assert str(error_from_fault(text)).splitlines() == [
        "error[spark-failed]: the run on Spark failed: its Java process ended",
        "  the process was killed, perhaps because the machine ran out of memory",
        "  start it again: a run with --checkpoint continues where it stopped",
    ]


def test_after_a_full_disk_the_advice_is_to_make_room():
    text = "org.apache.spark.SparkException: Job aborted\nCaused by: java.io.IOException: No space left on device\n"
    assert str(error_from_fault(text)).splitlines() == [
        "error[spark-failed]: the run on Spark failed: java.io.IOException: No space left on device",
        "  free some space and start it again: a run with --checkpoint continues where it stopped",
    ]


def test_damaged_state_of_spark_is_unreadable_state():
    assert str(error_from_fault(STATE)).splitlines() == [
        "error[state-unreadable]: saved state cannot be read: "
        "org.rocksdb.RocksDBException: Corruption: block checksum mismatch in 000009.sst",
        "  restore it from a copy, or start with a new --checkpoint folder",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("org.rocksdb.RocksDBException: While appending: No space left on device", "org.rocksdb.RocksDBException: While appending: No space left on device"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\n    state_store_checksum\nValueError: odd\n", "ValueError: odd"),
        ("\n  [Errno 28] No space left on device\n", "[Errno 28] No space left on device"),
        ("", "it gave no reason"),
    ],
)  # fmt: skip
def test_a_full_disk_or_a_text_without_a_cause_is_spark_that_failed(text, message):
    error = error_from_fault(text)
    assert (error.code, error.message) == ("spark-failed", f"the run on Spark failed: {message}")
