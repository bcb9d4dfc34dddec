from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.apps.plan.json_places import DEEPEST, NotJson, Value, read_json


def plain(value: Value) -> object:
    if isinstance(value.content, dict):
        return {name: plain(inside) for name, inside in value.content.items()}
    return [plain(item) for item in value.content] if isinstance(value.content, list) else value.content


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(TREES, st.sampled_from([None, 0, 2]), st.booleans())
def test_it_says_what_json_says(tree, indent, ascii_only):
    assert plain(read_json(json.dumps(tree, indent=indent, ensure_ascii=ascii_only)).root) == tree


def test_every_value_has_its_place_and_the_way_to_it():
    root = read_json('{"links": [\n  ["a",\n   "b"],\n  {"between": [1, "\\u007b\\"]"]}]}').root
    links = root.content["links"]
    second = links.content[0].content[1]
    assert (second.content, second.path, second.line, second.column) == ("b", "links[0][1]", 3, 4)
    odd = links.content[1].content["between"].content[1]
    assert (odd.content, odd.path, odd.line, odd.column) == ('{"]', "links[1].between[1]", 4, 19)


def test_a_field_that_is_there_twice_is_reported_and_the_first_counts():
    document = read_json('{"a": 1,\n "a": 2}')
    assert plain(document.root) == {"a": 1}
    assert [(value.path, value.line, value.column) for value in document.repeated] == [("a", 2, 2)]


@pytest.mark.parametrize(
    ("text", "why", "place"),
    [
        ("", "expecting value", (1, 1)),
        ('{"a": 1\n "b": 2}', "expecting ',' delimiter", (2, 2)),
        ("[1] 2", "extra data", (1, 5)),
        ("[NaN]", "NaN is not a JSON number", (1, 1)),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), f"more than {DEEPEST}", (1, DEEPEST + 1)),
        ("[" * 100_000, f"more than {DEEPEST}", (1, 1)),
        ("1" * 5000, "exceeds the limit", (1, 1)),
    ],
)
def test_what_is_not_json_says_why_and_where(text, why, place):
    with pytest.raises(NotJson) as refused:
        read_json(text)
    assert why.lower() in refused.value.why.lower()
    assert (refused.value.line, refused.value.column) == place
