"""A token stands where none of its kind may stand: what was expected, in words of the language, and what to do?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lark import Token
from lark.exceptions import UnexpectedToken

from headwater.model import QueryError, Span
from headwater.query.language.leaves import UNITS
from headwater.query.language.suggestions import nearest
from headwater.query.language.tokens import span_of, stray

MOST_EXPECTED: Final = 11
"""Things listed as expected; the others are left out."""

_KINDS: Final = {
    "NAME": "a name",
    "QUOTED": "a name",
    "NUMBER": "a number",
    "STRING": "a string in 'quotes'",
    "$END": "the end of the statement",
}
_VALUE_BEGINS: Final = {
    "NAME", "QUOTED", "NUMBER", "STRING", "LPAR", "MINUS", "PLUS", "NOT", "CASE", "NULL", "TRUE", "FALSE",
}  # fmt: skip
_ARITHMETIC: Final = {"+", "-", "*", "/", "%", "||"}
_COMPARISONS: Final = {"=", "<>", "!=", "<", "<=", ">", ">="}
_COMPARING: Final = _COMPARISONS | {"BETWEEN", "IN", "IS", "NOT"}
_UNITS: Final = set(UNITS)
_PATTERN_BEGINS: Final = {"BEGINNING", "ENDING", "OPEN_EXCLUSION", "PERMUTE", "LPAR", "NOT", "NAME", "QUOTED"}
_QUANTIFIERS: Final = {"*", "+", "?", "{", "~", "~~"}
_LINKS: Final = {"~>", "~~>"}
_ONLY_IN_PATTERNS: Final = {"?", "!", "{", "}", "{-", "-}", "^", "$", "|", "~", "~~", "~>", "~~>"}


_CLAUSES: Final = (
    "the clauses come in this order: PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, MATCH EVERY, MODE, "
    "AFTER MATCH, PATTERN (…), WITHIN, WITH TIMEOUTS, LIMIT, FORGET, SUBSET, DEFINE"
)


_OPERATORS: Final = {"CORRELATE", "FENCE", "FOLLOW", "MATCH_RECOGNIZE", "NEAREST", "PREDICT", "SUPPRESS"}
_WHERE_STANDS: Final = (
    "put a condition on the rows before the operators: FROM events WHERE size > 1 FOLLOW (…); "
    "put a condition on the answers into another query that reads this one"
)

_NEAREST_GOES_ON: Final = {"OVER", "USING", "WEIGHTED"}
_NEAREST_OPTIONS: Final = (
    "after TO come BY (…), WEIGHTED (…), OVER a time or n ROWS, PER column, WITH TIES, USING EXACT or PROBABLE, "
    "EMIT ENTERS, CHANGES or EVERY, FORGET"
)

_SUPPRESS_GOES_ON: Final = {"TOLERANCE", "HEARTBEAT", "USING", "FORGET"}
_PREDICT_GOES_ON: Final = {"MAY", "MUST", "TENTATIVE", "VALIDATED"}
_FOLLOW_REGIONS: Final = {"RADIUS", "BOX", "SHAPE"}
_FOLLOW_GOES_ON: Final = {"FORGET", "DELIVER", "ALWAYS", "MOVED"}
_FENCE_GOES_ON: Final = {"DETECT", "FORGET"}
_DETECTED: Final = {"ENTER", "EXIT", "INSIDE", "OUTSIDE", "CROSS"}
_LEADS_TO_A_NUMBER: Final = {"NUMBER", "-", "INTERVAL", ",", ">="}
_NUMBERS_BEHIND: Final = {
    "SQUARES": "LEAST SQUARES takes the number of samples to which the line is fitted: USING LEAST SQUARES 5",
    "EXPONENTIAL": "DOUBLE EXPONENTIAL takes two numbers, the weights alpha and beta: USING DOUBLE EXPONENTIAL 0.5, 0.5",
    "KALMAN": "KALMAN takes two numbers, the process noise q and the measurement noise r: USING KALMAN 0.1, 1",
    "TOLERANCE": "TOLERANCE takes a number or a length, the distance that a value may have from its line: TOLERANCE 0.5, TOLERANCE 25 METERS",
    "HEARTBEAT": "HEARTBEAT takes a duration, after which an update is always sent: HEARTBEAT 30 SECONDS",
    "PROBABILITY": "PROBABILITY takes a number, the least probability of an answer: PROBABILITY >= 0.9",
    "BUFFER": "BUFFER takes the number of updates to store: BUFFER 10000",
    "RANDOM": "RANDOM takes a seed, any integer: GIVE UP RANDOM 7",
}
"""What is missing behind a word of SUPPRESS and PREDICT that is followed by numbers."""


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords and signs of the grammar: how each terminal is written, and which words may be names."""

    written: Mapping[str, str]
    usable: frozenset[str]
    reserved: frozenset[str]

    @classmethod
    def of(cls, kinds: Mapping[str, str], usable: set[str]) -> Keywords:
        """From the terminal of every keyword and sign, and the terminals that may be names."""
        reserved = {text for text, kind in kinds.items() if text.isidentifier() and kind not in usable}
        return cls({kind: text for text, kind in kinds.items()}, frozenset(usable), frozenset(reserved))


