"""The golden traces of the network: what every node stores, sends and delivers, step by step (`traces.py` says how they are written)."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.apps.overlay.approaches import PROBABLE
from tests.unit.protocols.broker.traces import replayed

FOLDER = Path(__file__).parents[3] / "golden" / "network"
FILES = sorted(FOLDER.glob("*.net"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_nodes_store_send_and_deliver(path: Path) -> None:
    assert replayed(path.read_text()) == path.read_text(), (
        f"python -m tests.unit.protocols.broker.traces {path}"
    )


def test_all_traces_are_found() -> None:
    assert len(FILES) == 15


@pytest.mark.parametrize("approach", PROBABLE)
def test_the_papers_approach_does_with_six_nodes_what_a_sound_cover_does(approach: str) -> None:
    sound = (FOLDER / "six-on-receipt.net").read_text()
    named = sound.replace("approach probable receipt", f"approach {approach}")
    assert named != sound and replayed(named) == named


@pytest.mark.parametrize("name", ["six-at-the-sender", "six-pairwise"])
def test_nodes_have_the_same_readings_whatever_the_cover(name: str) -> None:
    def stored(text: str) -> list[str]:
        return [line for line in text.splitlines() if " has " in line]

    one, other = (stored((FOLDER / f"{file}.net").read_text()) for file in (name, "six-on-receipt"))
    assert len(one) >= 12 and one == other[: len(one)]


@pytest.mark.parametrize("approach", ["exact receipt", "exact sender", "probable sender", "pairwise sender"])
def test_only_pairwise_filtering_lets_b_through_to_its_sensor(approach: str) -> None:
    trace = replayed((FOLDER / "six-on-receipt.net").read_text().replace("probable receipt", approach))
    third = trace[trace.index("> subscribe s3") : trace.index("> publish sa a 60")]
    let_through = "n2 requests from its sensors: s3 {15 < b < 35}" in third
    assert let_through == approach.startswith("pairwise")
    assert ("n4 requests from n1: s3" in third) == approach.endswith("receipt")
    assert ("n2 requests from n3: s3" in third) == approach.endswith("receipt")
