"""Fingerprints, zone keys and group names are what they were before operators became values: saved state is found by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from headwater.query.planning.plan import compile_text
from tests.spark.written_before import CHECKPOINT, TEXT

BEFORE: Final[Path] = CHECKPOINT.with_name("identities.json")
"""Printed by the commit before the restructuring (dedab4d), whose checkpoints have an older format that is refused."""


def test_every_operator_is_found_under_the_identities_of_before() -> None:
    plan = compile_text(TEXT, zones=2).with_placeholders()
    before = json.loads(BEFORE.read_text())
    assert {query.name: query.fingerprint for query in plan.queries} == before["queries"]
    assert {query.name: query.zone_key for query in plan.queries} == before["zones"]
    assert sorted({group.name for zone in range(2) for group in plan.groups(zone)}) == before["groups"]