def explain_unexpected(error: UnexpectedToken, keywords: Keywords, end: Span) -> QueryError:
    """The error in words; `end` is where the statement ends."""
    token = error.token
    expected = set(error.interactive_parser.accepts())  # type: ignore[no-untyped-call]
    at_end = token.type == "$END"
    if token in _ONLY_IN_PATTERNS and not _in_pattern(expected, keywords):
        return stray(str(token), span_of(token))
    if lacking := _lacks_dimension(error):
        return lacking
    found = "the statement ends" if at_end else f"found {_shown(token)}"
    wanted = _in_words(expected, keywords)
    return QueryError(
        "syntax",
        f"expected {wanted}, but {found}" if wanted else f"{found} where the statement should end",
        span=end if at_end else span_of(token),
        advice=_missing_number(error, expected, keywords)
        or _advice(token.type, str(token), expected, keywords),
    )


def _lacks_dimension(error: UnexpectedToken) -> QueryError | None:
    """For a SUPPRESS whose options begin where a dimension should stand: they are names, too, so they were read as one."""
    stack = error.interactive_parser.parser_state.value_stack
    read = stack if error.token.type != "RPAR" else [*stack, error.token]
    *before, last = ("", *(part.type if isinstance(part, Token) else "" for part in read))
    if last not in {*_SUPPRESS_GOES_ON, "RPAR"}:
        return None
    if before[-2:] == ["SUPPRESS", "LPAR"]:
        message = "SUPPRESS needs a dimension"
    elif before[-1] == "COMMA" and "SUPPRESS" in before and last != "RPAR":
        message = f"a comma of SUPPRESS must be followed by a dimension, not by {last}"
    else:
        return None
    return QueryError(
        "syntax",
        message,
        span=span_of(read[-1]),
        advice=[
            "list the columns to predict, then the options: SUPPRESS (x, y TOLERANCE 1 HEARTBEAT 30 SECONDS)"
        ],
    )


def _missing_number(error: UnexpectedToken, expected: set[str], keywords: Keywords) -> list[str]:
    """Which number is missing behind the last word, if one must stand there."""
    if not {keywords.written.get(kind, kind) for kind in expected} <= _LEADS_TO_A_NUMBER:
        return []
    stack = error.interactive_parser.parser_state.value_stack
    words = [part.type for part in stack if isinstance(part, Token) and part.isidentifier()]
    return [_NUMBERS_BEHIND[word] for word in words[-1:] if word in _NUMBERS_BEHIND]


def _in_pattern(expected: set[str], keywords: Keywords) -> bool:
    return any(keywords.written.get(kind) in _ONLY_IN_PATTERNS for kind in expected)


