"""Which Python runs our stages in a session that somebody else started?

Spark notes it with every function it receives: what PYSPARK_PYTHON said when the session began, or the first `python3` on the
path. Where an environment was not activated that is another Python, which has no Headwater.

Rule 1  On one machine (a master `local` or `local[…]`) our stages run on the Python that asks for them: it has what they need.
Rule 2  Nothing else changes. The session says what it said again before `run` returns, so functions of the user's own run
        where they always did.
Rule 3  On a cluster nothing is known of the other machines, and nothing is changed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def our_python(spark: SparkSession) -> Iterator[None]:
    """Functions handed to Spark meanwhile run on this Python, if all of Spark is on this machine."""
    context = spark.sparkContext
    if not (context.master == "local" or context.master.startswith("local[")) or not sys.executable:
        yield
        return
    before = context.pythonExec
    context.pythonExec = sys.executable
    try:
        yield
    finally:
        context.pythonExec = before
