from __future__ import annotations

import json

import pyarrow as pa

from headwater.apps.cli.metrics import write_metrics
from headwater.hosts.files import BAD_TYPES, json_lines
from headwater.hosts.local import RunReport
from headwater.hosts.run_reports.answer_columns import answer_types, late_rows
from headwater.hosts.run_reports.spark_tables import report_from_table
from headwater.hosts.run_reports.summary import Summary
from headwater.hosts.zone import StateSize
from headwater.model import SECOND, Column, ColumnType, Rows, StreamSchema, strings
from headwater.query.explaining.event_stores import stores_of
from headwater.query.planning.plan import compile_text


def answered(**counts: int) -> Rows:
    return Rows.of({"query": strings([name for name, count in counts.items() for _ in range(count)])})


def bad(*entries: tuple[str, int, str]) -> Rows:
    return Rows.of(
        {
            "stream": strings(["weather"] * len(entries)),
            "file": strings([file for file, _, _ in entries]),
            "line": Column.of(ColumnType.BIGINT, [line for _, line, _ in entries]),
            "reason": strings([reason for _, _, reason in entries]),
            "text": strings([""] * len(entries)),
        }
    )


def test_the_summary_adds_up_and_names_the_first_queries():
    summary = Summary([f"q{number}" for number in range(12)])
    summary.take(RunReport(answers=(answered(q0=3, q1=1), answered(q2=5)), seen=1_500, files=1))
    summary.take(
        RunReport(answers=(answered(**{f"q{number}": 1 for number in range(3, 11)}),), seen=500, files=1)
    )
    summary.take(
        RunReport(
            late={"weather": answered(x=7)},
            counts={"limit_cuts": 2, "held:weather": 9, "repeated:weather": 4},
        )
    )
    summary.take(RunReport(counts={"limit_cuts": 1, "held:weather": 1}))
    first, *others = summary.lines()
    assert first.startswith("read      2,000 rows in 2 files, 0.")
    assert others == [
        "answers   17: q2 5, q0 3, q1 1, q3 1, q4 1, q5 1, q6 1, q7 1, 3 more queries 3, none of q11",
        "late      7 rows: weather 7",
        "limit     LIMIT left answers out at 3 rows",
        "repeated  4 rows left out by DEDUPLICATE",
        "waiting   1 row held: dated far ahead, or the first few of an input",
    ]
    assert not summary.all_refused


def test_bad_rows_are_reported_by_reason_with_the_first_of_each():
    summary = Summary([])
    summary.take(RunReport(bad=bad(("a.csv", 7, "bad-time: x"), ("a.csv", 8, "bad-number: y")), seen=5))
    summary.take(RunReport(bad=bad(("b.csv", 0, "empty-file: nothing"), ("b.csv", 9, "bad-time: z")), seen=2))
    assert summary.lines()[2:] == [
        "unusable  1 file could not be used",
        "          empty-file 1, first b.csv: nothing",
        "bad       3 rows",
        "          bad-time 2, first a.csv:7: x",
        "          bad-number 1, first a.csv:8: y",
    ]


def test_a_full_buffer_says_what_it_lost_and_what_may_be_the_cause():
    text = """
    CREATE STREAM cars (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE);
    CREATE QUERY near AS SELECT * FROM cars SUPPRESS (x TOLERANCE 1 HEARTBEAT 9 SECONDS) PREDICT (
      PAIRS a, b WHERE ABS(a.x - b.x) <= 5 WITHIN 0 SECONDS BUFFER 5);
    CREATE QUERY wide AS SELECT * FROM cars SUPPRESS (x TOLERANCE 1 HEARTBEAT 9 SECONDS) PREDICT (x > 5 BUFFER 5000);
    CREATE QUERY all_of_it AS SELECT * FROM cars SUPPRESS (x TOLERANCE 1 HEARTBEAT 9 SECONDS) PREDICT (x > 5);
    """
    summary = Summary(["near"], plan=compile_text(text))
    summary.take(RunReport(counts={"updates_given_up:near": 1_203, "seconds_given_up:near": 40}))
    summary.take(RunReport(counts={"updates_given_up:wide": 1, "updates_given_up:all_of_it": 0}))
    assert summary.lines()[2:] == [
        "buffer    near: 1,203 updates given up with BUFFER 5; other lines of the same sensors replace 40 s of them, "
        "and nothing replaces the rest",
        "buffer    wide: 1 update given up with BUFFER 5,000; other lines of the same sensors replace 0 s of them, "
        "and nothing replaces the rest",
        "          all sensors of a stream share a BUFFER: sensors for which there is no room are not predicted, "
        "and a larger BUFFER gives up fewer updates",
    ]


