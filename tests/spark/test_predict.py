"""SUPPRESS and PREDICT on Spark: every host says what the plain loop says, time alone brings answers, lines outlive a change.

Lines and pairs of moving objects: pairs that every zone has a share of, values spread by their key, a buffer in one zone.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import headwater as hw
from headwater.apps.cli import main
from headwater.hosts.files import json_lines
from headwater.hosts.local import run_local, stream_local
from headwater.hosts.spark import session
from headwater.hosts.zone import Arrivals, Program, Unit, clusters_of, fetch_from, load_zone, save_zone
from headwater.hosts.zone.store import SavedZone
from headwater.model import SECOND, Instant, Rows, format_instant, parse_instant
from headwater.query.planning.plan import Plan, compile_text
from headwater_lab.workloads.moving_objects import START, make_movers
from tests.spark.movers import LINES, MOTION, NEAR, STREAMS, arriving, drive, quiet_time, write_parts
from tests.spark.test_runs import bounded, followed
from tests.spark.valley import read_answers, write_jsonl

PARTS = 3
ZONES = 4
COLUMNS = "id long, at timestamp, x double, y double"

NAMED = f"""
CREATE QUERY sent AS SELECT * FROM cars {LINES};
CREATE QUERY beating AS SELECT id, x, y FROM sent WHERE reason = 'heartbeat';
CREATE QUERY east AS SELECT * FROM sent PREDICT (x > 1200 MUST);
CREATE QUERY near AS SELECT a_key, a_time, b_key, b_time, begins, ends, polygon FROM sent PREDICT ({NEAR});
CREATE QUERY short AS SELECT a_key, b_key, begins FROM near WHERE ends - begins < 5 SECONDS;
"""
CHAINS = f"""
CREATE QUERY perhaps AS SELECT * FROM cars {LINES} PREDICT ({NEAR} MAY);
CREATE QUERY tentative AS SELECT * FROM cars {LINES} PREDICT ({NEAR} TENTATIVE);
CREATE QUERY soon AS SELECT * FROM cars {LINES} PREDICT ({NEAR} PROBABILITY >= 0.5 TENTATIVE AHEAD 5 SECONDS);
CREATE QUERY each_second AS SELECT * FROM cars {LINES} PREDICT (
  PAIRS a, b WHERE DISTANCE(a, b) <= 100 WITHIN 0 SECONDS VALIDATED EVERY 1 SECOND);
CREATE QUERY north AS SELECT * FROM cars WHERE id > 3
  SUPPRESS (y TOLERANCE 5 METERS HEARTBEAT 20 SECONDS USING LEAST SQUARES 3) PREDICT (y > 1200);
