"""A small valley goes through every kind of query, every kind of file and a network, so that every compiled loop is entered.

What is entered is recorded in a list (`write_kernel_entries.py`), by operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from headwater.model import Rows
    from headwater.query.planning.plan import Plan

SELECTIONS: Final = """
CREATE QUERY mild AS SELECT station, at, temperature FROM weather WHERE temperature > 0;
"""
PLAIN: Final = """
CREATE QUERY plain AS SELECT * FROM weather CORRELATE (temperature < 9, wind > 0 WITHIN 30 SECONDS);
"""
NEAR: Final = """
CREATE QUERY near AS SELECT * FROM weather CORRELATE (temperature < 9, humidity > 60 WITHIN 30 SECONDS, 3 KM);
"""
CORRELATIONS: Final = f"""{PLAIN}{NEAR}
CREATE QUERY several AS SELECT * FROM weather CORRELATE (
  2 OF wind > 2 AS gust, 'st-001'.humidity > 10 WITHIN 20 SECONDS INSIDE BOX (7, 45, 8, 46));
CREATE QUERY every AS SELECT * FROM weather CORRELATE (
  temperature < 9 AS one, temperature < 8 AS two DISTINCT SENSORS WITHIN 10 SECONDS
  INSIDE CIRCLE (7.2, 45.85, 5 KM) EMIT ALL LIMIT 5 PER ROW);
CREATE QUERY told AS SELECT * FROM weather CORRELATE (
  temperature < 9, wind > 1 WITHIN 30 SECONDS INSIDE POLYGON ((7, 45), (8, 45), (8, 46), (7, 46)) EMIT READINGS);
CREATE QUERY told_near AS SELECT * FROM weather CORRELATE (
  temperature < 9, wind > 1 WITHIN 10 SECONDS, 2 KM EMIT READINGS);
"""
PATTERNS: Final = """
CREATE QUERY row_pattern AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station ORDER BY at
  MEASURES FIRST(A.at) AS began, MAX(B.temperature) AS top, MIN(B.station) AS who, SUM(B.wind) AS blown,
    COUNT(*) AS steps, AVG(B.wind) AS mean, CLASSIFIER() AS kind, PREV(CLASSIFIER()) AS before
  PATTERN (A B+ C?) WITHIN 1 MINUTE
  DEFINE B AS temperature > A.temperature - 5, C AS wind < AVG(B.wind));
CREATE QUERY event_pattern AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station ORDER BY at ALL ROWS PER MATCH MATCH EVERY
  PATTERN (A ~> B) WITHIN 1 MINUTE
  DEFINE A AS wind > 1, B AS temperature > A.temperature);
CREATE QUERY node_pattern AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station MODE UNRESTRICTED PATTERN (A B) WITHIN 1 MINUTE DEFINE A AS wind > 1, B AS wind > 2);
CREATE QUERY node_recent AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station MODE RECENT PATTERN (A B) WITHIN 1 MINUTE DEFINE A AS wind > 1, B AS wind > 2);
"""
FOLLOWS: Final = """
CREATE QUERY around AS SELECT * FROM weather FOLLOW (
  weather WHERE wind > 1 RADIUS 3 KM LAST 20 SECONDS UPDATE QUALITY 0.5, 0.5 OVER 10 SECONDS);
CREATE QUERY around_fits AS SELECT * FROM weather FOLLOW (weather WHERE wind > 1 BOX 4 KM, 4 KM EMIT INTERESTS);
CREATE QUERY around_pattern AS SELECT * FROM weather FOLLOW (weather WHERE wind > 1 RADIUS 3 KM LAST 20 SECONDS)
  MATCH_RECOGNIZE (PARTITION BY station AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) WITHIN 5 SECONDS DEFINE B AS B.wind > A.wind);
"""
FENCES: Final = """
CREATE FENCES areas (name STRING KEY);
CREATE QUERY fenced AS SELECT * FROM weather FENCE (areas DETECT ENTER, EXIT, INSIDE, OUTSIDE, CROSS);
CREATE QUERY roaming AS SELECT * FROM weather FENCE (weather RADIUS 5 KM DETECT ENTER, EXIT, INSIDE, OUTSIDE, CROSS);
"""
NEIGHBOURS: Final = """
CREATE POINTS marks (number BIGINT KEY, lon DOUBLE, lat DOUBLE, temperature DOUBLE, wind DOUBLE);
CREATE QUERY nearest_each AS SELECT * FROM weather NEAREST (
  3 TO EACH OF marks BY (temperature, wind) WEIGHTED (1, 2) OVER 30 SECONDS EMIT CHANGES);
CREATE QUERY nearest_probable AS SELECT * FROM weather NEAREST (
  3 TO EACH OF marks BY PLACE OVER 30 SECONDS USING PROBABLE 0.1 EMIT EVERY 10 SECONDS);
CREATE QUERY nearest_rows AS SELECT * FROM weather NEAREST (2 TO EACH OF marks BY (wind) OVER 20 ROWS PER station WITH TIES);
CREATE QUERY nearest_highest AS SELECT * FROM weather NEAREST (2 TO HIGHEST wind OVER 30 SECONDS USING EXACT ALGORITHM RA);
"""
SUPPRESSIONS: Final = """
CREATE QUERY sent AS SELECT * FROM weather SUPPRESS (temperature, wind TOLERANCE 0.5 HEARTBEAT 30 SECONDS);
"""
PREDICTIONS: Final = f"""{SUPPRESSIONS}
CREATE QUERY warm AS SELECT * FROM sent PREDICT (temperature > 0 PROBABILITY >= 0.5 TENTATIVE AHEAD 5 SECONDS);
CREATE QUERY even AS SELECT * FROM sent PREDICT (PAIRS a, b WHERE ABS(a.wind - b.wind) <= 1 WITHIN 2 SECONDS);
CREATE QUERY even_both AS SELECT * FROM sent PREDICT (
  PAIRS a, b WHERE ABS(a.temperature - b.temperature) <= 1 AND ABS(a.wind - b.wind) <= 1 WITHIN 2 SECONDS EVERY 10 SECONDS);
