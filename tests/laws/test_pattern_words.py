"""The oracles of MATCH_RECOGNIZE against regular expressions: a row is its letter, a stream a word."""

from __future__ import annotations

import itertools
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.query.operators.pattern.tree import MatchRecognize
from tests.laws.oracles.pattern import matches
from tests.laws.pattern_examples import QUICK, TO_NEXT, ask, rows_of
from tests.laws.pattern_worlds import SCHEMA

Spelled = tuple[str, str, str]  # a pattern with strict links, with `~~>` links, and as a regular expression


def _sequence(parts: list[Spelled]) -> Spelled:
    strict, loose, letters = zip(*parts, strict=True)
    return f"({' '.join(strict)})", f"({' ~~> '.join(loose)})", f"(?:{''.join(letters)})"


def _choice(parts: list[Spelled]) -> Spelled:
    strict, loose, letters = (" | ".join(spelled) for spelled in zip(*parts, strict=True))
    return f"({strict})", f"({loose})", f"(?:{letters.replace(' ', '')})"


def _loop(part: Spelled, quantifier: str) -> Spelled:
    return f"({part[0]}){quantifier}", f"({part[1]})~~{quantifier}", f"(?:{part[2]}){quantifier}"


LETTERS = st.sampled_from("abc").map(lambda letter: (letter.upper(), letter.upper(), letter))


QUANTIFIERS = ("+", "{2}", "{1,2}", "{2,}", "{,2}", "+?", "*?", "??", "{1,2}?")
# Where the inside may be empty, not {1,2}: Perl ends a loop with the empty round that reaches the minimum, and so do we;
# Python tries another one.
SPELLED = st.recursive(
    st.one_of(LETTERS, st.builds(_loop, LETTERS, st.sampled_from(QUANTIFIERS))),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(_sequence),
        st.lists(inner, min_size=2, max_size=2).map(_choice),
        st.builds(_loop, inner, st.sampled_from(("*", "+", "?", "*?", "{2}", "{,2}", "+?", "??"))),
    ),
    max_leaves=5,
)
WORDS = st.text("abc", max_size=8)


def rows_spelling(word: str) -> list[dict[str, Any]]:
    return rows_of(" ".join(f"{letter}{n}" for n, letter in enumerate(word)))


def spelled_matches(operator: MatchRecognize, word: str) -> list[tuple[int, ...]]:
    found = matches(operator, SCHEMA, rows_spelling(word)).get((), [])
    return sorted(tuple(row for _, row in bound) for bound, *_ in found)


@QUICK
@given(spelled=SPELLED, word=WORDS)
def test_the_preferred_match_is_that_of_a_regular_expression(spelled: Spelled, word: str):
    found = (re.compile(spelled[2]).match(word, start) for start in range(len(word)))
    expected = sorted(tuple(range(*match.span())) for match in found if match)
    assert spelled_matches(ask(spelled[0], skip=TO_NEXT), word) == expected


@QUICK
@given(spelled=SPELLED, word=WORDS)
def test_every_match_with_strict_links_is_every_word_of_the_language(spelled: Spelled, word: str):
    spans = itertools.combinations(range(len(word) + 1), 2)
    expected = [tuple(range(a, b)) for a, b in spans if re.fullmatch(spelled[2], word[a:b])]
    assert spelled_matches(ask(spelled[0], every=True), word) == sorted(expected)


@QUICK
@given(spelled=SPELLED, word=st.text("abc", max_size=6))
def test_every_match_with_any_links_is_every_subsequence_of_the_language(spelled: Spelled, word: str):
    chosen = (rows for n in range(1, len(word) + 1) for rows in itertools.combinations(range(len(word)), n))
    expected = [rows for rows in chosen if re.fullmatch(spelled[2], "".join(word[row] for row in rows))]
    assert spelled_matches(ask(spelled[1], every=True), word) == sorted(expected)
