"""Functions of strings. Lengths and positions count code points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from headwater.query.expressions.function_table import (
    Function,
    Signature,
    phrase,
    taking,
    taking_any_of,
    taking_texts,
)
from headwater.query.expressions.kinds import ExprType
from headwater.query.expressions.spark_words import whole
from headwater.query.expressions.values import Value, combine, measure, rename

_TEXT, _B = ExprType.STRING, ExprType.BIGINT
_LEAST, _MOST = -(2**31), 2**31 - 1


def concatenate(*texts: Value) -> Value:
    """One string after the other."""
    return combine(texts, lambda *parts: "".join(parts))


def cut_out(text: str, position: int, length: int = _MOST) -> str:
    """`length` characters from `position` on; 1 is the first character, -1 the last, 0 is taken as 1."""
    start = position - 1 if position > 0 else (len(text) + position if position < 0 else 0)
    return text[max(start, 0) : max(start + length, 0)] if length > 0 else ""


def _substring(text: Value, position: Value, *length: Value) -> Value:
    numbers = [Value(_B, np.clip(n.values, _LEAST, _MOST), n.valid) for n in (position, *length)]
    return combine([text, *numbers], cut_out)


def _spark_substring(arguments: Sequence[str], _: Signature) -> str:
    text, *numbers = arguments
    # Spark counts in 32 bits; beyond them there is no character anyway. (LEAST and GREATEST would lose a NULL.)
    clipped = [
        f"CASE WHEN {n} > {whole(_MOST)} THEN {_MOST} WHEN {n} < {whole(_LEAST)} THEN {_LEAST} ELSE TRY_CAST({n} AS INT) END"
        for n in numbers
    ]
    return f"SUBSTRING({', '.join([text, *clipped])})"


TEXT_FUNCTIONS: Final = (
    Function("UPPER(s)", "s in upper case", taking(_TEXT, gives=_TEXT), lambda s: rename(s, str.upper)),
    Function("LOWER(s)", "s in lower case", taking(_TEXT, gives=_TEXT), lambda s: rename(s, str.lower)),
    Function("LENGTH(s)", "the number of characters in s", taking(_TEXT, gives=_B), lambda s: measure(s, len), phrase("CAST(CHAR_LENGTH({0}) AS BIGINT)")),
    Function(
        "TRIM(s)",
        "s without blanks at both ends",
        taking(_TEXT, gives=_TEXT),
        lambda s: rename(s, lambda name: name.strip(" ")),
        phrase("TRIM({0})"),
    ),
    Function(
        "SUBSTRING(s, n[, length])",
        "the part of s from its n-th character on (1 is the first, -1 the last)",
        taking_any_of(taking(_TEXT, _B, gives=_TEXT), taking(_TEXT, _B, _B, gives=_TEXT)),
        _substring,
        _spark_substring,
    ),
    Function(
        "CONCAT(s, …)",
        "the strings joined, as with `||`",
        taking_texts,
        concatenate,
        lambda arguments, _: f"CONCAT({', '.join(arguments)})",
    ),
)  # fmt: skip
