"""The list of loops that are compiled beforehand has all that queries of each operator enter."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

from headwater.apps.cli.rehearsals import REHEARSALS
from headwater.apps.cli.write_kernel_entries import entered_by
from headwater.hosts.kernel_entries import entries_of


@pytest.mark.parametrize("keyword", REHEARSALS)
def test_all_that_is_entered_is_listed(keyword: str) -> None:
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as beside:
        entered = {(loop, types) for loop, types, _ in beside.submit(entered_by, keyword).result()}
    listed = {(entry.loop, json.dumps(entry.types)) for entry in entries_of([keyword])}
    assert entered
    assert sorted(loop for loop, _ in entered - listed) == [], (
        "loops are entered with other types: run make kernels"
    )
