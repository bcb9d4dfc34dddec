from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import headwater.hosts.local
from headwater.apps.cli import main
from headwater.hosts.local import RunReport

QUERIES = """
CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);
CREATE STREAM traffic (car STRING KEY, at TIMESTAMP TIME);
CREATE QUERY cold AS SELECT station, temperature FROM weather WHERE temperature < 0;
CREATE QUERY hot AS SELECT station FROM weather WHERE temperature > 30;
"""
READINGS = "station,at,temperature\na,2026-01-31T06:00:00Z,-1.5\nb,2026-01-31T06:00:01Z,3\nc,soon,1\nd,2026-01-31T06:00:02Z,warm\ne,,2\nf,later,2\n"


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alerts.hw").write_text(QUERIES)
    (tmp_path / "readings.csv").write_text(READINGS)
    return tmp_path


def run(*more: str) -> int:
    return main(["run", "alerts.hw", "--engine", "local", *more])


def test_answers_are_json_lines_and_the_summary_loses_nothing(place, capfd):
    assert run("--input", "weather=readings.csv") == 0
    out, err = capfd.readouterr()
    (answer,) = [json.loads(line) for line in out.splitlines()]
    assert list(answer) == ["query", "event_time", "match_id", "station", "temperature"]
    assert re.fullmatch("[0-9a-f]{32}", answer.pop("match_id"))
    assert answer == {
        "query": "cold",
        "event_time": "2026-01-31T06:00:00Z",
        "station": "a",
        "temperature": -1.5,
    }
    first, *others = err.splitlines()
    assert re.fullmatch(r"read      6 rows in 1 file, \d+\.\d s, [\d,]+ rows/s", first)
    assert others == [
        "answers   1: cold 1, none of hot",
        "bad       4 rows",
        "          bad-time 2, first readings.csv:4: 'soon' is not a timestamp (column 'at')",
        "          bad-number 1, first readings.csv:5: 'warm' is not a number (column 'temperature')",
        "          missing-time 1, first readings.csv:6: column 'at' is empty",
    ]


def test_outputs_go_to_files_in_the_format_of_their_names(place, capfd):
    assert (
        run("--input", "weather=readings.csv", "--output", "answers.parquet", "--bad-output", "bad.jsonl")
        == 0
    )
    assert capfd.readouterr().out == ""
    table = pq.read_table("answers.parquet")
    assert table.column_names == ["query", "event_time", "match_id", "station", "temperature"]
    assert table["station"].to_pylist() == ["a"]
    bad = [json.loads(line) for line in Path("bad.jsonl").read_text().splitlines()]
    assert bad[0] == {
        "stream": "weather",
        "file": "readings.csv",
        "line": 4,
        "reason": "bad-time: 'soon' is not a timestamp (column 'at')",
        "text": "c,soon,1",
    }
    assert [entry["line"] for entry in bad] == [4, 5, 6, 7]
    assert sorted(item.name for item in place.iterdir()) == [
        "alerts.hw",
        "answers.parquet",
        "bad.jsonl",
        "readings.csv",
    ]


def test_a_late_output_is_there_even_if_nothing_is_late(place):
    assert run("--input", "weather=readings.csv", "--late-output", "late.csv", "--quiet") == 0
    assert Path("late.csv").read_text() == "stream,time,reason,row\n"


