"""What a plan needs is compiled beside it, said while it goes on, and passed over in silence when it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.compiled import code_store, keep_code_in
from headwater.hosts import kernel_preparation
from headwater.hosts.cores import usable_cores
from headwater.hosts.kernel_entries import Entry, all_entries, entries_of
from headwater.hosts.kernel_preparation import FEW, Preparing, prepare_for
from headwater.hosts.stored_code import StoredCode
from headwater.query.planning.plan import compile_text

QUERY = """
CREATE STREAM air (sensor STRING KEY, at TIMESTAMP TIME, warm DOUBLE);
CREATE QUERY cold AS SELECT * FROM air WHERE warm < 3;
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """An empty store for this test and the processes it starts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before, empty = code_store(), StoredCode(tmp_path / "headwater" / "kernels")
    keep_code_in(empty)
    yield empty
    keep_code_in(before)


def _cheap(count: int) -> list[Entry]:
    return list(all_entries()[-count:])


def test_processes_compile_what_is_missing_and_say_how_far_they_are(store: StoredCode) -> None:
    said: list[str] = []
    entries = _cheap(FEW)
    Preparing(entries, "SELECT", said.append).wait()
    assert all(store.has(entry.key() or "") for entry in entries)
    assert said[0] == f"compiling SELECT, once: 1 of {FEW}"


def test_nothing_is_said_when_everything_is_compiled(store: StoredCode) -> None:
    for entry in _cheap(FEW):
        store.save(entry.key() or "", b"code")
    said: list[str] = []
    Preparing(_cheap(FEW), "SELECT", said.append).wait()
    assert said == []


def test_it_can_be_left_at_any_time(store: StoredCode) -> None:
    with Preparing(_cheap(FEW + 3), "everything", lambda words: None) as preparing:
        pass
    preparing.wait()  # for what had begun
    assert sum(store.has(entry.key() or "") for entry in _cheap(FEW + 3)) <= usable_cores()


def test_once_everything_is_compiled_later_starts_look_no_further(
    store: StoredCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    for entry in _cheap(FEW):
        store.save(entry.key() or "", b"code")
    Preparing(_cheap(FEW), "SELECT", lambda words: None).wait()
    monkeypatch.setattr(kernel_preparation, "_missing", lambda entries: pytest.fail("it looks"))
    Preparing(_cheap(FEW), "SELECT", lambda words: None).wait()
    assert len(list((store.folder / "ready").iterdir())) == 1


def test_a_plan_needs_the_entries_of_its_operators(store: StoredCode) -> None:
    with prepare_for(compile_text(QUERY), lambda words: None):
        pass
    select, correlate = entries_of(["SELECT"]), entries_of(["CORRELATE"])
    assert {entry.loop for entry in select} < {entry.loop for entry in correlate}
    assert not any("correlate" in entry.loop for entry in select)


def test_every_listed_loop_is_there_with_types_that_mean_something() -> None:
    gone = []
    for entry in all_entries():
        try:
            assert entry.key()
        except (ImportError, AttributeError):
            gone.append(entry.loop)
    assert gone == [], "a loop or one of its types has another name: run make kernels"
