"""The format of golden files itself: what a file says is what a case holds, and slips in a file are told."""

from __future__ import annotations

import pytest

from headwater.testing.cases import ExpectedError, InputFile
from tests.golden.case import (
    FOLDER,
    NotGolden,
    Start,
    lines_of,
    plain,
    read_case,
    repeated,
    table_of,
)

PATH = FOLDER / "some" / "thing.golden"

TEXT = """\
What it shows.

== queries
CREATE STREAM s (at TIMESTAMP TIME, a DOUBLE);
CREATE QUERY q AS SELECT * FROM s;

== rows s
at,a
00:00:01.5,1

== rows s
at,a
2027-01-01T00:00:00Z,
== rows s from north as jsonl
{"at": "00:00:01"}

== answers q when followed
event_time, a
00:00:01.5, 1.0

== answers q when bounded
event_time,           a
2027-01-01T00:00:00Z, NULL
00:00:01.5,           1

== late s
at,                   a
2027-01-01T00:00:00Z, NULL
"""


def test_a_case_holds_what_its_file_says():
    case = read_case(PATH, TEXT)
    assert (case.name, case.about) == ("some/thing", "What it shows.")
    assert case.text.splitlines()[1] == "CREATE QUERY q AS SELECT * FROM s;"
    assert case.files == (
        InputFile("s", "", 1, "at,a\n2026-01-01T00:00:01.500000Z,1\n"),
        InputFile("s", "", 2, "at,a\n2027-01-01T00:00:00Z,\n"),
        InputFile("s", "north", 1, '{"at": "00:00:01"}\n', "jsonl", as_written=True),
    )
    assert [file.name for file in case.files] == ["s-1.csv", "s-2.csv", "s-north-1.jsonl"]
    assert case.streams == ("s",)
    assert lines_of(case.followed.answers["q"]) == ["event_time=2026-01-01T00:00:01.500000Z, a=1"]
    assert lines_of(case.bounded.answers["q"]) == [
        "event_time=2026-01-01T00:00:01.500000Z, a=1",
        "event_time=2027-01-01T00:00:00Z, a=NULL",
    ]
    assert lines_of(case.followed.late["s"]) == ["at=2027-01-01T00:00:00Z, a=NULL"]
    assert case.bounded.late == {}


def test_errors_have_a_place_a_code_and_words():
    text = "No.\n== queries\nx\n== errors\n3:8 unknown-stream: there is no stream\nnowhere empty-script: no query\n"
    assert read_case(PATH, text).errors == (
        ExpectedError((3, 8), "unknown-stream", "there is no stream"),
        ExpectedError(None, "empty-script", "no query"),
    )


def test_rows_are_compared_in_one_form_and_any_order():
    table = read_case(PATH, TEXT).bounded.answers["q"]
    rows = [
        {"query": "q", "event_time": "2027-01-01T00:00:00Z", "match_id": "f00", "a": None},
        {"query": "q", "event_time": "2026-01-01T00:00:01.500000Z", "match_id": "f01", "a": 1.0},
    ]
    assert table_of(rows, table) == lines_of(table)
    assert table_of([{"query": "q", "match_id": "f", "x": True}], None) == ["x=true"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "true"),
        (3, "3"),
        (3.0, "3"),
        (-0.0, "0"),
        (0.1, "0.1"),
        ("s1", "s1"),
        ("3.50", "3.5"),
    ],
)
def test_values_have_one_plain_form(value: object, text: str):
    assert plain(value) == text


def test_whole_numbers_keep_all_their_digits():
    assert plain(2**53 + 1) == plain("9007199254740993") == "9007199254740993"