def test_the_same_stream_may_have_several_inputs(place, capfd):
    Path("more.jsonl").write_text('{"station": "x", "at": "2026-01-31T05:00:00Z", "temperature": -3}\n')
    assert run("--input", "weather=readings.csv", "--input", "weather=more.jsonl", "--quiet") == 0
    out, err = capfd.readouterr()
    assert [json.loads(line)["station"] for line in out.splitlines()] == ["x", "a"]
    assert err == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--input", "wether=x.csv"], "error[unknown-stream]: --input: there is no stream named 'wether'\n  known streams: weather, traffic\n  did you mean 'weather'?\n"),
        (["--input", "traffic=x.csv"], "error[no-input]: no --input for stream 'weather'\n  add --input weather=PATH\n"),
        (["--input", "weather"], "error[usage]: --input takes NAME=PATH, not 'weather'\n"),
        (["--input", "weather=x", "--checkpoint", "d"], "error[usage]: --checkpoint is for --follow: a bounded run stores nothing\n"),
        (["--input", "weather=x", "--follow"], "error[checkpoint-missing]: --follow needs --checkpoint DIR, so that a restart continues where it stopped\n"),
        (["--input", "weather=x", "--once"], "error[usage]: --once and --files-per-batch are for --follow\n"),
        (["--input", "weather=x", "--follow", "--checkpoint", "d"], "error[usage]: --follow runs on Spark: leave --engine local out\n"),
    ],
)  # fmt: skip
def test_a_command_line_that_makes_no_sense_is_exit_code_2(place, capfd, more, message):
    assert run(*more) == 2
    assert capfd.readouterr() == ("", message)


def test_an_input_is_needed(place, capfd):
    assert run() == 2
    assert "error[usage]: 'headwater run' needs --input" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--input", "weather=reading.csv"], "error[missing-input]: there is no file or folder 'reading.csv'\n  did you mean 'readings.csv'?\n"),
        (["--input", "weather=empty"], "error[no-files]: there are no files in 'empty'\n"),
        (["--input", "weather=readings.csv", "--output", "a.xml"], "error[unknown-format]: the format to write is not known for 'a.xml'\n  the name must end with .jsonl, .csv or .parquet\n"),
        (["--input", "weather=readings.csv", "--output", "no/a.csv"], "error[missing-folder]: there is no folder 'no' to write 'a.csv' to\n"),
    ],
)  # fmt: skip
def test_data_that_is_refused_is_exit_code_1(place, capfd, more, message):
    (place / "empty").mkdir()
    assert run(*more) == 1
    assert capfd.readouterr() == ("", message)


def test_input_of_which_nothing_can_be_used_is_exit_code_1(place, capfd):
    Path("readings.csv").write_text("station,at,temperature\na,soon,1\n")
    assert run("--input", "weather=readings.csv") == 1
    assert capfd.readouterr().err.splitlines()[-2] == "bad       1 row"


def test_a_file_that_is_named_and_of_no_use_is_refused_before_the_run(place, capfd):
    Path("other.csv").write_text("station,at\na,1\n")
    Path("empty.csv").write_text("")
    words = [
        "--input",
        "weather=readings.csv",
        "--input",
        "weather=other.csv",
        "--input",
        "weather=empty.csv",
    ]
    Path("answers.jsonl").write_text("those of the last run\n")
    assert run(*words, "--output", "answers.jsonl") == 1
    assert capfd.readouterr() == (
        "",
        "error[unusable-file]: 'other.csv' cannot be used: no column 'temperature'; the header has station, at\n"
        "  'empty.csv' cannot be used: the file is empty, without a header\n",
    )
    assert Path("answers.jsonl").read_text() == "those of the last run\n"


def test_a_file_of_no_use_in_a_folder_is_counted_as_a_file(place, capfd):
    Path("in").mkdir()
    Path("in/a.csv").write_text("station,Temperature\n" + "a,1\n" * 500)
    assert run("--input", "weather=in", "--bad-output", "bad.jsonl") == 1
    first, *others = capfd.readouterr().err.splitlines()
    assert first.startswith("read      0 rows in 1 file, ")
    assert others == [
        "answers   0: none of cold, hot",
        "unusable  1 file could not be used",
        "          missing-column 1, first in/a.csv:1: no column 'at', nor 'temperature'; the header has station, Temperature",
    ]
    (bad,) = map(json.loads, Path("bad.jsonl").read_text().splitlines())
    assert (bad["file"], bad["line"], bad["text"]) == ("in/a.csv", 1, "station,Temperature")
    Path("in/b.csv").write_text(READINGS)
    assert run("--input", "weather=in") == 0
    assert "unusable  1 file could not be used\n" in capfd.readouterr().err


