"""Which rows of a match does an expression of DEFINE, UNTIL or MEASURES read?

An expression becomes terms, each a value of one row or of many rows of the match, and the rest of it over their names
`#0`, `#1`, …

Rule 1  The largest parts that read one and the same row become one term: `A.x + A.y` is the value of `x + y` there.
Rule 2  If there is no such row, a term is NULL. A part that would not be NULL over NULLs (`COALESCE(A.x, 0)`,
        `A.x IS NULL`) is therefore never a term as a whole, unless it reads the row under test, which always exists.
Rule 3  The row under test is the last row of everything it could belong to: in the condition of B, `x`, `B.x` and `LAST(B.x)`
        are that row. UNTIL tests a row that belongs to nothing: there only `x` is that row.
Rule 4  Durations are not values of columns, so none is a term: `A.stop - A.start` is two terms.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NoReturn

from headwater.model import ColumnType, Span
from headwater.query.checking.complaints import Complaints
from headwater.query.expressions import ExprType, evaluate_constant, type_of
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import Call, Expression, Literal, Name, Scope, Star
from headwater.query.language.walk import every_part, parts_of, with_parts

MOST_OFFSET: Final = 10_000
"""How many rows PREV, NEXT, FIRST and LAST may go back or forward: so many are stored for each partition."""

LOGICAL: Final = ("FIRST", "LAST")
PHYSICAL: Final = ("PREV", "NEXT")
AGGREGATES: Final = ("COUNT", "SUM", "AVG", "MIN", "MAX")
_OTHERS: Final = ("CLASSIFIER", "MATCH_NUMBER")
_ALL: Final = frozenset((*LOGICAL, *PHYSICAL, *AGGREGATES, *_OTHERS))

Variables = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class RowTerm:
    """The value of a row-local expression at one row of the match.

    `argument` is over plain columns of the stream. `variables`, sorted, subsets written out, say which rows are counted
    (None: all rows of the match), from the first or the last on, `offset` of them further on or back; `shift` then goes by
    rows of the partition. `final`: over the whole match, not up to the present row.
    """

    argument: Expression
    variables: Variables
    first: bool
    offset: int
    shift: int
    final: bool


@dataclass(frozen=True, slots=True)
class AggregateTerm:
    """COUNT, SUM, AVG, MIN or MAX over the rows of some variables; without argument all rows are counted."""

    function: str
    argument: Expression | None
    variables: Variables
    final: bool


@dataclass(frozen=True, slots=True)
class ClassifierTerm:
    """The variable that a row belongs to; the row is said as in RowTerm."""

    variables: Variables
    first: bool
    offset: int
    shift: int
    final: bool


@dataclass(frozen=True, slots=True)
class MatchNumberTerm:
    """The number of the match in its partition, from 1."""


Term = RowTerm | AggregateTerm | ClassifierTerm | MatchNumberTerm


@dataclass(frozen=True, slots=True)
class Lowered:
    """An expression over `#0`, `#1`, …, and the term and type of each; `kind` is the type of the whole."""

    expression: Expression
    terms: tuple[Term, ...]
    kinds: tuple[ExprType, ...]
    kind: ExprType


class Where(enum.Enum):
    """The clause that contains an expression."""

    DEFINE = "DEFINE"
    UNTIL = "UNTIL"
    MEASURES = "MEASURES"


@dataclass(frozen=True, slots=True)
class Place:
    """The context of an expression: `variable` is the one that DEFINE is about."""

    where: Where
    variable: str | None = None
    all_rows: bool = False
    every: bool = False


def lower(
    expression: Expression,
    *,
    variables: Iterable[str],
    subsets: Mapping[str, tuple[str, ...]],
    columns: Mapping[str, ColumnType],
    place: Place,
    complaints: Complaints,
) -> Lowered | None:
    """The expression taken apart, or None and complaints."""
    lowering = _Lowering(tuple(variables), subsets, columns, place, complaints)
    rest = lowering.closed(lowering.piece(expression))
    kinds = {f"#{number}": ColumnType(kind.value) for number, kind in enumerate(lowering.kinds)}
    kind = type_of(rest, kinds, complaints.errors)
    if kind is None or lowering.broken:
        return None
    return Lowered(rest, tuple(lowering.terms), tuple(lowering.kinds), kind)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a match, as RowTerm says it."""

    variables: Variables
    first: bool = False
    offset: int = 0
    shift: int = 0
    final: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the expression: over columns of one `row`; or, without a row, over terms, or a constant."""

    expression: Expression
    row: _Row | None = None
    constant: bool = False


_UNDER_TEST: Final = _Row(None)


class _WrongPartError(Exception):
    """A part with a reported error; the expression around it is still checked."""


@dataclass(slots=True)
class _Lowering:
    """One walk over an expression."""

    variables: tuple[str, ...]
    subsets: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, ColumnType]
    place: Place
    complaints: Complaints
    broken: bool = False
    terms: list[Term] = field(default_factory=list)
    kinds: list[ExprType] = field(default_factory=list)
    names: dict[str, Name] = field(default_factory=dict)

    def piece(self, node: Expression) -> _Piece:
        """The rows that a part of the expression reads."""
        try:
            if isinstance(node, Name):
                return _Piece(_plain(node), _Row(self._last(self._named(node.qualifier, node.span))))
            if isinstance(node, Call) and node.function in _ALL:
                return self._special(node)
        except _WrongPartError:
            self.broken = True
            return _Piece(Literal(None, span=node.span), constant=True)
        return self._combined(node, [self.piece(part) for part in parts_of(node)])

    def closed(self, piece: _Piece) -> Expression:
        """A piece over terms: a part that reads one row becomes one term."""
        return piece.expression if piece.row is None else self._at(piece.expression, piece.row)

    def _combined(self, node: Expression, pieces: list[_Piece]) -> _Piece:
        rows = {piece.row for piece in pieces if not piece.constant}
        if not rows:
            return _Piece(with_parts(node, (piece.expression for piece in pieces)), constant=True)
        if len(rows) == 1 and (row := rows.pop()) is not None:
            whole = with_parts(node, (piece.expression for piece in pieces))
            if self._is_one_term(whole, row):
                return _Piece(whole, row)
        return _Piece(with_parts(node, map(self.closed, pieces)))

    def _is_one_term(self, whole: Expression, row: _Row) -> bool:
        """Whether it is NULL where there is no row (rule 2)."""
        if row == _UNDER_TEST and self.place.where is not Where.MEASURES:
            return True
        if type_of(whole, self.columns, []) is None:
            return True  # complained of as a whole, once, when it becomes a term
        empty = _over_nulls(whole)
        return type_of(empty, {}, []) is not None and evaluate_constant(empty) is None

    def _at(self, expression: Expression, row: _Row) -> Expression:
        """The value of an expression at a row, as a term."""
        kind = type_of(expression, self.columns, self.complaints.errors)
        self.broken |= kind is None
        if kind is None or kind is ExprType.NULL:
            return Literal(None, span=expression.span)
        if kind is ExprType.DURATION:
            parts = parts_of(expression)
            return with_parts(expression, (self._at(part, row) if _reads(part) else part for part in parts))
        term = RowTerm(expression, row.variables, row.first, row.offset, row.shift, row.final)
        return self._term(term, kind, expression.span)

    def _term(self, term: Term, kind: ExprType, span: Span | None) -> Expression:
        # By its text: to Python `x + 1` is equal to `x + TRUE`.
        known = repr(term)
        if known not in self.names:
            self.names[known] = Name(f"#{len(self.terms)}")
            self.terms.append(term)
            self.kinds.append(kind)
        return replace(self.names[known], span=span)

    # --- functions over matches -----------------------------------------------------------------------------------

    def _special(self, call: Call) -> _Piece:
        if call.function in AGGREGATES:
            return _Piece(self._aggregate(call))
        if call.function == "MATCH_NUMBER":
            return _Piece(self._match_number(call))
        if _classified(call) is not None:
            return self._classifier(call)
        argument, row = self._navigated(call, None)
        if self._is_one_term(argument, row):
            return _Piece(argument, row)
        return _Piece(self._at(argument, row))

    def _aggregate(self, call: Call) -> Expression:
        final = self._is_final(call.scope, call)
        if len(call.arguments) != 1:
            self._refuse("wrong-arguments", f"{call.function} takes one expression", call)
        (argument,) = call.arguments
        if isinstance(argument, Star) and call.function == "COUNT":
            counted = self._named(argument.qualifier, argument.span)
            return self._term(AggregateTerm("COUNT", None, counted, final), ExprType.BIGINT, call.span)
        self._nothing_special(argument, call)
        found = {self._named(name.qualifier, name.span) for name in _names(argument)}
        if len(found) > 1:
            self._refuse(
                "misplaced-aggregate",
                f"{call.function} refers to the rows of one variable, but there are several here",
                call,
                "name both in a SUBSET, or use two aggregates",
            )
        plain = _plain(argument)
        kind = type_of(plain, self.columns, self.complaints.errors)
        if kind is None:
            raise _WrongPartError
        gives = _aggregate_type(call.function, kind)
        if gives is None:
            self._refuse("wrong-arguments", f"{call.function} does not take ({kind.value})", call)
        term = AggregateTerm(call.function, plain, found.pop() if found else None, final)
        return self._term(term, gives, call.span)

    def _match_number(self, call: Call) -> Expression:
        if call.arguments or call.scope:
            self._refuse("wrong-arguments", "MATCH_NUMBER has no arguments: MATCH_NUMBER()", call)
        if self.place.where is not Where.MEASURES and self.place.every:
            self._refuse(
                "not-in-define",
                f"with MATCH EVERY, a match has no number while {self.place.where.value} is decided",
                call,
                "use MATCH_NUMBER() in MEASURES",
            )
        return self._term(MatchNumberTerm(), ExprType.BIGINT, call.span)

    def _classifier(self, call: Call) -> _Piece:
        inner = _classified(call)
        assert inner is not None
        if self.place.where is not Where.MEASURES:
            if self.place.variable is None or call is not inner or call.arguments or call.scope:
                self._refuse(
                    "not-in-define",
                    f"in {self.place.where.value} rows do not belong to variables yet",
                    call,
                    "in DEFINE, CLASSIFIER() is the variable under test; use the other forms in MEASURES",
                )
            return _Piece(Literal(self.place.variable, span=call.span), constant=True)
        row = _Row(self._of_classifier(inner), final=self._is_final(inner.scope, inner))
        if call is not inner:
            row = self._navigated(call, None)[1]
        term = ClassifierTerm(row.variables, row.first, row.offset, row.shift, row.final)
        return _Piece(self._term(term, ExprType.STRING, call.span))

    def _of_classifier(self, call: Call) -> Variables:
        if not call.arguments:
            return None
        name = call.arguments[0]
        if len(call.arguments) > 1 or not isinstance(name, Name) or name.qualifier is not None:
            self._refuse("wrong-arguments", "CLASSIFIER takes a variable or nothing: CLASSIFIER(A)", call)
        return self._named(name.name, name.span)

    # --- navigation -----------------------------------------------------------------------------------------------

    def _navigated(self, call: Call, outer: Scope | None) -> tuple[Expression, _Row]:
        """The value of a navigation, and its row; `outer` is the scope of the navigation around it."""
        if outer and call.scope and outer is not call.scope:
            self._refuse("misplaced-scope", f"{outer.value} and {call.scope.value} in one navigation", call)
        scope = outer or call.scope
        argument, steps = self._steps(call)
        inner = argument if isinstance(argument, Call) else None
        if inner and inner.function in LOGICAL and call.function in PHYSICAL:
            expression, row = self._navigated(inner, scope)
        else:
            expression, row = self._entered(call, argument, scope)
        if call.function in PHYSICAL:
            return expression, replace(row, shift=-steps if call.function == "PREV" else steps)
        return expression, self._counted(row, first=call.function == "FIRST", offset=steps)

    def _entered(self, call: Call, argument: Expression, scope: Scope | None) -> tuple[Expression, _Row]:
        """The argument of the innermost navigation: it reads one variable only."""
        final = self._is_final(scope, call)
        if isinstance(argument, Call) and argument.function == "CLASSIFIER":
            return argument, _Row(self._of_classifier(argument), final=final)
        self._nothing_special(argument, call)
        found = {self._named(name.qualifier, name.span) for name in _names(argument)}
        if call.function in PHYSICAL:
            found = set(map(self._last, found))
        if len(found) != 1:
            several = "refers to the rows of one variable, but there are several here"
            wrong = several if found else "needs a column"
            self._refuse("wrong-navigation", f"{call.function} {wrong}", call, "as in FIRST(A.x + A.y)")
        return _plain(argument), _Row(found.pop(), final=final)

    def _counted(self, row: _Row, *, first: bool, offset: int) -> _Row:
        variables = row.variables
        if variables is None and self.place.where is Where.UNTIL:
            # The row under test belongs to nothing yet: all rows are those that do.
            variables = tuple(sorted(self.variables))
        elif not first and offset == 0:
            variables = self._last(variables)
        return replace(row, variables=variables, first=first, offset=offset)

    def _steps(self, call: Call) -> tuple[Expression, int]:
        """The argument of a navigation and how far it goes."""
        if not 1 <= len(call.arguments) <= 2:
            usage = f"{call.function}(A.x) or {call.function}(A.x, 1)"
            self._refuse("wrong-arguments", f"{call.function} takes a value and a number: {usage}", call)
        if len(call.arguments) == 1:
            return call.arguments[0], 0 if call.function in LOGICAL else 1
        argument, steps = call.arguments
        known = steps.value if isinstance(steps, Literal) else None
        if not isinstance(known, int) or isinstance(known, bool) or not 0 <= known <= MOST_OFFSET:
            self._refuse(
                "wrong-navigation",
                f"the offset of {call.function} must be an integer from 0 to {MOST_OFFSET:,}",
                steps,
                f"as in {call.function}(A.x, 2)",
            )
        return argument, known

    # --- variables ------------------------------------------------------------------------------------------------

    def _named(self, qualifier: str | None, span: Span | None) -> Variables:
        """The variables that a name before a dot refers to."""
        if qualifier is None:
            return None
        if qualifier in self.subsets:
            return tuple(sorted(set(self.subsets[qualifier])))
        if qualifier not in self.variables:
            self.complaints.refuse(
                "unknown-variable",
                f"there is no pattern variable named '{qualifier}'",
                span,
                *suggest(qualifier, (*self.variables, *self.subsets), "variables"),
            )
            raise _WrongPartError
        return (qualifier,)

    def _last(self, variables: Variables) -> Variables:
        """The same, None where the last of their rows is the row under test (rule 3)."""
        own = self.place.variable
        return None if variables is not None and own in variables else variables

    def _is_final(self, scope: Scope | None, call: Call) -> bool:
        if scope is Scope.FINAL and self.place.where is not Where.MEASURES:
            self._refuse(
                "misplaced-scope",
                f"FINAL refers to the whole match, which is not known while {self.place.where.value} is decided",
                call,
                "leave it out: conditions use the rows matched so far",
            )
        # In a match of one row, that row is the last.
        return scope is Scope.FINAL and self.place.all_rows

    def _nothing_special(self, argument: Expression, call: Call) -> None:
        """Functions over matches are not nested."""
        for part in every_part(argument):
            if not isinstance(part, Call) or part.function not in _ALL:
                continue
            message = f"{part.function} cannot be used inside {call.function}"
            if part.function in AGGREGATES:
                self._refuse("misplaced-aggregate", message, part, "aggregates take columns: SUM(A.x + A.y)")
            self._refuse(
                "wrong-navigation",
                message,
                part,
                "only PREV(FIRST(A.x), 1) and the like can be nested",
            )

    def _refuse(self, code: str, message: str, node: Expression, *advice: str) -> NoReturn:
        self.complaints.refuse(code, message, node.span, *advice)
        raise _WrongPartError


def _classified(call: Call) -> Call | None:
    """The CLASSIFIER that a call is or goes to."""
    inner: Expression = call
    while isinstance(inner, Call) and inner.function in (*LOGICAL, *PHYSICAL) and inner.arguments:
        inner = inner.arguments[0]
    return inner if isinstance(inner, Call) and inner.function == "CLASSIFIER" else None


def _aggregate_type(function: str, kind: ExprType) -> ExprType | None:
    if function == "COUNT":
        return ExprType.BIGINT
    if kind in (ExprType.NULL, ExprType.DURATION):
        return None
    if function in ("MIN", "MAX"):
        return kind
    if kind not in (ExprType.BIGINT, ExprType.DOUBLE):
        return None
    return ExprType.DOUBLE if function == "AVG" else kind


def _names(expression: Expression) -> list[Name]:
    return [part for part in every_part(expression) if isinstance(part, Name)]


def _reads(expression: Expression) -> bool:
    return any(isinstance(part, Name) for part in every_part(expression))


def _plain(expression: Expression) -> Expression:
    """The same over columns of the stream, without variables."""
    if isinstance(expression, Name):
        return Name(expression.name, span=expression.span)
    return with_parts(expression, map(_plain, parts_of(expression)))


def _over_nulls(expression: Expression) -> Expression:
    if isinstance(expression, Name):
        return Literal(None)
    return with_parts(expression, map(_over_nulls, parts_of(expression)))
