"""What is wrong inside a SUPPRESS: dimensions and numbers that are missing, and what its options look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from lark import Token
from lark.exceptions import UnexpectedToken

from headwater.model import QueryError
from headwater.query.language.leaves import refused
from headwater.query.language.syntax_advice import SyntaxAdvice, Unexpected
from headwater.query.language.tokens import span_of

_OPTIONS: Final = {"TOLERANCE", "HEARTBEAT", "USING", "FORGET"}


class SuppressAdvice(SyntaxAdvice):
    """Of SUPPRESS."""

    __slots__ = ()

    numbers: ClassVar[Mapping[str, str]] = {
        "SQUARES": "LEAST SQUARES takes the number of samples to which the line is fitted: USING LEAST SQUARES 5",
        "EXPONENTIAL": "DOUBLE EXPONENTIAL takes two numbers, the weights alpha and beta: USING DOUBLE EXPONENTIAL 0.5, 0.5",
        "KALMAN": "KALMAN takes two numbers, the process noise q and the measurement noise r: USING KALMAN 0.1, 1",
        "TOLERANCE": "TOLERANCE takes a number or a length, the distance that a value may have from its line: TOLERANCE 0.5, TOLERANCE 25 METERS",
        "HEARTBEAT": "HEARTBEAT takes a duration, after which an update is always sent: HEARTBEAT 30 SECONDS",
    }

    def error(self, error: UnexpectedToken) -> QueryError | None:
        """Options begin in the place of a dimension: they are names, too, so they were read as one."""
        stack = error.interactive_parser.parser_state.value_stack
        read = stack if error.token.type != "RPAR" else [*stack, error.token]
        *before, last = ("", *(part.type if isinstance(part, Token) else "" for part in read))
        if last not in {*_OPTIONS, "RPAR"}:
            return None
        if before[-2:] == ["SUPPRESS", "LPAR"]:
            message = "SUPPRESS needs a dimension"
        elif before[-1] == "COMMA" and "SUPPRESS" in before and last != "RPAR":
            message = f"a comma of SUPPRESS must be followed by a dimension, not by {last}"
        else:
            return None
        advice = (
            "list the columns to predict, then the options: SUPPRESS (x, y TOLERANCE 1 HEARTBEAT 30 SECONDS)"
        )
        return refused(message, span_of(read[-1]), advice)

    def otherwise(self, unexpected: Unexpected) -> str | None:
        """What its options look like."""
        if unexpected.words >= _OPTIONS:
            return (
                "after the dimensions come TOLERANCE 0.5, HEARTBEAT 30 SECONDS, USING CONSTANT, SLOPE, LEAST SQUARES 5, "
                "DOUBLE EXPONENTIAL 0.5, 0.5 or KALMAN 0.1, 1, and FORGET 1 DAY"
            )
        if unexpected.words == {"CONSTANT", "SLOPE", "LEAST", "DOUBLE", "KALMAN"}:
            return (
                "write USING CONSTANT, SLOPE, LEAST SQUARES 5, DOUBLE EXPONENTIAL 0.5, 0.5 or KALMAN 0.1, 1"
            )
        return None
