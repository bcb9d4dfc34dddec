"""Every room has a layer for each of its parts: a part without one fails `lint-imports`, a room without layers fails here."""

from __future__ import annotations

import tomllib
from pathlib import Path

import headwater

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
CONTRACTS = tomllib.loads(PYPROJECT.read_text())["tool"]["importlinter"]["contracts"]


def test_every_room_and_the_operators_have_layers_that_leave_nothing_out() -> None:
    exhaustive = {room for rule in CONTRACTS if rule.get("exhaustive") for room in rule["containers"]}
    folders = [folder.parent for folder in Path(headwater.__file__).parent.glob("*/__init__.py")]
    rooms = {"headwater", "headwater.query.operators", *(f"headwater.{folder.name}" for folder in folders)}
    assert sorted(rooms - exhaustive) == []
