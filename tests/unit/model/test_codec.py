import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import Column, ColumnType, HostError, Rows, decode, encode, rows_tree, tree_rows
from headwater.model.codec import CODEC_VERSION
from tests.unit.model.making import TEXT, any_rows, often, sealed

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
KEYS = TEXT.filter(lambda key: key != "\x00array")
TREES = st.dictionaries(
    KEYS,
    st.recursive(LEAVES, lambda node: st.lists(node, max_size=3) | st.dictionaries(KEYS, node, max_size=3)),
    max_size=4,
)


@often
@given(TREES)
def test_plain_trees_come_back(tree: dict):
    assert decode(encode(tree)) == tree


@pytest.mark.parametrize("dtype", ["b1", "i1", "<i4", "<i8", "<u8", "<f8", "S32"])
@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (2, 3), (0, 4), ()])
def test_arrays_come_back_with_type_and_shape(dtype: str, shape: tuple[int, ...]):
    array = np.ones(shape, dtype)
    back = decode(encode({"before": 1, "a": array, "after": [array]}))
    assert back["a"].dtype == array.dtype and back["a"].shape == shape
    assert np.array_equal(back["a"], array) and np.array_equal(back["after"][0], array)


def test_a_list_that_begins_with_a_number_may_hold_arrays():
    back = decode(encode({"list": [1, np.array([2]), "x", {"deep": np.array([3.0])}]}))["list"]
    assert (back[0], back[1].tolist(), back[2], back[3]["deep"].tolist()) == (1, [2], "x", [3.0])


def test_numpy_numbers_become_plain_ones():
    assert decode(encode({"a": np.int64(3), "b": np.float64(0.5), "c": np.bool_(True)})) == {
        "a": 3,
        "b": 0.5,
        "c": True,
    }


def test_decoded_arrays_cannot_be_changed():
    array = decode(encode({"a": np.arange(3)}))["a"]
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_equal_trees_are_equal_bytes():
    tree = {"a": np.arange(5), "b": ["x", 1]}
    assert encode(tree) == encode({"a": np.arange(5), "b": ["x", 1]})


@often
@given(any_rows())
def test_rows_come_back(rows: Rows):
    back = tree_rows(decode(memoryview(encode(rows_tree(rows)))))
    assert back.tolist() == rows.tolist()
    assert back.types == rows.types
    for name, column in rows.columns.items():
        assert back[name].values.tolist() == column.values.tolist()
        assert back[name].is_valid.tolist() == column.is_valid.tolist()


def test_identities_come_back():
    rows = Rows.of({"match_id": Column.of(ColumnType.ID, ["0123456789abcdef" * 2])})
    assert tree_rows(decode(encode(rows_tree(rows)))).tolist() == rows.tolist()


# --- what is not ours --------------------------------------------------------------------------------------------


@often
@given(st.binary(max_size=200))
def test_any_bytes_are_a_tree_or_refused(data: bytes):
    _decode_or_refuse(data)


@often
@given(st.binary(max_size=200), st.integers(0, 2**32 - 1))
def test_any_bytes_after_our_prefix_are_a_tree_or_refused(data: bytes, length: int):
    _decode_or_refuse(_behind_our_prefix(data, min(length, len(data) + 8)))


@often
@given(any_rows(), st.data())
def test_a_damaged_blob_whose_checksum_fits_is_read_or_refused(rows: Rows, data: st.DataObject):
    blob = bytearray(encode(rows_tree(rows)))
    for _ in range(data.draw(st.integers(1, 4))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(12, len(blob)))
    _decode_or_refuse(sealed(bytes(blob[:cut])), then_rows=True)
    _decode_or_refuse(sealed(bytes(blob)), then_rows=True)


@often
@given(any_rows(), st.data())
def test_a_blob_with_a_changed_byte_or_without_its_end_is_refused(rows: Rows, data: st.DataObject):
    blob = encode(rows_tree(rows))
    at = data.draw(st.integers(0, len(blob) - 1))
    changed = bytearray(blob)
    changed[at] ^= data.draw(st.integers(1, 255))
    for damaged in (bytes(changed), blob[:at], blob + b"\0"):
        with pytest.raises(HostError) as refused:
            decode(damaged)
        assert refused.value.code == "state-unreadable"


JUNK_HEADERS = [
    [],
    [{}],
    [1, []],
    [{"a": {"\x00array": 0}}, []],
    [{"a": {"\x00array": "x"}}, []],
    [{}, [["O", [1], 8]]],
    [{}, [["<M8[us]", [1], 8]]],
    [{}, [["no type", [1], 8]]],
    [{}, [["<i8", [-1], -8]]],
    [{}, [["<i8", [2**70], 2**73]]],
    [{}, [["<i8", [1], 16]]],
    [{}, [["<i8", [1000], 8000]]],
    [{}, [["<i8", "ab", 16]]],
    [{}, [["<i8", [1]]]],
    [{}, 7],
]


@pytest.mark.parametrize("header", JUNK_HEADERS, ids=str)
def test_headers_that_lie_are_refused(header: object):
    text = json.dumps(header).encode()
    with pytest.raises(HostError) as refused:
        decode(_behind_our_prefix(text + b"\0" * 16, len(text)))
    assert refused.value.code == "state-unreadable"


def test_deep_nesting_is_refused_and_not_a_crash():
    text = b"[" * 100_000
    with pytest.raises(HostError):
        decode(_behind_our_prefix(text, len(text)))


def test_another_version_is_refused_with_advice():
    blob = bytearray(encode({"a": 1}))
    blob[2] = 99
    with pytest.raises(HostError) as refused:
        decode(bytes(blob))
    assert refused.value.code == "state-unreadable"
    assert refused.value.message == "saved state cannot be read: it has format 99, this version reads 2"
    assert refused.value.advice == (
        "start with a new --checkpoint folder, or run the version of Headwater that wrote this one",
    )


@pytest.mark.parametrize(
    "column",
    [
        {"type": "DOUBLE", "values": np.zeros(3), "valid": None, "names": None},
        {"type": "DOUBLE", "values": np.zeros(2, np.int64), "valid": None, "names": None},
        {"type": "DOUBLE", "values": [0.0, 0.0], "valid": None, "names": None},
        {"type": "DOUBLE", "values": np.zeros(2), "valid": np.zeros(3, np.bool_), "names": None},
        {"type": "NUMBER", "values": np.zeros(2), "valid": None, "names": None},
        {"type": "STRING", "values": np.array([0, 1], np.int32), "valid": None, "names": ["a"]},
        {"type": "STRING", "values": np.array([0, -1], np.int32), "valid": None, "names": ["a"]},
        {"type": "STRING", "values": np.array([0, 0], np.int32), "valid": None, "names": None},
        {"type": "DOUBLE"},
        None,
    ],
)
def test_trees_that_are_no_rows_are_refused(column: object):
    with pytest.raises(HostError) as refused:
        tree_rows(decode(encode({"count": 2, "columns": {"c": column}})))
    assert refused.value.code == "state-unreadable"


def _behind_our_prefix(data: bytes, length: int) -> bytes:
    return sealed(struct.pack("<2sHII", b"HW", CODEC_VERSION, length, 0) + data)


def _decode_or_refuse(data: bytes, *, then_rows: bool = False) -> None:
    try:
        tree = decode(data)
        assert isinstance(tree, dict)
        if then_rows:
            tree_rows(tree)
    except HostError as error:
        assert error.code == "state-unreadable"