CREATE QUERY alike AS SELECT a_key, b_key, begins, ends, polygon FROM sent PREDICT (
  PAIRS a, b WHERE ABS(a.temperature - b.temperature) <= 1 AND ABS(a.wind - b.wind) <= 1 AND a.wind > 0
  WITHIN 2 SECONDS MAY);
CREATE QUERY likely AS SELECT * FROM sent PREDICT (
  PAIRS a, b WHERE ABS(a.temperature - b.temperature) <= 1 AND ABS(a.wind - b.wind) <= 1 WITHIN 2 SECONDS PROBABILITY >= 0.7);
CREATE QUERY close AS SELECT * FROM sent PREDICT (
  PAIRS a, b WHERE DISTANCE(a, b) <= 2 WITHIN 2 SECONDS VALIDATED EVERY 10 SECONDS BUFFER 40);
"""

REHEARSALS: Final = {
    "SELECT": (SELECTIONS,),
    # The loop of CORRELATE is compiled for each kind of query: searched queries, plain ones, and both.
    "CORRELATE": (CORRELATIONS, PLAIN, PLAIN + NEAR),
    "MATCH_RECOGNIZE": (PATTERNS,),
    "FOLLOW": (FOLLOWS,),
    "FENCE": (FENCES,),
    "NEAREST": (NEIGHBOURS,),
    "SUPPRESS": (SUPPRESSIONS,),
    "PREDICT": (PREDICTIONS,),
}
"""By operator, texts of queries that enter all of its loops."""

MARKS: Final = 40  # enough for a grid
AREA: Final = "POLYGON ((7.1 45.8, 7.2 45.8, 7.2 45.9, 7.1 45.8))"


def rehearse(texts: Sequence[str]) -> None:
    """Some queries after one another, on files of every kind, and once with their state saved in between."""
    import pyarrow.csv
    import pyarrow.parquet

    from headwater.hosts.files.arrow import rows_to_arrow
    from headwater.hosts.files.json_lines import json_lines
    from headwater.hosts.local import run_local
    from headwater.hosts.temporary_folders import temporary_folder
    from headwater.model import SECOND, parse_instant
    from headwater.workloads import Valley

    start = parse_instant("2026-01-15T00:00:00")
    rows = Valley(stations=12).readings(start, start + 120 * SECOND)
    with temporary_folder("prepare") as held:
        folder = held.path / "readings"
        folder.mkdir()
        table = rows_to_arrow(rows)
        pyarrow.csv.write_csv(table, f"{folder}/a.csv")
        pyarrow.parquet.write_table(table, f"{folder}/b.parquet")
        (folder / "c.jsonl").write_text("".join(f"{line}\n" for line in json_lines(rows).to_pylist()))
        for queries in texts:
            for _ in run_local(_plan(queries, rows), {"weather": [str(folder)]}):
                continue
    _save_and_restore(_plan(texts[0], rows), rows)


def rehearse_network() -> None:
    """A few subscriptions in a small network."""
    from headwater.apps.overlay import simulate
    from headwater.workloads.station_subscriptions import Load, make_standing
    from headwater.workloads.stations import make_stations
    from headwater.workloads.tree_networks import make_network

    recorded = make_stations(2, rounds=30)
    network = make_network(recorded.sources, nodes=14, users=14)
    standing = make_standing(8, network, recorded, Load())
    for approach in ("multi-join", "filter-split-forward", "exact"):
        simulate(network, approach, standing, recorded)


def _plan(queries: str, rows: Rows) -> Plan:
    """The plan of queries over the valley; the points they ask about are some of its readings."""
    import pyarrow as pa

    from headwater.hosts.declared_sets import sets_from_tables
    from headwater.hosts.files.arrow import rows_to_arrow
    from headwater.query.planning.plan import compile_text
    from headwater.workloads import STREAM_TEXT

    plan = compile_text(STREAM_TEXT + queries)
    some = rows_to_arrow(rows.take(slice(0, MARKS)))
    areas = pa.table({"name": ["here"], "geometry": [AREA]})
    sets = sets_from_tables(
        plan, {"marks": some.append_column("number", [range(some.num_rows)]), "areas": areas}
    )
    return plan.with_sets(sets.rows, audit=1.0)


def _save_and_restore(plan: Plan, rows: Rows) -> None:
    """As a streaming run does it between two batches, on rows that came as bytes."""
    from headwater.hosts.zone import Arrivals, Program, Unit, clusters_of, fetch_from, load_zone, save_zone
    from headwater.model import decode, encode, rows_tree, tree_rows

    plan.routing("weather")(rows)
    program = Program(plan)
    state = program.start()
    for number, part in enumerate((slice(0, 70), slice(70, None))):
        came = tree_rows(decode(encode(rows_tree(rows.take(part)))))
        unit = Unit("weather", number, 0, clusters_of(came["at"].values), came)
        state, _ = program.step(state, Arrivals({"weather": [unit]}, end=number == 1))
        saved = save_zone(program, state)
        state = load_zone(program, saved.head, fetch_from(saved.cells()))
