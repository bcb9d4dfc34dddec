"""Types of arguments survive being written down."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from headwater.compiled.signatures import text_of, type_of


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.mark.parametrize(
    "value",
    [
        True,
        3,
        2.5,
        None,
        np.uint64(7),
        np.zeros(3),
        np.zeros((2, 3), np.int64),
        np.zeros((2, 3), bool).T,
        np.zeros(6)[::2],
        np.frombuffer(b"12345678", np.uint8),
        (1, np.zeros(3)),
        Pair(np.zeros(3), np.zeros(3)),
        Pair(1, (2.5, None)),
    ],
    ids=str,
)
def test_a_type_is_the_same_again(value: object) -> None:
    kind = numba.typeof(value)
    text = text_of(kind)
    assert type_of(json.loads(json.dumps(text))) == kind


def test_a_type_without_a_text_is_left_out() -> None:
    assert text_of(numba.typeof("words")) is None
    assert text_of(numba.typeof((1, "words"))) is None


def test_words_that_are_no_type_are_refused() -> None:
    with pytest.raises(ValueError, match="no type of a number"):
        type_of(["__class__"])
