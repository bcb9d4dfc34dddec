"""State by key, against a dictionary."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import (
    BEGINNING,
    END,
    Column,
    ColumnType,
    KeyedStore,
    Ragged,
    Records,
    Text,
    decode,
    empty_store,
    encode,
    key_ids,
    keyed_store_from,
    no_records,
    run_from,
    strings,
)
from headwater.model import keyed_store as keyed_module
from tests.unit.model.making import often

Model = dict[str, tuple[int, int, list[float]]]  # due, hold, list

LIKE = Records(
    np.zeros((0, 2), np.uint64),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    {"name": strings([]), "pair": np.zeros((0, 2)), "amount": Column.of(ColumnType.BIGINT, ())},
    {"list": Ragged(np.zeros(1, np.int64), {"value": np.zeros(0), "word": strings([])})},
)


def ids_of(names: list[str]) -> np.ndarray:
    return key_ids([strings(names)], len(names))


def records_of(model: Model) -> Records:
    names = list(model)
    lists = [values for *_, values in model.values()]
    flat = [value for values in lists for value in values]
    return Records(
        ids_of(names),
        np.array([due for due, *_ in model.values()], np.int64),
        np.array([hold for _, hold, _ in model.values()], np.int64),
        {
            "name": strings(names),
            "pair": np.array([[len(values), -1.0] for values in lists]).reshape(-1, 2),
            "amount": Column.of(ColumnType.BIGINT, [len(values) or None for values in lists]),
        },
        {
            "list": Ragged(
                np.cumsum([0, *map(len, lists)]),
                {"value": np.array(flat, np.float64), "word": strings([f"w{value}" for value in flat])},
            )
        },
    )


def model_of(records: Records) -> Model:
    names, ragged = records.table["name"], records.lists["list"]
    assert isinstance(names, Text)
    found = {}
    for place, name in enumerate(names.column().tolist()):
        low, high = ragged.offsets[place : place + 2].tolist()
        values = ragged.lines["value"][low:high].tolist()
        assert records.table["pair"][place].tolist() == [len(values), -1.0]
        assert records.table["amount"].take(slice(place, place + 1)).tolist() == [len(values) or None]
        assert ragged.lines["word"].take(slice(low, high)).tolist() == [f"w{value}" for value in values]
        found[name] = (int(records.due[place]), int(records.hold[place]), values)
    return found


def restored(store: KeyedStore) -> KeyedStore:
    runs = [run_from(run.number, [decode(encode(tree)) for tree in run.trees()]) for run in store.runs]
    outline = decode(encode(store.outline()))
    return keyed_store_from(outline, {run.number: run for run in runs}).shaped_like(LIKE)


@pytest.fixture(autouse=True)
def small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_module, "CELL_BYTES", 300)


KEYS = st.sampled_from([f"k{n}" for n in range(12)])
TIMES = st.sampled_from([1, 5, 9, 40, END])
CHANGES = st.lists(
    st.tuples(
        st.dictionaries(
            KEYS, st.tuples(TIMES, TIMES, st.lists(st.sampled_from([0.5, 2.0]), max_size=3)), max_size=6
        ),
        st.sets(KEYS, max_size=6),
    ),
    max_size=12,
)


def after_each(changes: list[tuple[Model, set[str]]]) -> Iterator[tuple[KeyedStore, Model]]:
    store, model = empty_store(LIKE), {}
    for records, gone in changes:
        gone = sorted(gone - records.keys())
        store = store.put(records_of(records), ids_of(gone))
        model = {key: value for key, value in (model | records).items() if key not in gone}
        yield store, model


@often
@given(CHANGES)
def test_a_store_holds_what_was_put_last_and_nothing_that_is_gone(changes):
    for store, model in after_each(changes):
        assert len(store) == len(model)
        assert model_of(store.everything()) == model
        assert store.held == min((hold for _, hold, _ in model.values()), default=END)
        sought = [f"k{n}" for n in range(13)]
        records, places = store.find(ids_of(sought))
        found = model_of(records)
        assert found == model
        assert [list(found)[place] if place >= 0 else None for place in places] == [
            key if key in model else None for key in sought
        ]
        assert store.has(ids_of(sought)).tolist() == [key in model for key in sought]
        if not model:
            assert store.runs == ()


@often
@given(CHANGES, TIMES, TIMES)
def test_those_who_are_due_are_found_by_time(changes, since, until):
    for store, model in after_each(changes):
        due = store.due(since, until)
        expected = [key for key, (at, *_) in model.items() if since <= at < until]
        assert sorted(map(tuple, due.tolist())) == sorted(map(tuple, ids_of(expected).tolist()))


@often
@given(CHANGES, st.integers(0, 11))
def test_a_restored_store_goes_on_as_it_would_have(changes, when):
    store, other = empty_store(LIKE), empty_store(LIKE)
    for number, (records, gone) in enumerate(changes):
        gone = ids_of(sorted(gone - records.keys()))
        store, other = store.put(records_of(records), gone), other.put(records_of(records), gone)
        if number == when:
            other = restored(other)
        assert model_of(store.everything()) == model_of(other.everything())
        assert (store.held, len(store)) == (other.held, len(other))
        assert decode(encode(store.outline()))["runs"].tolist() == other.outline()["runs"].tolist()


def test_a_put_leaves_the_store_it_was_put_into_as_it_was():
    store = empty_store(LIKE).put(records_of({"a": (1, 1, [0.5]), "b": (2, 2, [])}), ids_of([]))
    store.put(records_of({"a": (7, 7, [])}), ids_of(["b"]))
    assert model_of(store.everything()) == {"a": (1, 1, [0.5]), "b": (2, 2, [])}


def test_what_is_saved_of_a_few_changes_among_many_keys_is_small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keyed_module, "CELL_BYTES", 1 << 18)
    many = {f"key {n}": (END, END, [0.5]) for n in range(20_000)}
    store = empty_store(LIKE).put(records_of(many), ids_of([]))
    known = {run.number for run in store.runs}
    written = 0
    for n in range(100):
        store = store.put(records_of({f"key {7 * n}": (n, END, [])}), ids_of([f"key {7 * n + 1}"]))
        written += sum(len(run) for run in store.runs if run.number not in known)
        known |= {run.number for run in store.runs}
    assert len(store) == 19_900
    assert written < 2_000  # a hundred times two keys, each written again a few times
    assert len(store.runs) < 8


def test_numbers_of_runs_are_used_once():
    seen: set[int] = set()
    store = empty_store(LIKE)
    for n in range(60):
        after = store.put(records_of({f"k{n % 17}": (n, n, [])}), ids_of([f"k{(n + 5) % 17}"]))
        new = {run.number for run in after.runs} - {run.number for run in store.runs}
        assert not new & seen
        seen |= new
        store = after


def test_records_of_another_shape_are_read_in_this_one():
    old = Records(ids_of(["a"]), np.array([3]), np.array([END]), {"name": strings(["a"]), "x": np.ones(1)})
    store = empty_store(old.take(np.zeros(0, np.int64))).put(old, ids_of([])).shaped_like(LIKE)
    records, _ = store.find(ids_of(["a"]))
    assert set(records.table) == {"name", "pair", "amount"}
    assert records.table["amount"].tolist() == [None]
    assert records.lists["list"].offsets.tolist() == [0, 0]
    more = store.put(records_of({"b": (1, 1, [2.0])}), ids_of([]))
    assert more.find(ids_of(["b", "a"]))[0].table["name"].column().tolist() in (["a", "b"], ["b", "a"])


def test_texts_may_be_null_empty_or_long():
    names = ["", None, "Zürich", "x" * 1000, "", None]
    like = Records(no_records().ids, no_records().due, no_records().hold, {"name": strings([])})
    ids = np.arange(12, dtype=np.uint64).reshape(6, 2)
    at = np.full(6, END)
    store = empty_store(like).put(Records(ids, at, at, {"name": strings(names)}), ids[:0])
    records, places = store.find(ids[::-1])
    assert records.table["name"].take(places[::-1]).column().tolist() == names


def test_keys_of_no_column_are_one_key():
    assert key_ids([], 3).tolist() == [[0, 0]] * 3
    assert len(empty_store(LIKE).find(key_ids([], 0))[0]) == 0
    assert empty_store(LIKE).due(BEGINNING, END).tolist() == []


@pytest.mark.parametrize("count", [0, 1, 2, 63, 1000, 20_000])
@pytest.mark.parametrize("spread", ["hashes", "small", "large", "alike", "ends"])
def test_a_key_is_found_wherever_it_stands_and_others_are_not(count: int, spread: str):
    random = np.random.default_rng(count)
    most = np.iinfo(np.uint64).max
    first = {
        "hashes": random.integers(0, most, 2 * count, np.uint64, endpoint=True),
        "small": np.arange(2 * count, dtype=np.uint64),
        "large": most - np.arange(2 * count, dtype=np.uint64),
        "alike": np.full(2 * count, 1 << 63, np.uint64),
        "ends": np.where(np.arange(2 * count) % 2 == 0, 0, most).astype(np.uint64),
    }[spread]
    keys = np.column_stack([first, random.permutation(2 * count).astype(np.uint64)])
    ids, others = keys[:count], keys[count:]
    ids = ids[np.lexsort((ids[:, 1], ids[:, 0]))]
    shuffled = random.permutation(count)
    assert keyed_module.search(ids, ids[shuffled]).tolist() == shuffled.tolist()
    assert (keyed_module.search(ids, others) == -1).all()
