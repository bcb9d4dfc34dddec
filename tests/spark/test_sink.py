"""The folder of answers and the notes of a checkpoint, when the disk does not hold what it should. No Spark is started."""

from __future__ import annotations

import errno
import json
import os
import random
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.apps.cli import main
from headwater.hosts.spark.checkpoint import hold, zones_of
from headwater.hosts.spark.checkpoint_notes import Notes, QueryNote, notes_text, read_notes
from headwater.hosts.spark.sink import FolderSink
from headwater.model import HostError
from headwater.query.planning.plan import compile_text

QUERIES = "CREATE STREAM weather (at TIMESTAMP TIME, a DOUBLE); CREATE QUERY q AS SELECT a FROM weather;"
NOTES = Notes(
    "r", "0.1.0", 2, 1, {"weather": "at"}, ["weather"], {"q": QueryNote("select", "weather", "f")}, {"q": 2}
)


def table(*bodies: str) -> pa.Table:
    count = len(bodies)
    return pa.table(
        {
            "kind": pa.array(["answer"] * count, pa.string()),
            "name": pa.array(["q"] * count, pa.string()),
            "event_time": pa.array([None] * count, pa.timestamp("us", "UTC")),
            "match_id": pa.array([None] * count, pa.string()),
            "body": pa.array(bodies, pa.string()),
        }
    )


def test_a_batch_that_runs_again_replaces_its_own_file(tmp_path):
    for _ in range(2):
        sink = FolderSink(tmp_path / "out", "answers", ("answer",), "r")
        sink.write(table("1", "2"), 7)
    assert (tmp_path / "out" / "answers-00000007.jsonl").read_text() == "1\n2\n"
    sink.write(table(), 7)
    assert [item.name for item in (tmp_path / "out").iterdir()] == [".headwater.json"]


def test_a_folder_that_cannot_be_written_is_reported_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError) as caught:
        FolderSink(tmp_path / "file" / "out", "answers", ("answer",), "r")
    assert caught.value.code == "cannot-write"
    assert caught.value.message == f"cannot write to '{tmp_path / 'file' / 'out'}': Not a directory"
    sink = FolderSink(tmp_path / "out", "answers", ("answer",), "r")
    (tmp_path / "out" / "answers-00000001.jsonl").mkdir()
    with pytest.raises(HostError) as caught:
        sink.write(table("1"), 1)
    assert caught.value.message == f"cannot write to '{tmp_path / 'out'}': Is a directory"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_earlier_lines_and_nothing_half_written(tmp_path, monkeypatch, call):
    sink = FolderSink(tmp_path, "answers", ("answer",), "r")
    sink.write(table("1"), 0)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(*((os, "fsync") if call == "fsync" else (Path, "replace")), full)
        with pytest.raises(HostError) as caught:
            sink.write(table("2"), 1)
    assert str(caught.value).splitlines() == [
        f"error[cannot-write]: cannot write to '{tmp_path}': No space left on device",
        "  free some space and start it again: it continues where it stopped, and no line is lost or written twice",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".headwater.json", "answers-00000000.jsonl"]
    FolderSink(tmp_path, "answers", ("answer",), "r").write(table("2"), 1)
    assert (tmp_path / "answers-00000001.jsonl").read_text() == "2\n"


@pytest.mark.parametrize("note", [b"", b"{", b"\xff", b"[]", b"{}", b'{"run": 7}', b"null"])
def test_a_folder_whose_note_is_damaged_is_refused(tmp_path, note):
    (tmp_path / ".headwater.json").write_bytes(note)
    with pytest.raises(HostError) as caught:
        FolderSink(tmp_path, "answers", ("answer",), "r")
    assert str(caught.value).splitlines() == [
        f"error[output-of-another-run]: it is not known which run the folder '{tmp_path}' belongs to: "
        "'.headwater.json' in it is damaged",
        "  use a new --output folder",
    ]


def test_a_folder_of_another_run_is_refused(tmp_path):
    FolderSink(tmp_path, "answers", ("answer",), "r")
    with pytest.raises(HostError) as caught:
        FolderSink(tmp_path, "answers", ("answer",), "s")
    assert caught.value.message == f"the folder '{tmp_path}' has the output of a run with another checkpoint"


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "headwater").mkdir()
    path = tmp_path / "headwater" / "run.json"
    path.write_bytes(notes_text(NOTES))
    return path


def test_notes_come_back(tmp_path, notes):
    assert read_notes(tmp_path) == NOTES
    notes.write_text(json.dumps(json.loads(notes.read_text())))  # laid out by another program
    assert read_notes(tmp_path) == NOTES


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": "1"}, {"format": True}, {"run": "s"}, {"zones": 3}, {"tasks": 2}, {"streams": {}}, {"declared": []},
        {"queries": {}}, {"parts": {}}, {"more": 1}, {"checksum": None},
    ],
)  # fmt: skip
def test_changed_notes_of_a_checkpoint_are_unreadable_state(tmp_path, notes, wrong):
    notes.write_text(json.dumps({**json.loads(notes.read_text()), **wrong}))
    with pytest.raises(HostError) as caught:
        zones_of(tmp_path, 5)
    assert str(caught.value).splitlines() == [
        f"error[state-unreadable]: the checkpoint '{tmp_path}' cannot be used: its notes are damaged",
        "  restore it from a copy, or start with a new --checkpoint folder",
    ]


def test_notes_with_any_byte_changed_are_damaged_or_say_the_same(tmp_path, notes):
    whole = notes.read_bytes()
    choose = random.Random(7)
    for at in range(len(whole)):
        notes.write_bytes(whole[:at] + bytes([whole[at] ^ choose.randint(1, 255)]) + whole[at + 1 :])
        try:
            assert read_notes(tmp_path) == NOTES
        except HostError as refused:
            assert refused.code == "state-unreadable"


def test_another_number_of_zones_than_the_checkpoint_has_is_refused(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.hw").write_text(QUERIES)
    (tmp_path / "in").mkdir()
    hold(tmp_path / "state", compile_text(QUERIES, zones=2)).release()
    command = ["run", "q.hw", "--input", "weather=in", "--follow", "--checkpoint", "state"]
    assert main([*command, "--zones", "3"]) == 1
    assert capfd.readouterr().err.splitlines() == [
        "error[checkpoint-other-zones]: the checkpoint 'state' has 2 zones, but this run uses 3",
        "  the number of zones is fixed when a checkpoint is created",
    ]