def _in_words(expected: set[str], keywords: Keywords) -> str:
    left = set(expected)
    first: list[str] = []
    last: list[str] = []
    if left >= _PATTERN_BEGINS:
        left -= _PATTERN_BEGINS | keywords.usable
        first.append("a part of a pattern")
    elif left >= {"NUMBER", "STRING", "NAME", "LPAR"}:
        left -= _VALUE_BEGINS | keywords.usable
        first.append("an expression")
    elif "NAME" in left:
        left -= keywords.usable
    texts = {_KINDS.get(kind) or keywords.written[kind] for kind in left}
    if texts >= _UNITS:
        texts -= _UNITS
        first += ["ROWS"] if "ROWS" in texts else []
        texts.discard("ROWS")
        first.append("a unit such as SECONDS or METERS")
    if texts >= _LINKS:
        texts -= _LINKS
        last.append("a link such as '~>'")
    if texts >= _QUANTIFIERS:
        texts -= _QUANTIFIERS
        last.append("a quantifier such as '+'")
    elif texts >= {"+", "-", "||"}:
        # AND alone is the one of BETWEEN; beside OR it is an operator like the others.
        texts -= _ARITHMETIC | ({"AND", "OR"} if "OR" in texts else set())
        texts -= _COMPARING if "=" in texts else set()
        last.append("an operator")
    elif texts >= _COMPARISONS:
        texts -= _COMPARISONS
        last.append("a comparison")
    described = sorted(text for text in texts if " " in text)
    # PATTERN first: of the clauses of MATCH_RECOGNIZE it is the one that must be there.
    capitals = sorted(
        (text for text in texts if text.isidentifier()), key=lambda text: (text != "PATTERN", text)
    )
    signs = sorted(f"'{text}'" for text in texts if " " not in text and not text.isidentifier())
    return _listed([*first, *capitals, *described, *signs, *last][:MOST_EXPECTED])


def _advice(kind: str, found: str, expected: set[str], keywords: Keywords) -> list[str]:
    if _in_pattern(expected, keywords) and (hint := _pattern_advice(found)):
        return [hint]
    words = {keywords.written.get(kind) for kind in expected}
    if (
        "NAME" not in expected
        and found.isidentifier()
        and ("PATTERN" in words or {"DEFINE", "SUBSET"} <= words)
    ):
        return [_CLAUSES]
    if kind == "WITHIN" and "NAME" not in expected and words >= _NEAREST_GOES_ON:
        return ["give the window of NEAREST with OVER, as in OVER 1 HOUR"]
    if kind == "WHERE" and words >= _OPERATORS and not words & _ARITHMETIC:
        return [_WHERE_STANDS]
    if kind == "SELECT" and "CREATE" in expected:
        return ["a query has a name: CREATE QUERY name AS SELECT …"]
    if (
        kind in keywords.written
        and "NAME" in expected
        and found.isidentifier()
        and kind not in keywords.usable
    ):
        return [f'{found.upper()} is a keyword: to use it as a name, write "{found}" in double quotes']
    if found.isidentifier():
        candidates = [
            keywords.written[kind] for kind in expected if keywords.written.get(kind, "").isidentifier()
        ]
        if meant := nearest(found, sorted(candidates)):
            return [f"did you mean '{meant}'?"]
    if "NAME" not in expected and (hint := _nearest_advice(kind, found, words)):
        return [hint]
    if "NAME" not in expected and (hint := _predict_advice(found, words)):
        return [hint]
    if "NAME" not in expected and (hint := _fence_advice(words) or _follow_advice(found, words)):
        return [hint]
    if found.isidentifier() and expected == {"NUMBER", "MINUS"}:
        return ["write a number, such as 0.31 or -5: columns and expressions are not allowed here"]
    if kind == "STRING" and "NAME" in expected and "STRING" not in expected:
        return [f'write names in double quotes or without quotes: "{found[1:-1]}"']
    if found in ("<", "<=", ">", ">=", "=") and "AND" in expected:
        return ["a comparison has two sides: write a > 10 AND a < 30, or BETWEEN"]
    return []


def _pattern_advice(found: str) -> str | None:
    """For what people write in patterns elsewhere."""
    if found in ("*", "+", "?", "{"):
        return "a loop in a loop needs parentheses: (A+)*"
    if found == "||":
        return "separate alternatives with a single bar: A | B"
    if found in ("-", ">"):
        return "write A B for the very next row, A ~> B for the next B, A ~~> B for any later B"
    if found == "!":
        return "write NOT B for the absence of a row, and B+! for a loop that takes all rows it can"
    return None


