"""`hw.run`: queries over inputs, on the engine that fits.

What is wrong with the arguments is said before anything runs. The local engine then runs to the end; Spark begins when answers are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headwater.hosts.api.answers import Answers
from headwater.hosts.api.engine_choice import choose_engine
from headwater.hosts.api.input_checks import (
    refuse_strangers,
    refuse_unusable_inputs,
    sources_of,
    split_sets,
)
from headwater.hosts.api.input_kinds import Source, check_mapping
from headwater.hosts.api.queries import Queries, query_source
from headwater.hosts.declared_sets import check_audit, sets_from_inputs
from headwater.hosts.kernel_preparation import lines_now_and_then, prepare_for
from headwater.hosts.stored_code import use_compiled_code
from headwater.hosts.stream_reading import refuse_unusable_sets
from headwater.query.language.build_pieces import Duration
from headwater.query.planning.plan import Plan, refuse_silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(
    queries: Queries,
    inputs: Mapping[str, Any],
    *,
    engine: str | None = None,
    session: SparkSession | None = None,
    zones: int | None = None,
    audit: float | None = None,
    most_history: Duration | None = None,
) -> Answers:
    """Answer standing queries over `inputs`: a table, files or a stream for every name that the queries read.

    `queries` is a text, the `pathlib.Path` of a file, or what the builders made. An input is a DataFrame of pandas, Polars or Spark, a
    table of Arrow (anything with `__arrow_c_stream__`), or the path of a file, folder or pattern, or a list of paths: CSV, JSON lines,
    Parquet. Points and fences are inputs, too; polygons are a column `geometry`, or a GeoJSON file. Rows that cannot be used are left
    out and listed in `answers.bad`: NaN in a pandas column is NULL, as it is there; NaN in a table of Arrow or Polars, which have
    NULL themselves, is a bad row. Times with more digits than microseconds are cut off.

    `engine` is "local", which runs in this process and starts at once, or "spark"; both give the same answers. None chooses Spark if an
    input is a DataFrame of Spark's or a `session` is given, and says once which engine it is. Spark without a session is
    `headwater.session()`. On Spark, answers are computed once, when they are first asked for, and held until `answers.release()`.

    With streaming DataFrames the answers are streaming too; nothing runs before they are written (`answers.write`). Points and fences
    are then still tables, read here, once.

    `zones` is over how many places Spark spreads the queries (default: what the checkpoint has; for a new one two a core). `audit` is the
    share of the points for which the loss of PROBABLE is measured: `answers.counts` has `audited:QUERY` and `missed:QUERY`, and of what comes
    in behind the last row of a bounded input `audited_at_end:QUERY` and `missed_at_end:QUERY`. `most_history` is for how long a FOLLOW
    may keep events, as '7 DAYS' or a timedelta (default: a day).

    ```python
    QUERIES = '''
    CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);
    CREATE QUERY frost AS SELECT station, temperature FROM weather WHERE temperature < 0;
    '''
    answers = hw.run(QUERIES, {"weather": readings})
    print(answers)
    print(answers["frost"].to_pandas()["temperature"].tolist())
    ```

    ```output
    answers of the local engine
    read      5 rows
    answers   3: frost 3
    [-1.5, -4.0, -2.0]
    ```
    """
    use_compiled_code()
    source = query_source(queries)
    checked = source.checked(most_history)
    plan = checked.plan(1)
    refuse_silent(plan, file=source.file)
    check_mapping(inputs, [stream.name for stream in plan.streams])
    chosen = choose_engine(engine, session, inputs)
    refuse_strangers(plan, inputs)
    check_audit(plan, audit)
    sources = sources_of(plan, inputs)
    if chosen == "spark":
        from headwater.hosts.api.spark_inputs import run_on_spark

        return run_on_spark(checked.plan, sources, session, zones, audit)
    return _run_here(plan, sources, audit)


def _run_here(plan: Plan, sources: Mapping[str, Source], audit: float | None) -> Answers:
    from headwater.hosts.api.local_answers import LocalRun

    given, streams = split_sets(plan, sources)
    refuse_unusable_inputs(plan, streams)
    sets = sets_from_inputs(plan, given)
    refuse_unusable_sets(sets.bad, {name: paths for name, paths in given.items() if isinstance(paths, tuple)})
    plan = plan.with_sets(sets.rows, audit=audit or 0.0)
    with prepare_for(plan, lines_now_and_then()):
        return Answers(LocalRun(plan, streams, sets))