def test_events_that_are_followed_count_for_each_query_that_reads_them():
    summary = Summary(["near"])
    counts = {"interests": 2, "locations": 1, "events_live": 6, "events_historical": 1, "answers_repeated": 1}
    summary.take(RunReport(counts={f"{what}:near": many for what, many in counts.items()}))
    summary.take(RunReport(counts={"saved_points:near": 3, "events_cut:near": 4}))
    assert summary.lines()[2:] == [
        "followed  near: 2 interests from 1 location update, 6 current and 1 historical events passed on, "
        "counted for each query that reads them; 1 answer not repeated",
        "          not passed on: 3 before the windows of a query",
        "          BEST EFFORT left out 4 older events",
    ]


def test_a_store_says_how_many_events_it_held_at_most_in_any_zone_and_batch():
    text = """
    CREATE STREAM cars (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
    CREATE STREAM trucks (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, load DOUBLE, PLACE (x, y));
    CREATE QUERY near AS SELECT * FROM cars FOLLOW (cars RADIUS 5 LAST 1 MINUTE);
    CREATE QUERY crowd AS SELECT * FROM near CORRELATE (3 OF x >= 0 WITHIN 10 SECONDS);
    CREATE QUERY longer AS SELECT * FROM cars FOLLOW (cars RADIUS 9 LAST 2 MINUTES);
    CREATE QUERY fast AS SELECT * FROM cars WHERE x > 9 FOLLOW (cars RADIUS 5 UPDATE QUALITY 0.5, 0.5 OVER 3 MINUTES);
    CREATE QUERY live AS SELECT * FROM cars FOLLOW (trucks RADIUS 5);
    CREATE QUERY both AS SELECT * FROM cars, trucks FOLLOW (trucks RADIUS 5 LAST 4 MINUTES);
    """
    plan = compile_text(text)
    stores = stores_of(plan)
    assert [(store.source, store.queries) for store in stores] == [
        ("cars", ("near", "longer", "fast", "live", "both")),
        ("trucks", ("both",)),
    ]
    assert [store.event_bytes for store in stores] == [6 + 4 * 8, 6 + 5 * 8]
    assert [store.history_us // SECOND for store in stores] == [240, 240]
    summary = Summary(["near"], plan=plan)
    for many, span_us in ((40, 9 * SECOND), (1_000, 100 * SECOND), (7, 119 * SECOND)):
        summary.take(RunReport(counts={"most_stored:cars": many, "most_stored_us:cars": span_us}))
    summary.take(RunReport(counts={"most_stored:trucks": 3, "most_stored_us:trucks": 2 * SECOND}))
    assert summary.lines()[2:] == [
        "stored    cars: at most 1,000 events at once, 38 KB, of 119.0 s; the query needs the last 4 minutes",
        "stored    trucks: at most 3 events at once, 138 bytes, of 2.0 s; the query needs the last 4 minutes",
    ]


WEATHER = StreamSchema(
    "weather", (("station", ColumnType.STRING), ("at", ColumnType.TIMESTAMP)), time="at", late_us=10_000_000
)
LATE = Rows.of({"station": strings(["a"]), "at": Column.of(ColumnType.TIMESTAMP, [5_000_000])})


def test_late_rows_say_when_why_and_what():
    assert late_rows(WEATHER, LATE).tolist() == [
        {
            "stream": "weather",
            "time": 5_000_000,
            "reason": "late: more than 10 SECONDS behind",
            "row": '{"station": "a", "at": "1970-01-01T00:00:05Z"}',
        }
    ]


def test_reports_of_spark_read_like_those_of_the_loop():
    plan = compile_text(
        "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, t DOUBLE);"
        "CREATE QUERY cold AS SELECT station, t FROM weather WHERE t < 0;"
    )
    answer = (
        '{"query": "cold", "event_time": "1970-01-01T00:00:05Z", "match_id": "%s", "station": "a", "t": -1.0}'
        % ("0" * 32)
    )
    wrong = bad(("a.csv", 7, "bad-time: x"))
    rows = [
        ("answer", "cold", answer, None),
        ("late", "weather", json_lines(LATE)[0].as_py(), None),
        ("bad", "weather", json_lines(wrong)[0].as_py(), None),
        ("given_up", "weather", '{"station": "b"}', None),
        ("count", "rows", None, 40),
        ("count", "rows", None, 2),
        ("count", "limit_cuts", None, 3),
    ]
    names = ("kind", "name", "body", "amount")
    types = (pa.string(), pa.string(), pa.string(), pa.int64())
    columns = zip(names, types, zip(*rows, strict=True), strict=True)
    report = report_from_table(
        plan, pa.table({name: pa.array(values, kind) for name, kind, values in columns})
    )
    assert [block.tolist() for block in report.answers] == [
        [{"query": "cold", "event_time": 5_000_000, "match_id": "0" * 32, "station": "a", "t": -1.0}]
    ]
    assert report.answers[0].types == answer_types(plan, "cold")
    assert report.late["weather"]["at"].tolist() == [5_000_000]
    assert report.bad.types == dict(BAD_TYPES)
    assert [(row["file"], row["reason"].split(":")[0]) for row in report.bad.tolist()] == [
        ("a.csv", "bad-time"),
        ("", "far-ahead"),
    ]
    assert (report.seen, report.counts) == (42, {"limit_cuts": 3})


def test_what_is_stored_now_is_reported_the_largest_first():
    summary = Summary([])
    summary.take(RunReport(state={"frost": StateSize(9, 9, 9, 9)}))
    summary.take(
        RunReport(state={"frost": StateSize(1_500, 20, 3, SECOND), "fire": StateSize(12_000_000, 0, 7)})
    )
    summary.take(RunReport())
    assert summary.lines()[-2:] == [
        "state     fire: 12 MB, 7 keys",
        "state     frost: 1.5 KB, 20 rows, 3 keys, the oldest of 1970-01-01T00:00:01Z",
    ]


def test_metrics_are_one_object_that_is_replaced(tmp_path):
    summary = Summary(["frost"])
    file = tmp_path / "metrics.json"
    for batch in (6, 7):
        state = {"frost": StateSize(1_500, 20, 3, SECOND), "fire": StateSize(8, 0, 1)}
        summary.take(RunReport(answers=(answered(frost=2),), seen=10, state=state))
        write_metrics(file, summary, batch)
    metrics = json.loads(file.read_text())
    assert metrics.pop("written").endswith("Z")
    assert metrics == {
        "batch": 7,
        "rows": 20,
        "answers": {"frost": 4},
        "late": {},
        "bad": {},
        "unusable": {},
        "changed": {},
        "counts": {},
        "state": {
            "frost": {"bytes": 1_500, "rows": 20, "keys": 3, "oldest": "1970-01-01T00:00:01Z"},
            "fire": {"bytes": 8, "rows": 0, "keys": 1, "oldest": None},
        },
    }