CREATE QUERY boarding AS SELECT * FROM cars, buses {LINES} PREDICT ({NEAR});
CREATE QUERY few AS SELECT * FROM cars {LINES} PREDICT ({NEAR} BUFFER 45);
"""
EVERYTHING = STREAMS + NAMED + CHAINS
EMITTED = {
    "sent", "beating", "east", "near", "short", "perhaps", "tentative", "soon", "each_second", "north", "boarding", "few",
}  # fmt: skip

UPDATES = """
CREATE STREAM updates (
  id BIGINT KEY, event_time TIMESTAMP TIME,
  x DOUBLE, y DOUBLE, x_slope DOUBLE, y_slope DOUBLE, tolerance DOUBLE, heartbeat DOUBLE
);
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Files that come a little out of order, and behind them time in which nothing is measured."""
    folder = tmp_path_factory.mktemp("movers")
    for seed, (name, objects) in enumerate({"cars": 40, "buses": 8}.items(), 1):
        write_parts(folder / name, [*arriving(drive(objects, seed), PARTS, seed), quiet_time()])
    return {name: [str(folder / name)] for name in ("cars", "buses")}


@pytest.fixture(scope="module")
def expected(inputs: dict[str, list[str]]) -> list[str]:
    """What the plain loop answers."""
    return on_local(EVERYTHING, inputs)


class TestAgreement:
    def test_the_stream_has_enough_rows_of_each_kind(self, expected, inputs) -> None:
        """All queries answer; pairs are shared, single values spread, and a buffer is full in one zone."""
        answers = [json.loads(line) for line in expected]
        assert {answer["query"] for answer in answers} == EMITTED
        assert min(Counter(answer["query"] for answer in answers).values()) > 5
        assert any(answer["withdrawn"] for answer in answers if answer["query"] == "tentative")
        plan = compile_text(EVERYTHING, zones=ZONES)
        shared = {query.name for query in plan.public_queries if query.shared}
        assert shared == EMITTED - {"north", "few"}
        assert plan.query("north").spread == ("id",)
        outputs = run_local(compile_text(EVERYTHING), inputs)
        assert sum(part.counts.get("updates_given_up:few", 0) for part in outputs) > 100

    def test_the_plain_loop_says_the_same_file_by_file(self, expected, inputs) -> None:
        """Without an end of the input: the quiet time behind it brings everything."""
        files = {name: sorted(Path(folder).iterdir()) for name, (folder,) in inputs.items()}
        arrivals = [(name, str(files[name][n])) for n in range(PARTS + 1) for name in files]
        outputs = list(stream_local(compile_text(EVERYTHING), arrivals, end=False))
        assert not any(part.late for part in outputs)
        assert lines(rows for part in outputs for rows in part.answers) == expected

    def test_files_as_a_batch_and_as_a_stream(self, spark, expected, inputs, tmp_path) -> None:
        batch = bounded(spark, EVERYTHING, inputs, zones=ZONES)
        assert {kind for kind, *_ in batch} == {"answer"}
        assert same_lines(body for *_, body in batch) == expected
        stream = followed(spark, EVERYTHING, inputs, tmp_path / "c", zones=ZONES, once=True)
        assert stream == batch

    def test_static_frames(self, spark, expected, inputs) -> None:
        frames = {name: spark.read.schema(COLUMNS).json(folder) for name, (folder,) in inputs.items()}
        answers = hw.run(EVERYTHING, frames, zones=ZONES)
        assert same_lines(row.answer for row in answers.all().df.collect()) == expected
        assert [
            f"{field.name} {field.dataType.simpleString()}" for field in answers["tentative"].df.schema.fields
        ] == [
            "query string",
            "event_time timestamp",
            "match_id string",
            "a_key bigint",
            "a_time timestamp",
            "b_key bigint",
            "b_time timestamp",
            "begins timestamp",
            "ends timestamp",
            "probability double",
            "withdrawn boolean",
        ]

    def test_streaming_frames(self, spark, expected, inputs, tmp_path) -> None:
        frames = {
            name: spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(folder)
            for name, (folder,) in inputs.items()
        }
        query = hw.run(EVERYTHING, frames, zones=ZONES).write(
            tmp_path / "out",
            checkpoint=tmp_path / "c",
            late=tmp_path / "late",
            trigger={"availableNow": True},
        )
        assert query is not None
        query.awaitTermination()
        assert not list((tmp_path / "late").glob("*.jsonl"))
        written = [
            line for file in (tmp_path / "out").glob("*.jsonl") for line in file.read_text().splitlines()
        ]
        assert same_lines(written) == expected


def questions(source: str) -> str:
    """Questions about lines, wherever they come from."""
    return f"""
CREATE QUERY east AS SELECT * FROM {source} PREDICT (x > 1200 MUST);
CREATE QUERY near AS SELECT * FROM {source} PREDICT ({NEAR} MAY);
CREATE QUERY seen AS SELECT * FROM {source} PREDICT ({NEAR} TENTATIVE);
"""


@pytest.fixture(scope="module")
def chained(inputs: dict[str, list[str]]) -> list[str]:
    """What is answered to lines that were just sent."""
    outputs = on_local(STREAMS + questions(f"cars {LINES}"), inputs)
    assert {json.loads(line)["query"] for line in outputs} == {"east", "near", "seen"}
    return without_ids(outputs)


class TestStoredUpdates:
    """Updates that were written to a file are answered as if they had just been sent."""

    @pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
    def test_updates_from_a_file(self, chained, inputs, tmp_path, ending: str) -> None:
        stored = store_updates(tmp_path, inputs, ending)
        outputs = on_local(UPDATES + questions("updates"), {"updates": [str(stored)]})
        assert without_ids(outputs) == chained

    def test_updates_from_a_file_on_spark(self, spark, chained, inputs, tmp_path) -> None:
        stored = store_updates(tmp_path, inputs, "parquet")
        outputs = bounded(spark, UPDATES + questions("updates"), {"updates": [str(stored)]}, zones=ZONES)
        assert without_ids(body for *_, body in outputs) == chained


def store_updates(folder: Path, inputs: Mapping[str, list[str]], ending: str) -> Path:
    (folder / "sent.hw").write_text(STREAMS + f"CREATE QUERY sent AS SELECT * FROM cars {LINES};")
    stored = folder / f"updates.{ending}"
    given = ["--input", f"cars={inputs['cars'][0]}", "--output", str(stored)]
    assert main(["run", str(folder / "sent.hw"), "--engine", "local", "--quiet", *given]) == 0
    return stored


class TestTicks:
    """Two cars on a road, forty or sixty metres apart when the only file ends, come within ten of one another by time alone."""

    TEXT = """
