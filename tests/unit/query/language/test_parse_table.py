"""The stored parse table is that of the grammar; where it is not, it is not used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.query.language import parse_table
from headwater.query.language.grammar import grammar
from headwater.query.language.parse import STARTS
from headwater.query.language.parse_table import (
    TABLE_FILE,
    ParseTable,
    stored_table,
    stored_text,
    table_of_grammar,
)

SMALL = 'start: "A" thing* -> all_of\nthing: NAME ["B" NAME]\n%declare NAME\n'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The stored table of a small grammar."""
    file = tmp_path / "small.json"
    file.write_text(stored_text(SMALL, ["start"]), encoding="utf-8")
    return file


def test_the_stored_table_is_that_of_the_grammar() -> None:
    """Bytes are equal whatever the hash seed of this run."""
    fresh = stored_text(grammar(), STARTS) == TABLE_FILE.read_text(encoding="utf-8")
    assert fresh, "the grammar or Lark has changed: run make grammar"


def test_a_stored_table_parses_as_the_grammar_does() -> None:
    stored, made = stored_table(grammar(), STARTS), table_of_grammar(grammar(), STARTS)
    assert stored is not None
    assert (stored.kinds, stored.rules) == (made.kinds, made.rules)
    assert [vars(rule.options) for rule in stored.rules] == [vars(rule.options) for rule in made.rules]
    for start in STARTS:
        assert same_from(stored, stored.starts[start], made, made.starts[start]), start


def same_from(one: ParseTable, begin: int, other: ParseTable, other_begin: int) -> bool:
    """Whether two tables do the same from a state of each on, whatever the numbers of their states."""
    met = {begin: other_begin}
    open_states = [begin]
    while open_states:
        state = open_states.pop()
        actions, others = one.states[state], other.states[met[state]]
        if actions.keys() != others.keys():
            return False
        for symbol, (action, target) in actions.items():
            other_action, other_target = others[symbol]
            if action is not other_action:
                return False
            if action is not parse_table.Shift:
                if target != other_target:
                    return False
            elif target not in met:
                met[target] = other_target
                open_states.append(target)
            elif met[target] != other_target:
                return False
    return True


def test_a_table_is_used_for_its_own_grammar_only(small: Path) -> None:
    assert stored_table(SMALL, ["start"], small) is not None
    assert stored_table(SMALL + "\n", ["start"], small) is None
    assert stored_table(SMALL, ["start", "thing"], small) is None


def test_a_table_is_used_for_its_own_lark_only(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_table, "lark_version", "1.99.0")
    assert stored_table(SMALL, ["start"], small) is None


def test_a_table_with_a_changed_byte_is_not_used(small: Path) -> None:
    whole = small.read_bytes()
    for place in range(0, len(whole), 7):
        small.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert stored_table(SMALL, ["start"], small) is None, place


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n[]", b"\xff\xfe", b'{"lark": "1.3"}'])
def test_a_damaged_table_is_not_used(small: Path, content: bytes) -> None:
    small.write_bytes(content)
    assert stored_table(SMALL, ["start"], small) is None


def test_a_table_cut_short_or_missing_is_not_used(small: Path) -> None:
    small.write_bytes(small.read_bytes()[:-2])
    assert stored_table(SMALL, ["start"], small) is None
    small.unlink()
    assert stored_table(SMALL, ["start"], small) is None


def test_the_stored_table_is_json_line_by_line() -> None:
    origin, _, body = TABLE_FILE.read_text(encoding="utf-8").partition("\n")
    assert sorted(json.loads(origin)) == ["grammar", "lark", "table"]
    assert sorted(json.loads(body)) == ["ends", "kinds", "rules", "sets", "starts", "states", "symbols"]
