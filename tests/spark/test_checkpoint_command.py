"""`headwater checkpoint`: what is in it, a copy that goes on elsewhere, a check of every checksum; and what a restart says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from headwater.hosts.spark.checkpoint import lock_folder
from tests.spark.embedded import Commands, commands_on
from tests.spark.test_other_cores import KEYS, TEXT, first_rows, second_rows
from tests.spark.valley import read_answers

MORE = "CREATE QUERY high AS SELECT id, v FROM s WHERE v > 80;"
OTHER = TEXT.replace("A.v > 80", "A.v > 70")


@pytest.fixture
def headwater(spark, monkeypatch, capfd, tmp_path) -> Commands:
    monkeypatch.chdir(tmp_path)
    return commands_on(spark, monkeypatch, capfd)


def follow(headwater: Commands, text: str, *, state: str = "state") -> int:
    Path("q.hw").write_text(text)
    given = ("run", "q.hw", "--input", "s=in", "--follow", "--once", "--zones", 4)
    return headwater(*given, "--checkpoint", state, "--output", "out")


def test_a_copy_goes_on_elsewhere_and_says_what_it_holds(headwater: Commands, tmp_path: Path) -> None:
    first_rows(tmp_path / "in")
    assert follow(headwater, TEXT) == 0
    assert headwater("checkpoint", "copy", "state", "backup/one") == 0
    assert re.fullmatch(r"copied \d+ files, \S+ KB, to 'backup/one'", headwater.out[0])
    shutil.rmtree("state")

    assert headwater("checkpoint", "verify", "backup/one") == 0
    assert re.fullmatch(r"files   \d+, \S+ KB; \d+ have a checksum", headwater.out[0])
    assert re.fullmatch(r"state   \d+ blobs of 4 zones, \S+ KB", headwater.out[1])
    assert headwater.out[2] == "no damage found"

    assert headwater("checkpoint", "info", "backup/one") == 0
    said = "\n".join(headwater.out)
    assert "checkpoint  'backup/one', format 8, last used by Headwater 0.1.0" in said
    assert "zones       4, spread over 2 tasks" in said
    assert "batches     finished up to number 0" in said
    assert re.search(
        rf"^s +{re.escape(str(tmp_path / 'in'))} +2026-01-15T00:00:19Z +2026-01-15T00:00:19Z$",
        said,
        re.MULTILINE,
    )
    assert re.search(r"^q +pattern +s$", said, re.MULTILINE)
    assert re.search(r"^pattern:s +\S+ KB +\d+ +q$", said, re.MULTILINE)

    second_rows(tmp_path / "in")
    assert follow(headwater, TEXT, state="backup/one") == 0
    assert not Path("state").exists()
    assert sorted(answer["id"] for answer in read_answers(Path("out"))) == sorted(
        f"k{n}" for n in range(KEYS)
    )


def test_looking_at_a_backup_in_another_place_changes_nothing_in_it(
    headwater: Commands, tmp_path: Path
) -> None:
    first_rows(tmp_path / "in")
    assert follow(headwater, TEXT) == 0
    Path("state").rename("backup")
    before = contents(tmp_path / "backup")
    for action in ("info", "verify"):
        assert headwater("checkpoint", action, "backup") == 0
        assert contents(tmp_path / "backup") == before
    with lock_folder(Path("backup")):
        assert headwater("checkpoint", "verify", "backup") == 1
    assert headwater.err[0] == "error[checkpoint-in-use]: another run is using the checkpoint 'backup'"


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_backup_goes_on_on_another_machine_with_its_readings_elsewhere(
    headwater: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    first_rows(one / "in")
    monkeypatch.chdir(one)
    assert follow(headwater, TEXT + MORE) == 0
    assert headwater("checkpoint", "copy", "state", tmp_path / "backup") == 0
    for folder in ("in", "out"):
        shutil.copytree(one / folder, two / folder)
    monkeypatch.chdir(two)
    shutil.rmtree(one)
    monkeypatch.setenv("HOME", str(two))

    assert headwater("checkpoint", "copy", tmp_path / "backup", "state") == 0
    assert headwater("checkpoint", "verify", "state") == 0
    second_rows(two / "in")
    assert follow(headwater, TEXT + MORE) == 0
    assert headwater.err[0].startswith(f"read      {KEYS + 3} rows")
    answers = read_answers(Path("out"))
    assert sorted(str(answer["id"]) for answer in answers if answer["query"] == "q") == sorted(
        f"k{n}" for n in range(KEYS)
    )
    assert len([answer for answer in answers if answer["query"] == "high"]) == KEYS


def test_a_restart_says_which_queries_went_on_and_what_was_dropped(
    headwater: Commands, tmp_path: Path
) -> None:
    first_rows(tmp_path / "in")
    assert follow(headwater, TEXT) == 0
    assert headwater.err[0].startswith("read")
    (remembered,) = (line for line in headwater.err if line.startswith("state     q: "))
    size, *_ = remembered.removeprefix("state     q: ").split(", ")
    assert follow(headwater, TEXT + MORE) == 0
    assert headwater.err[0] == "restart   continued: q; new: high"
    assert headwater.err[1].startswith("read")
    assert follow(headwater, OTHER) == 0
    assert headwater.err[0] == "restart   replaced, and start again: q; gone: high"
    assert headwater.err[1].startswith(f"dropped   the state of q ({size}")
    assert follow(headwater, OTHER) == 0
    assert headwater.err[0].startswith("read")


def test_an_older_copy_does_not_go_on_in_a_folder_that_is_ahead_of_it(
    headwater: Commands, tmp_path: Path
) -> None:
    first_rows(tmp_path / "in")
    assert follow(headwater, TEXT + MORE) == 0
    assert headwater("checkpoint", "copy", "state", "older") == 0
    for number in (2, 3):
        shutil.copy("out/answers-00000000.jsonl", f"out/answers-{number:08d}.jsonl")
    assert follow(headwater, TEXT + MORE, state="older") == 1
    assert headwater.err == [
        "error[output-ahead]: the folder 'out' has batch 3, but the checkpoint 'older' continues with batch 1",
        "  the checkpoint was restored from an older copy, so rows after that would be answered again",
        "  use a new output folder, or delete the files of batch 1 and later from 'out'",
    ]
    for number in (2, 3):
        Path(f"out/answers-{number:08d}.jsonl").unlink()
    assert follow(headwater, TEXT + MORE, state="older") == 0