CREATE STREAM cars (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE);
CREATE QUERY soon AS SELECT * FROM cars SUPPRESS (x TOLERANCE 1 HEARTBEAT 30 SECONDS) PREDICT (
  PAIRS a, b WHERE ABS(a.x - b.x) <= 10 WITHIN 0 SECONDS TENTATIVE AHEAD 1 SECOND);
CREATE QUERY met AS SELECT * FROM cars SUPPRESS (x TOLERANCE 1 HEARTBEAT 30 SECONDS) PREDICT (
  PAIRS a, b WHERE ABS(a.x - b.x) <= 10 WITHIN 0 SECONDS);
"""

    @pytest.mark.parametrize(
        "reports", [pytest.param(3, id="six rows"), pytest.param(2, id="four rows, believed after silence")]
    )
    def test_an_answer_begins_and_ends_without_new_files(self, spark, tmp_path, monkeypatch, reports) -> None:
        """The command itself, until Ctrl-C, on the Spark that is there already: starting another takes longest of all."""
        #  seconds      0     1     2     3     4     5
        #  file         [-----------]                       or only [-----]
        #  apart (m)    80    60    40    20    0   …       within 10 from 3.5 to 4.5
        #  told                        soon        met
        (tmp_path / "queries.hw").write_text(self.TEXT)
        road = [row for n in range(reports) for row in (at_x(1, n, 10.0 * n), at_x(2, n, 80.0 - 10.0 * n))]
        write_parts(tmp_path / "in", [road])
        out = tmp_path / "out"
        monkeypatch.setattr(session, "embedded_spark", lambda **_: nullcontext(spark))
        with interrupted_when(lambda: "met" in batches(out), within_s=240):
            code = main(
                [
                    "run", str(tmp_path / "queries.hw"), "--input", f"cars={tmp_path / 'in'}", "--follow", "--tick", "0.5",
                    "--quiet", "--checkpoint", str(tmp_path / "c"), "--output", str(out),
                ]
            )  # fmt: skip
        assert code == 0
        outputs = batches(out)
        assert set(outputs) == {"soon", "met"}
        assert 0 < outputs["soon"] <= outputs["met"], "neither comes with the file, which is the first batch"
        answers = {answer["query"]: answer for answer in read_answers(out)}
        assert len(read_answers(out)) == 2
        for name, event_time in (("soon", 2.5), ("met", 4.5)):
            answer = answers[name]
            assert (answer["a_key"], answer["b_key"], answer["withdrawn"]) == (1, 2, False)
            assert answer["event_time"] == second(event_time)
            assert (answer["begins"], answer["ends"]) == (second(3.5), second(4.5))


@contextmanager
def interrupted_when(happened: Callable[[], bool], *, within_s: float) -> Iterator[None]:
    """Ctrl-C once something has happened, or too much time has passed."""
    left = Event()

    def watch() -> None:
        deadline = time.monotonic() + within_s
        while not left.wait(0.1):
            if happened() or time.monotonic() > deadline:
                os.kill(os.getpid(), signal.SIGINT)
                return

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        watcher.join()


def at_x(car: int, after_s: float, x: float) -> dict[str, Any]:
    return {"id": car, "at": second(after_s), "x": x}


def second(number: float) -> str:
    return format_instant(START + int(number * SECOND))


def batches(folder: Path) -> dict[str, int]:
    """The first batch in which each query answered."""
    found: dict[str, int] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            found.setdefault(json.loads(line)["query"], int(file.stem.rsplit("-", 1)[1]))
    return found


WIDE = NEAR.replace("<= 100", "<= 200")
STAY = f"""
CREATE QUERY sent AS SELECT * FROM cars {LINES};
CREATE QUERY near AS SELECT * FROM sent PREDICT ({NEAR});
CREATE QUERY alone AS SELECT * FROM cars {LINES} PREDICT ({NEAR} TENTATIVE);
CREATE QUERY boarding AS SELECT * FROM cars, buses {LINES} PREDICT ({NEAR});
"""
BEFORE = f"""
CREATE QUERY changed AS SELECT * FROM sent PREDICT ({NEAR} MAY);
CREATE QUERY dropped AS SELECT * FROM cars {LINES} PREDICT ({WIDE});
CREATE QUERY dropped_too AS SELECT * FROM sent PREDICT ({WIDE} EVERY 1 SECOND);
"""
READERS_AFTER = f"""
CREATE QUERY changed AS SELECT * FROM sent PREDICT ({WIDE} MAY);
CREATE QUERY added AS SELECT * FROM sent PREDICT ({NEAR} TENTATIVE);
CREATE QUERY added_east AS SELECT * FROM sent PREDICT (x > 1200);
"""
CHAIN_AFTER = f"CREATE QUERY added_chain AS SELECT * FROM cars {LINES} PREDICT ({WIDE});"


@dataclass(frozen=True, slots=True)
class Change:
    """What was told before the queries changed and after it, the files, and how far time had come."""

    first: list[str]
    second: list[str]
    inputs: Mapping[str, list[str]]
    reached: Instant


@pytest.fixture(scope="module")
def change(spark, tmp_path_factory: pytest.TempPathFactory) -> Change:
    folder = tmp_path_factory.mktemp("change")
    parts = {
        name: arriving(drive(objects, seed), 4, seed)
        for seed, (name, objects) in enumerate({"cars": 40, "buses": 8}.items(), 1)
    }
    inputs = {name: [str(write_parts(folder / name, parts[name][:2]))] for name in parts}
    first = followed(spark, STREAMS + STAY + BEFORE, inputs, folder / "c", zones=ZONES, once=True)
    for name in parts:
        write_parts(folder / name, [*parts[name][2:], quiet_time()], first=2)
    changed = STREAMS + CHAIN_AFTER + READERS_AFTER + STAY
    second = followed(spark, changed, inputs, folder / "c", zones=ZONES, once=True)
    assert {kind for kind, *_ in first + second} == {"answer"}
    return Change(
        [body for *_, body in first],
        [body for *_, body in second],
        inputs,
        max(parse_instant(row["at"]) for part in parts["cars"][:2] for row in part),
    )


class TestChanges:
    """Queries come, change and go between two starts on one checkpoint; the others keep their lines."""

    def test_those_that_stay_keep_their_lines_and_their_pairs(self, change: Change) -> None:
        undisturbed = on_local(STREAMS + STAY, change.inputs)
        assert of(change.first + change.second, "sent", "near", "alone", "boarding") == undisturbed
        for name in ("near", "alone", "boarding"):
            across = [
                answer
                for answer in map(json.loads, of(change.second, name))
                if parse_instant(answer["a_time"]) < change.reached < parse_instant(answer["event_time"])
            ]
            assert across, f"no pair of '{name}' was pending when the queries changed"

    def test_those_that_come_or_change_see_the_updates_that_come(self, change: Change, tmp_path) -> None:
        """And those of the SUPPRESS that stayed: it goes on with the lines it had sent."""
        assert of(change.first, "changed", "dropped", "dropped_too")
        assert not of(change.second, "dropped", "dropped_too")
        sent = [json.loads(line) for line in of(change.second, "sent")]
        later = [update for update in sent if parse_instant(update["event_time"]) > change.reached]
        write_jsonl(tmp_path / "0.jsonl", later)
        text = UPDATES + READERS_AFTER.replace("FROM sent", "FROM updates")
        right = on_local(text, {"updates": [str(tmp_path)]})
        assert {json.loads(line)["query"] for line in right} == {"changed", "added", "added_east"}
        assert without_ids(of(change.second, "changed", "added", "added_east")) == without_ids(right)

    def test_a_chain_that_comes_sees_the_readings_that_come(self, change: Change, tmp_path) -> None:
        (folder,) = change.inputs["cars"]
        rows = [json.loads(line) for file in Path(folder).iterdir() for line in file.open()]
        write_jsonl(tmp_path / "0.jsonl", [row for row in rows if parse_instant(row["at"]) > change.reached])
        right = on_local(STREAMS + CHAIN_AFTER, {"cars": [str(tmp_path)]})
        assert right
        assert of(change.second, "added_chain") == right


SPREAD = f"""
CREATE QUERY sent AS SELECT * FROM cars {LINES};
CREATE QUERY east AS SELECT * FROM sent PREDICT (x > 1200 TENTATIVE);
"""
SHARED = SPREAD + f"CREATE QUERY near AS SELECT * FROM sent PREDICT ({NEAR});"
WHOLE = f"""{SHARED}
CREATE QUERY twice AS SELECT * FROM near MATCH_RECOGNIZE (
  PATTERN (A B) WITHIN 1 MINUTE DEFINE B AS B.a_key = A.a_key AND B.b_key = A.b_key);
