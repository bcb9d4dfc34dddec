"""A checkpoint that an earlier commit wrote goes on: group names, fingerprints and what is saved mean what they meant."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.spark.embedded import Commands, commands_on
from tests.spark.valley import read_answers
from tests.spark.written_before import CHECKPOINT, FILES, TEXT, command, followed, write_inputs


@pytest.fixture
def headwater(spark, monkeypatch, capfd) -> Commands:
    return commands_on(spark, monkeypatch, capfd)


def test_a_checkpoint_of_every_operator_written_before_goes_on(headwater: Commands, tmp_path: Path) -> None:
    with tarfile.open(CHECKPOINT) as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "queries.hw").write_text(TEXT)
    before = len(read_answers(tmp_path / "out"))
    write_inputs(tmp_path, 0, FILES)
    assert headwater(*command(tmp_path, *followed(tmp_path))) == 0
    assert not [line for line in headwater.err if line.startswith(("restart", "dropped"))]
    undisturbed = tmp_path / "undisturbed"
    write_inputs(undisturbed, 0, FILES)
    (undisturbed / "queries.hw").write_text(TEXT)
    assert headwater(*command(undisturbed, *followed(undisturbed))) == 0
    expected = read_answers(undisturbed / "out")
    assert {answer["query"] for answer in expected} == {
        line.split()[2] for line in TEXT.splitlines() if line.startswith("CREATE QUERY")
    }
    assert 0 < before < len(expected)
    assert sorted(map(repr, read_answers(tmp_path / "out"))) == sorted(map(repr, expected))