def test_queries_that_are_refused_are_exit_code_1_without_a_traceback(place, capfd):
    Path("alerts.hw").write_text("CREATE QUERY cold AS SELECT * FROM wether;")
    assert run("--input", "weather=readings.csv") == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "error[unknown-stream]" in err
    assert "alerts.hw:1:36" in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback(place, capfd):
    assert run("--input", "weather=none.csv", "--debug") == 1
    err = capfd.readouterr().err
    assert err.startswith("Traceback")
    assert err.splitlines()[-2] == "error[missing-input]: there is no file or folder 'none.csv'"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "error[missing-queries]: cannot read 'alerts.hw': No such file or directory\n"),
        (b"-- caf\xe9\n", "error[queries-not-text]: 'alerts.hw' is not UTF-8 text: byte 0xe9 in line 1\n  save it as UTF-8\n"),
    ],
)  # fmt: skip
def test_a_file_of_queries_that_cannot_be_read(place, capfd, content, message):
    Path("alerts.hw").unlink()
    if content is not None:
        Path("alerts.hw").write_bytes(content)
    assert run("--input", "weather=readings.csv") == 1
    assert capfd.readouterr().err == message


def test_an_interrupted_run_keeps_what_it_has_and_says_so(place, capfd, monkeypatch):
    telling = headwater.hosts.local.run_local

    def interrupted(plan, inputs):
        yield from telling(plan, inputs)
        raise KeyboardInterrupt

    monkeypatch.setattr(headwater.hosts.local, "run_local", interrupted)
    assert run("--input", "weather=readings.csv", "--output", "answers.csv") == 130
    assert (
        Path("answers.csv")
        .read_text()
        .startswith("query,event_time,match_id,station,temperature\ncold,2026-01-31T06:00:00Z,")
    )
    assert capfd.readouterr().err.startswith("interrupted: these are the results so far\nread      6 rows")


@pytest.mark.usefixtures("signals_end_us")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_ended_before_its_first_answer_keeps_the_older_output(place, capfd, monkeypatch, number):
    def ended(plan, inputs):
        yield RunReport(seen=6)
        signal.raise_signal(number)
        time.sleep(10)

    monkeypatch.setattr(headwater.hosts.local, "run_local", ended)
    Path("answers.csv").write_text("complete\n")
    before = signal.getsignal(signal.SIGTERM)
    assert run("--input", "weather=readings.csv", "--output", "answers.csv", "--bad-output", "b.csv") == 130
    assert Path("answers.csv").read_text() == "complete\n"
    assert sorted(item.name for item in place.iterdir()) == ["alerts.hw", "answers.csv", "readings.csv"]
    assert capfd.readouterr().err.startswith("interrupted: no answers yet, no file written\nread      6 rows")
    assert signal.getsignal(signal.SIGTERM) is before


def test_under_nohup_a_run_goes_on_when_the_terminal_is_closed(place, capfd, monkeypatch):
    telling = headwater.hosts.local.run_local

    def hung_up(plan, inputs):
        signal.raise_signal(signal.SIGHUP)
        yield from telling(plan, inputs)

    monkeypatch.setattr(headwater.hosts.local, "run_local", hung_up)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run("--input", "weather=readings.csv", "--output", "answers.csv") == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_that_fails_leaves_no_half_a_file(place, monkeypatch):
    def failing(plan, inputs):
        yield from ()
        raise RuntimeError("our own mistake")

    monkeypatch.setattr(headwater.hosts.local, "run_local", failing)
    with pytest.raises(RuntimeError, match="our own mistake"):
        run("--input", "weather=readings.csv", "--output", "answers.csv")
    assert sorted(item.name for item in place.iterdir()) == ["alerts.hw", "readings.csv"]


def test_a_reader_that_has_seen_enough_is_not_an_error(place):
    rows = "".join(f"a,{second},-1\n" for second in range(20_000))
    Path("readings.csv").write_text("station,at,temperature\n" + rows)
    command = [
        sys.executable,
        "-c",
        "from headwater.apps.cli import main; raise SystemExit(main())",
        "run",
        "alerts.hw",
    ]
    process = subprocess.Popen(
        [*command, "--engine", "local", "--input", "weather=readings.csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["query"] == "cold"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0
