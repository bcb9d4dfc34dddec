"""Saved state of every operator with a byte that changed is refused before any kernel sees it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby, islice

import pytest

from headwater.hosts.zone import Program, fetch_from, load_zone
from headwater.model import HostError
from tests.golden.restarts import saved_in_the_middle
from tests.golden.test_golden import ANSWERED

FLIPS = 20
SOME = 3  # cases of each operator
SEED = 20261118


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, dict[str, bytes]]:
    """The state of some golden cases after their files, as a checkpoint has it: the head has no name."""
    operators = groupby(ANSWERED, lambda case: case.name.partition("/")[0])
    cases = [case for _, of_one in operators for case in islice(of_one, SOME)]
    program, zone = saved_in_the_middle(cases, tmp_path_factory.mktemp("damaged"))
    return program, {"": zone.head, **zone.cells()}


def test_state_that_nobody_damaged_is_read(saved: tuple[Program, dict[str, bytes]]) -> None:
    program, blobs = saved
    load_zone(program, blobs[""], fetch_from(blobs))


def test_state_with_a_changed_byte_is_refused(saved: tuple[Program, dict[str, bytes]]) -> None:
    program, blobs = saved
    for damaged in _damaged(blobs):
        with pytest.raises(HostError) as refused:
            load_zone(program, damaged[""], fetch_from(damaged))
        assert refused.value.code == "state-unreadable"
        assert refused.value.advice


def test_state_whose_parts_are_gone_is_refused(saved: tuple[Program, dict[str, bytes]]) -> None:
    program, blobs = saved
    with pytest.raises(HostError) as refused:
        load_zone(program, blobs[""], fetch_from({}))
    assert refused.value.message == "saved state cannot be read: its parts do not fit together"


def _damaged(blobs: dict[str, bytes]) -> Iterator[dict[str, bytes]]:
    choose = random.Random(SEED)
    names = [*[""] * FLIPS, *choose.choices([name for name in blobs if name], k=FLIPS)]
    for name in names:
        damaged = bytearray(blobs[name])
        damaged[choose.randrange(len(damaged))] ^= choose.randint(1, 255)
        yield {**blobs, name: bytes(damaged)}