"""


@pytest.mark.parametrize(
    ("before", "after"), [(SPREAD, SHARED), (SHARED, SPREAD), (SHARED, WHOLE), (WHOLE, SHARED)]
)
def test_lines_that_live_elsewhere_after_a_change_begin_anew_and_say_nothing_wrong(
    before: str, after: str
) -> None:
    """What a SUPPRESS is read by decides where it lives: each zone its sensors, each zone all of them, one zone."""
    cars = make_movers(40, 90, seed=1, motion=MOTION).samples(3 * SECOND).rows()
    border = cars.count // 2
    reached = int(cars["at"].values[border - 1])
    states = step_zones(
        compile_text(STREAMS + before, zones=ZONES), [None] * ZONES, cars.take(slice(border))
    )[0]
    plan = compile_text(STREAMS + after, zones=ZONES)
    _, outputs = step_zones(plan, states, cars.take(slice(border, None)), end=True)
    later = cars.take(cars["at"].values > reached)
    assert outputs == step_zones(compile_text(STREAMS + after), [None], later, end=True)[1]
    assert {json.loads(line)["query"] for line in outputs} == {query.name for query in plan.public_queries}


def step_zones(
    plan: Plan, saved: Sequence[SavedZone | None], rows: Rows, *, end: bool = False
) -> tuple[list[SavedZone], list[str]]:
    """The zones of a plan, gone on from what was saved, with rows that come in two arrivals; saved again, and what they tell."""
    states, blocks = [], []
    cut = rows.count // 2
    for zone in range(plan.zones):
        program, state = Program(plan, zone), saved[zone]
        now = load_zone(program, state.head, fetch_from(state.cells())) if state else program.start()
        for number, part in enumerate((rows.take(slice(cut)), rows.take(slice(cut, None)))):
            rows_of_zone = part.take(plan.routing("cars")(part)[zone])
            unit = Unit("cars", number, 0, clusters_of(part["at"].values), rows_of_zone)
            now, output = program.step(now, Arrivals({"cars": [unit]}, end=end and number == 1))
            blocks += output.answers
        states.append(save_zone(program, now))
    return states, lines(blocks)


def on_local(text: str, inputs: Mapping[str, list[str]]) -> list[str]:
    return lines(rows for outputs in run_local(compile_text(text), inputs) for rows in outputs.answers)


def lines(blocks: Iterable[Any]) -> list[str]:
    return same_lines(line for rows in blocks for line in json_lines(rows).to_pylist())


def same_lines(bodies: Iterable[str]) -> list[str]:
    """Answers as text that does not depend on spaces; a tentative answer and its end have one match_id."""
    return sorted(json.dumps(json.loads(body)) for body in bodies)


def of(bodies: Iterable[str], *names: str) -> list[str]:
    return [line for line in same_lines(bodies) if json.loads(line)["query"] in names]


def without_ids(bodies: Iterable[str]) -> list[str]:
    """What is left when sources of other names may answer."""
    answers = ({**json.loads(body), "match_id": None} for body in bodies)
    return sorted(json.dumps(answer) for answer in answers)