def _nearest_advice(kind: str, found: str, words: set[str | None]) -> str | None:
    """For what people write in NEAREST and the language does not say so."""
    if {"EACH", "HIGHEST", "LOWEST"} <= words:
        named = found.strip("'")
        point = "a point needs parentheses: TO (0.31, 0.22)"
        others = f"write TO EACH OF {named} for declared points, TO HIGHEST {named} or TO LOWEST {named} for values"
        return f"{others}; {point}" if named.isidentifier() or kind == "QUOTED" else point
    if words == {"(", "PLACE"}:
        return "the attributes need parentheses: BY (solar, volts)"
    if words == {"EXACT", "PROBABLE"}:
        return "write USING EXACT or USING PROBABLE 0.001, optionally followed by ALGORITHM and its name"
    if words == {"ENTERS", "CHANGES", "EVERY"}:
        return "write EMIT ENTERS, EMIT CHANGES, or EMIT EVERY 10 SECONDS"
    if words == {"AS", ",", ")"}:
        return "BY takes columns: compute other values in a query, and read that query"
    if not words >= _NEAREST_GOES_ON:
        return None
    if found == ",":
        return "write the options without commas; PER, HIGHEST and LOWEST take one column"
    return _NEAREST_OPTIONS if found.isidentifier() else None


def _predict_advice(found: str, words: set[str | None]) -> str | None:
    """For what people write in SUPPRESS and PREDICT and the language does not say so."""
    if words >= _SUPPRESS_GOES_ON:
        return (
            "after the dimensions come TOLERANCE 0.5, HEARTBEAT 30 SECONDS, USING CONSTANT, SLOPE, LEAST SQUARES 5, "
            "DOUBLE EXPONENTIAL 0.5, 0.5 or KALMAN 0.1, 1, and FORGET 1 DAY"
        )
    if words == {"CONSTANT", "SLOPE", "LEAST", "DOUBLE", "KALMAN"}:
        return "write USING CONSTANT, SLOPE, LEAST SQUARES 5, DOUBLE EXPONENTIAL 0.5, 0.5 or KALMAN 0.1, 1"
    if words == {"LEAST", "NEWEST", "OLDEST", "RANDOM"}:
        return "write GIVE UP LEAST, NEWEST, OLDEST, or RANDOM and a seed, as in GIVE UP RANDOM 7"
    if words == {"WHERE", ","}:
        return "write PAIRS a, b WHERE ABS(a.x - b.x) <= 5 WITHIN 3 SECONDS"
    if words >= _PREDICT_GOES_ON and (found.isidentifier() or found == ","):
        return (
            "after the condition come WITHIN, MAY, MUST or PROBABILITY >= 0.9, VALIDATED, TENTATIVE, AHEAD, EVERY, BUFFER and "
            "GIVE UP, without commas"
        )
    return None


def _follow_advice(found: str, words: set[str | None]) -> str | None:
    """For what people write in FOLLOW and the language does not say so."""
    if words >= _FOLLOW_GOES_ON:
        return (
            "after RADIUS, BOX or SHAPE come LAST, UPDATE ALWAYS, EVERY, MOVED or QUALITY, FORGET, DELIVER ONCE or EACH, "
            "BEST EFFORT and EMIT INTERESTS, without commas"
        )
    if words >= _FOLLOW_REGIONS:
        return "first give the region around an object: RADIUS 500 METERS, BOX 400, 300, or SHAPE and a column with polygons; the other options come after it"
    if words == {"ALWAYS", "EVERY", "MOVED", "QUALITY"}:
        return "write UPDATE ALWAYS, EVERY 10 SECONDS, MOVED 100 METERS or QUALITY 0.8, 0.8"
    if words == {"ONCE", "EACH"}:
        return "write DELIVER ONCE, or DELIVER EACH to deliver an answer once for each interest"
    if words == {"INTERESTS"}:
        return "write EMIT INTERESTS, or leave EMIT out to emit events"
    return None


def _fence_advice(words: set[str | None]) -> str | None:
    """For what people write in FENCE and the language does not say so."""
    if words >= _FENCE_GOES_ON:
        return (
            "after the fences come RADIUS, BOX or SHAPE if they move, DETECT and what to detect, and FORGET, "
            "without commas between them"
        )
    if words == _DETECTED:
        return "write DETECT and what to detect: ENTER, EXIT, INSIDE, OUTSIDE, CROSS"
    return None


def _shown(text: str) -> str:
    short = text if len(text) <= 30 else text[:27] + "…"
    return f"'{short}'" if "'" not in short else short


def _listed(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