def test_what_is_there_twice():
    assert repeated(["a", "b", "a"]) == ["a"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("== queries\nx\n", "says nothing about what it shows"),
        ("No.\n", "has no queries"),
        ("No.\n== questions\nx\n", "is not a section of a test file"),
        ("No.\n== queries\nx\n== answers q when ready\na\n1\n", "is not written as this section is"),
        ("No.\n== queries\nx\n== late s when followed\na\n1\n", "is not written as this section is"),
        ("No.\n== queries\nx\n== answers q\na,b\n1\n", "the line has 1 cell, and the header 2 cells"),
        ("No.\n== queries\nx\n== answers q\na\n== answers q\na\n", "'q' has answers in line 4 already"),
        ("No.\n== queries\nx\n== errors\nunknown-stream\n", "is not 'line:column code: part of the message'"),
        (
            "No.\n== queries\nx\n== rows s\na\n== errors\n1:1 syntax: x\n",
            "a text that is refused has no answers",
        ),
        ("No.\n== queries\nx\n== queries\ny\n", "the case has queries already"),
        ("No.\n== restart\n== queries\nx\n", "has no queries"),
        ("No.\n== queries\nx\n== restart\n", "a restart with nothing behind it"),
        ("No.\n== queries\nx\n== restart\n\n== restart\n== rows s\na\n", "a restart with nothing behind it"),
        ("No.\n== queries\nx\n== restart q\n== rows s\na\n", "a restart says nothing itself"),
        ("No.\n== queries\nx\n== restart\ny\n== rows s\na\n", "a restart says nothing itself"),
        ("No.\n== queries\nx\n== answers q\na\n== restart\n== rows s\na\n", "of all starts: they come last"),
        (
            "No.\n== queries\nx\n== bad\nstream\ns\n== restart\n== rows s\na\n",
            "of all starts: they come last",
        ),
        (
            "No.\n== queries\nx\n== restart\n== rows s\na\n== answers q when bounded\na\n",
            "a run that is restarted is followed",
        ),
        (
            "No.\n== queries\nx\n== restart\n== queries\ny\n== errors\n1:1 syntax: x\n",
            "only a run that is followed can be restarted",
        ),
        (
            "No.\n== queries\nx\n== restart\n== queries\ny\n== command\nheadwater run\n",
            "only a run that is followed can be restarted",
        ),
    ],
)
def test_mistakes_are_reported(text: str, why: str):
    with pytest.raises(NotGolden, match=why):
        read_case(PATH, text)


def test_points_are_files_that_are_no_rows():
    text = TEXT + '\n== points marks\nname,v\na,1\n\n== points marks as jsonl\n{"name": "b", "v": 2}\n'
    case = read_case(PATH, text)
    assert case.files[3:] == (
        InputFile("marks", "", 1, "name,v\na,1\n", points=True),
        InputFile("marks", "", 2, '{"name": "b", "v": 2}', "jsonl", points=True, as_written=True),
    )
    assert case.streams == ("s",)


def test_after_a_restart_comes_what_is_new():
    text = (
        "What it shows.\n"
        "== queries\nx\n== points here\nname\na\n== points there\nname\nb\n== points there\nname\nc\n== rows s\nv\n1\n"
        "== restart\n== points there\nname\nd\n== rows s\nv\n2\n"
        "== restart\n== queries\ny\n== rows s\nv\n3\n"
        "== answers q\nv\n1\n"
    )
    case = read_case(PATH, text)
    here = InputFile("here", "", 1, "name\na\n", points=True)
    there = InputFile("there", "", 1, "name\nd\n", points=True)
    assert case.is_restarted
    assert case.starts == (
        Start(
            "x\n",
            (
                here,
                InputFile("there", "", 1, "name\nb\n", points=True),
                InputFile("there", "", 2, "name\nc\n", points=True),
                InputFile("s", "", 1, "v\n1\n"),
            ),
        ),
        Start("x\n", (here, there, InputFile("s", "", 2, "v\n2\n"))),
        Start("y\n", (here, there, InputFile("s", "", 3, "v\n3\n"))),
    )
    assert (case.text, case.files, case.streams) == ("x\n", case.starts[0].files, ("s",))
    assert lines_of(case.followed.answers["q"]) == ["v=1"]
    assert not read_case(PATH, TEXT).is_restarted
