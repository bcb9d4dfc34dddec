"""Which engine runs the queries of `hw.run`?

Rule 1  Spark, if a DataFrame of Spark's is among the inputs or a session is given: the data is there. Otherwise the local engine, which
        starts at once. Both give the same answers.
Rule 2  A choice that nobody made is said once in a process, on standard error.
Rule 3  An engine that cannot do what is asked for is refused, with what can.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final

from headwater.hosts.api.input_kinds import is_spark_frame
from headwater.model import HostError

ENGINES: Final = ("local", "spark")

_said: list[str] = []


def choose_engine(engine: str | None, session: Any, inputs: Mapping[str, Any]) -> str:
    """`local` or `spark`; what does not fit together is refused."""
    frames = [name for name, value in inputs.items() if is_spark_frame(value)]
    if engine not in (None, *ENGINES):
        raise HostError(
            "wrong-engine",
            f"there is no engine {engine!r}",
            advice=['engine="local" runs in this process, engine="spark" on Spark; None chooses'],
        )
    if engine == "local" and session is not None:
        raise HostError(
            "wrong-engine",
            "a session of Spark is given, but engine is local",
            advice=["leave session out, or leave engine out to run on Spark"],
        )
    if engine == "local" and frames:
        raise _local_with_frame(frames[0], inputs[frames[0]])
    needs_spark = session is not None or bool(frames)
    if engine is None:
        engine = "spark" if needs_spark else "local"
        why = "an input is a DataFrame of Spark's" if frames else "a session is given"
        _say(
            f"engine    spark: {why}"
            if needs_spark
            else 'engine    local: it starts at once; engine="spark" gives the same answers on Spark'
        )
    if engine == "spark":
        refuse_missing_spark('engine="spark" needs Spark')
    return engine


def refuse_missing_spark(what: str) -> None:
    """Refuse what needs Spark where it is not installed."""
    if find_spec("pyspark") is None:
        raise HostError(
            "spark-not-installed",
            f"{what}, but the package pyspark is not installed",
            advice=["install it: pip install pyspark", 'or use engine="local", which gives the same answers'],
        )


def _local_with_frame(name: str, frame: Any) -> HostError:
    if frame.isStreaming:
        return HostError(
            "wrong-engine",
            f"the input '{name}' is a stream of Spark's: the local engine takes only inputs that are complete",
            advice=["leave engine out to run on Spark"],
        )
    return HostError(
        "wrong-engine",
        f"the input '{name}' is a DataFrame of Spark's, but engine is local",
        advice=["leave engine out to run on Spark", "or pass df.toArrow() to run in this process"],
    )


def _say(line: str) -> None:
    if not _said:
        _said.append(line)
        print(line, file=sys.stderr)
