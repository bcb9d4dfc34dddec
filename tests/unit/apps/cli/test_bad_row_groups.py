"""The bad output is a few times as large as what was read, and nothing is left out of it."""

from __future__ import annotations

import json

import pytest

from headwater.apps.cli import main

QUERIES = (
    "CREATE STREAM r (id STRING KEY, at TIMESTAMP TIME, a DOUBLE);\nCREATE QUERY q AS SELECT a FROM r;\n"
)
HEADER = "id,at,a\n"
GOOD = "x,2026-01-01T00:00:00Z,5\n"


@pytest.fixture
def bad_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.hw").write_text(QUERIES)

    def run(name: str, text: str) -> list[dict[str, object]]:
        (tmp_path / name).write_text(text)
        bad = tmp_path / "bad.jsonl"
        assert main(
            ["run", "q.hw", "--engine", "local", "--input", f"r={name}", "--bad-output", str(bad), "--quiet"]
        ) in (0, 1)
        assert bad.stat().st_size <= 6 * len(text) + 100 * 200
        return [json.loads(line) for line in bad.read_text().splitlines()]

    return run  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", HEADER + "x\n" * 50_000),
        ("r.csv", HEADER + ",,,,\n" * 50_000),
        ("r.csv", HEADER + "\0\n" * 20_000),
        ("r.csv", HEADER + GOOD + '"' + "abc\n" * 50_000),
        ("r.jsonl", "x\n\n" * 30_000),
        ("r.jsonl", "{}\n" * 50_000),
        ("r.jsonl", "\0" * 100_000),
    ],
    ids=["short", "commas", "nul", "quote", "empty-between", "objects", "one-line"],
)
def test_whatever_is_bad_the_output_is_a_few_times_its_input(bad_rows, name, text):
    assert bad_rows(name, text)


def test_the_first_hundred_stand_alone_and_others_together_with_all_their_texts(bad_rows):
    lines = [f"l{number}" for number in range(2, 2352)]
    found = bad_rows("r.csv", HEADER + "\n".join(lines) + "\n" + GOOD + GOOD + "alone\n")
    assert [row["line"] for row in found] == [*range(2, 102), 102, 1102, 2102, 2354]
    assert "\n".join(str(row["text"]) for row in found).split("\n") == [*lines, "alone"]
    ragged = "ragged-line: 1 cell, the header has 3"
    assert [row["reason"] for row in found[99:]] == [
        ragged,
        f"{ragged}; and 999 bad lines after it",
        f"{ragged}; and 999 bad lines after it",
        f"{ragged}; and 249 bad lines after it",
        ragged,
    ]
