"""Saved state of every operator with a byte that changed is refused before any kernel sees it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby, islice

import pytest

from headwater.hosts.zone import Program, chunk_rows, load_zone
from headwater.model import HostError, chunk_tree, encode
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
    return program, {"": zone.head, **{key: encode(chunk_tree(chunk)) for key, chunk in zone.chunks.items()}}


def test_state_that_nobody_damaged_is_read(saved: tuple[Program, dict[str, bytes]]) -> None:
    program, blobs = saved
    load_zone(program, blobs[""], lambda key: chunk_rows(blobs[key]))


def test_state_with_a_changed_byte_is_refused(saved: tuple[Program, dict[str, bytes]]) -> None:
    program, blobs = saved
    for name, damaged in _damaged(blobs):
        with pytest.raises(HostError) as refused:
            load_zone(
                program,
                damaged if not name else blobs[""],
                lambda key, name=name, damaged=damaged: chunk_rows(damaged if key == name else blobs[key]),
            )
        assert refused.value.code == "state-unreadable"
        assert refused.value.advice


def test_state_whose_parts_are_gone_is_refused(saved: tuple[Program, dict[str, bytes]]) -> None:
    program, blobs = saved
    with pytest.raises(HostError) as refused:
        load_zone(program, blobs[""], lambda key: chunk_rows({}[key]))
    assert refused.value.message == "saved state cannot be read: its parts do not fit together"


def _damaged(blobs: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    choose = random.Random(SEED)
    names = [*[""] * FLIPS, *choose.choices([name for name in blobs if name], k=FLIPS)]
    for name in names:
        damaged = bytearray(blobs[name])
        damaged[choose.randrange(len(damaged))] ^= choose.randint(1, 255)
        yield name, bytes(damaged)
