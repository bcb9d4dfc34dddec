"""Identities of answers are a promise to every sink that has stored one: the pinned values below never change."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.model import Column, ColumnType, content_ids, strings, text_hash
from tests.unit.model.making import any_rows, often

DOUBLE, TIMESTAMP, BIGINT = ColumnType.DOUBLE, ColumnType.TIMESTAMP, ColumnType.BIGINT


def one_answer(query="frost", at=1_767_225_600_000_000, key="s1", value=-1.5):
    return [
        strings([query]),
        Column.of(TIMESTAMP, [at]),
        strings([key]),
        Column.of(DOUBLE, [value]),
    ]


def test_pinned_text_hashes():
    assert text_hash("") == 13020603013274838756
    assert text_hash("frost") == 7963233209475214735
    assert text_hash("Ärger") == 13780520231351176727


def test_pinned_identities():
    assert content_ids(one_answer()).tolist() == ["8d1247a40223ef0abbf3bf806f0c4aee"]
    assert content_ids(one_answer(key=None)).tolist() == ["2fa3518eb5859d244a3b2afa331793a4"]
    assert content_ids(one_answer(value=None)).tolist() == ["ec4ef653f5b9058d4411a8af4b62c272"]
    plain = [Column.of(ColumnType.BOOLEAN, [True, None]), Column.of(BIGINT, [7, None])]
    assert content_ids(plain).tolist() == [
        "cba0c4e5151c3ddcbe634ec0498765b6",
        "82fb3a01eb64bb22dbfb1a8f8d0ccf1f",
    ]


def test_pinned_ordinals_of_equal_answers():
    twice = [Column.of(BIGINT, [7, 8, 7, 7])]
    assert content_ids(twice).tolist() == [
        "f21dec34857e96955c0c85ab3e48aebe",
        "4bb2df6e6acb8d3c5fa565b7f6d49cbe",
        "4801d791b9ccad36521fe092a439e595",
        "eca266e02c541a37f45a015af33a5bf6",
    ]


def test_every_part_counts():
    base = content_ids(one_answer()).tolist()[0]
    others = [
        one_answer(query="frosts"),
        one_answer(at=1_767_225_600_000_001),
        one_answer(key="s2"),
        one_answer(key=None),
        one_answer(value=-1.5000000001),
        one_answer(value=None),
    ]
    ids = [content_ids(parts).tolist()[0] for parts in others]
    assert len({base, *ids}) == 7


def test_minus_zero_is_zero_but_null_is_not():
    ids = content_ids([Column.of(DOUBLE, [0.0, -0.0, None])]).tolist()
    first = content_ids([Column.of(DOUBLE, [0.0])]).tolist()[0]
    assert ids[0] == first
    assert ids[1] == content_ids([Column.of(DOUBLE, [0.0, 0.0])]).tolist()[1]  # the second of two equal ones
    assert ids[2] not in ids[:2]


def test_the_order_of_columns_counts():
    a, b = Column.of(BIGINT, [1]), Column.of(BIGINT, [2])
    assert content_ids([a, b]).tolist() != content_ids([b, a]).tolist()


def test_no_answers_have_no_identities():
    assert content_ids([Column.of(kind, []) for kind in ColumnType]).tolist() == []


@often
@given(any_rows(), st.randoms(use_true_random=False))
def test_identities_do_not_depend_on_what_else_is_in_the_block(rows, random):
    parts = list(rows.columns.values())
    ids = content_ids(parts).tolist()
    assert len(set(ids)) == len(ids)
    order = list(range(rows.count))
    random.shuffle(order)
    shuffled = content_ids([part.take(order) if order else part for part in parts]).tolist()
    assert sorted(shuffled) == sorted(ids)


@often
@given(any_rows())
def test_identities_do_not_depend_on_the_dictionary(rows):
    parts = list(rows.columns.values())
    fresh = [Column.of(part.type, part.tolist()) for part in parts]
    grown = [
        part
        if part.type is not ColumnType.STRING
        else strings([*part.tolist(), "!", "~"]).take(slice(0, rows.count))
        for part in parts
    ]
    assert content_ids(fresh).tolist() == content_ids(parts).tolist() == content_ids(grown).tolist()
