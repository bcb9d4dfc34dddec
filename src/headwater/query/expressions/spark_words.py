"""How names, constants and a few turns of phrase are written in Spark SQL.

Nothing here depends on a setting of the session: no ANSI mode, time zone or escape rule changes what the text means.
Instants and durations are BIGINT microseconds, since Spark's own arithmetic on timestamps follows the session's time zone.
"""

from __future__ import annotations

import re
from typing import Final

from headwater.query.expressions.kinds import ExprType

INFINITY: Final = "DOUBLE('Infinity')"
_HARMLESS: Final = re.compile(r"[A-Za-z0-9 _.:-]*")
_SIMPLE: Final = re.compile(r"`[^`]*`|[0-9]+L|UNIX_MICROS\(`[^`]*`\)|CAST\('-[0-9]+' AS BIGINT\)")
_TYPES: Final = {ExprType.TIMESTAMP: "BIGINT", ExprType.DURATION: "BIGINT", ExprType.NULL: "STRING"}


def name(column: str) -> str:
    """A column name."""
    return "`" + column.replace("`", "``") + "`"


def text(value: str) -> str:
    """A string constant; as bytes unless it is quite harmless, so that no quote or backslash is ever read."""
    if _HARMLESS.fullmatch(value):
        return f"'{value}'"
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def whole(value: int) -> str:
    """A BIGINT constant."""
    return f"CAST('{value}' AS BIGINT)" if value < 0 else f"{value}L"


def double(value: float) -> str:
    """A DOUBLE constant; the shortest digits that give the same number back."""
    return f"CAST('{value!r}' AS DOUBLE)" if value < 0 else f"{value!r}D"


def null(kind: ExprType) -> str:
    """NULL of a type."""
    return f"CAST(NULL AS {_TYPES.get(kind, kind.value)})"


def without(value: str, *unwanted: str) -> str:
    """A value, NULL where it is one of the constants `unwanted`.

    Spark turns NULLIF(x, y) into an IF that holds x twice, which doubles at every level of an expression; taking a value out
    of an array of one does not.
    """
    array = f"ARRAY({value})"
    for constant in unwanted:
        array = f"ARRAY_REMOVE({array}, {constant})"
    return f"GET({array}, 0)"


def apart(number: str) -> str:
    """A BIGINT that stays an operand of its own.

    Spark reorders sums and products of whole numbers around their constants, and then other partial results overflow; it does
    not look through a shift by 0.
    """
    return number if _SIMPLE.fullmatch(number) else f"SHIFTLEFT({number}, 0)"


def finite(number: str) -> str:
    """A DOUBLE, NULL where it is infinite."""
    return without(number, INFINITY, f"-{INFINITY}")
