"""The canonical text of MATCH_RECOGNIZE and of the contents of PATTERN, for `printer.show`."""

from __future__ import annotations

from types import UnionType
from typing import Final

from headwater.kernels.pattern.choices import Contiguity
from headwater.query.language.expression_text import expression_text, lines_of, name_text, operator_text
from headwater.query.operators.pattern.tree import (
    Choice,
    Column,
    Edge,
    Empty,
    Exclusion,
    Loop,
    MatchRecognize,
    Never,
    NodeMode,
    Pattern,
    Permutation,
    Sequence,
    Skip,
    Subset,
    Variable,
)

_LINKS: Final = {Contiguity.STRICT: " ", Contiguity.RELAXED: " ~> ", Contiguity.ANY: " ~~> "}
_CONTIGUITIES: Final = {Contiguity.STRICT: "", Contiguity.RELAXED: "~", Contiguity.ANY: "~~"}
_QUANTIFIERS: Final = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def match_recognize_text(node: MatchRecognize) -> str:
    """`MATCH_RECOGNIZE (…)`."""
    measures = [
        f"{expression_text(measure.expression)} AS {name_text(measure.name)}" for measure in node.measures
    ]
    define = [
        f"{name_text(definition.name)} AS {expression_text(definition.condition)}"
        for definition in node.define
    ]
    lines = [
        *([f"PARTITION BY {_columns(node.partition)}"] if node.partition else []),
        *([f"ORDER BY {_columns(node.order)}"] if node.order else []),
        *(["MEASURES", *lines_of(measures)] if measures else []),
        *([node.rows.value] if node.rows else []),
        *(["MATCH EVERY"] if node.every else []),
        *([_mode(node.mode)] if node.mode else []),
        *([skip_text(node.skip)] if node.skip else []),
        f"PATTERN ({pattern_text(node.pattern)})",
        *([f"WITHIN {expression_text(node.within)}"] if node.within else []),
        *([f"WITHIN {expression_text(node.between_rows)} BETWEEN ROWS"] if node.between_rows else []),
        *(["WITH TIMEOUTS"] if node.timeouts else []),
        *([f"LIMIT {node.limit} PARTIAL MATCHES"] if node.limit is not None else []),
        *([f"FORGET {expression_text(node.forget)}"] if node.forget else []),
        *([f"SUBSET {', '.join(map(_subset, node.subsets))}"] if node.subsets else []),
        *(["DEFINE", *lines_of(define)] if define else []),
    ]
    return operator_text("MATCH_RECOGNIZE", lines)


def skip_text(node: Skip) -> str:
    """`AFTER MATCH …`."""
    variable = "" if node.variable is None else f" {name_text(node.variable)}"
    return f"AFTER MATCH {node.to.value}{variable}"


def pattern_text(node: Pattern) -> str:
    """The contents of PATTERN, or a part of them."""
    match node:
        case Variable():
            return _variable(node.name)
        case Never():
            return f"NOT {_variable(node.name)}"
        case Sequence():
            first, *others = [_grouped(part, Sequence | Choice) for part in node.parts]
            return first + "".join(_LINKS[link] + part for link, part in zip(node.links, others, strict=True))
        case Choice():
            return " | ".join(_grouped(choice, Choice) for choice in node.choices)
        case Permutation():
            return f"PERMUTE ({', '.join(map(pattern_text, node.parts))})"
        case Exclusion():
            return f"{{- {pattern_text(node.pattern)} -}}"
        case Edge():
            return "$" if node.end else "^"
        case Empty():
            return "()"
        case Loop():
            return _loop(node)


def _loop(node: Loop) -> str:
    repeated = _grouped(node.pattern, Sequence | Choice | Loop)
    signs = _CONTIGUITIES[node.contiguity] + _quantifier(node.least, node.most)
    until = "" if node.until is None else f" UNTIL ({expression_text(node.until)})"
    return f"{repeated}{signs}{'?' * node.reluctant}{'!' * node.blocking}{until}"


def _grouped(node: Pattern, looser: UnionType | type) -> str:
    """The text of a part, in parentheses where it is one of the `looser` kinds."""
    return f"({pattern_text(node)})" if isinstance(node, looser) else pattern_text(node)


def _quantifier(least: int, most: int | None) -> str:
    if (sign := _QUANTIFIERS.get((least, most))) is not None:
        return sign
    if least == most:
        return f"{{{least}}}"
    return f"{{{least or ''},{'' if most is None else most}}}"


def _variable(name: str) -> str:
    """A variable in a pattern, where two more words are no names."""
    return f'"{name}"' if name.upper() in ("PERMUTE", "UNTIL") else name_text(name)


def _columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(name_text(column.name) for column in columns)


def _subset(node: Subset) -> str:
    return f"{name_text(node.name)} = ({', '.join(map(name_text, node.members))})"


def _mode(node: NodeMode) -> str:
    hold = "" if node.hold is None else f" HOLD {node.hold} EVENTS"
    seed = "" if node.seed is None else f" CHOOSE ONE SEED {node.seed}"
    return f"MODE {node.mode.value}{hold}{seed}"
