"""From a checked MATCH_RECOGNIZE to what the kernel takes: names become numbers, expressions become columns and programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from headwater.kernels.pattern import question
from headwater.kernels.pattern import shape as shapes
from headwater.kernels.pattern.choices import Contiguity, RowsPerMatch
from headwater.kernels.pattern.node import NodePattern
from headwater.kernels.pattern.question import Measure, PatternQuery, Program, RowTest
from headwater.kernels.pattern.shape import ALWAYS, Shape
from headwater.model import StreamSchema
from headwater.query.expressions import ExprType, condition, evaluate
from headwater.query.language.walk import columns_of
from headwater.query.operators.pattern import tree
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.programs import Compiler, looks_at_one_row, value_of
from headwater.query.operators.pattern.terms import (
    AggregateTerm,
    ClassifierTerm,
    Lowered,
    RowTerm,
    Term,
    Variables,
)


def make_query(
    name: str,
    fingerprint: str,
    output: int,
    where: int | None,
    operator: PatternOperator,
    source: StreamSchema,
    *,
    by_interest: bool = False,
) -> PatternQuery:
    """The query as the kernel takes it."""
    lowering = _Lowering(operator, source)
    made = lowering.shape(operator.pattern)
    measures = tuple(lowering.measure(*measure) for measure in operator.measures)
    numbers = {variable: number for number, variable in enumerate(operator.variables)}
    return PatternQuery(
        name=name,
        fingerprint=fingerprint,
        output=output,
        where=where,
        partition=operator.partition,
        order=operator.order,
        shape=made,
        variables=operator.variables,
        tests=tuple(lowering.tests),
        recall=lowering.compiler.recall(),
        measures=measures,
        row_columns=_row_columns(operator, source),
        identity=needed_columns(operator, source),
        rows=operator.rows,
        every=operator.every,
        skip=operator.skip,
        skip_to=tuple(numbers[variable] for variable in operator.skip_to if variable in numbers),
        within_us=operator.within_us,
        between_us=operator.between_us,
        timeouts=operator.timeouts,
        limit=operator.limit,
        shifts=_shifts(operator),
        node=_node(operator),
        by_interest=by_interest,
        forget_us=operator.forget_us,
    )


def _node(operator: PatternOperator) -> NodePattern | None:
    if operator.mode is None:
        return None
    parts = operator.pattern.parts if isinstance(operator.pattern, tree.Sequence) else (operator.pattern,)
    repeats = np.array([isinstance(part, tree.Loop) for part in parts], np.bool_)
    assert operator.within_us is not None, "MODE was checked to have a time"
    hold = max(operator.hold, len(parts) - 1)
    return NodePattern(len(parts), repeats, operator.within_us, operator.mode, hold, operator.seed)


def needed_columns(operator: PatternOperator, source: StreamSchema) -> tuple[str, ...]:
    """The columns that make a difference to a query, as declared."""
    if operator.rows is not RowsPerMatch.ONE:
        return tuple(source.types)
    needed = {source.time, *operator.partition, *operator.order}
    for term in _terms(operator):
        if isinstance(term, RowTerm | AggregateTerm) and term.argument is not None:
            needed.update(column.name for column in columns_of(term.argument))
    return tuple(column for column in source.types if column in needed)


def _terms(operator: PatternOperator) -> list[Term]:
    named = (*operator.define, *operator.measures)
    lowered = [*(one for _, one in named), *operator.untils]
    return [term for one in lowered for term in one.terms]


def _shifts(operator: PatternOperator) -> tuple[int, int]:
    shifts = [term.shift for term in _terms(operator) if isinstance(term, RowTerm | ClassifierTerm)]
    return min([0, *shifts]), max([0, *shifts])


def _row_columns(operator: PatternOperator, source: StreamSchema) -> tuple[str, ...]:
    if operator.rows is RowsPerMatch.ONE:
        return ()
    return tuple(name for name in source.types if name != "event_time")


@dataclass(slots=True)
class _Lowering:
    """One query on its way to the kernel."""

    operator: PatternOperator
    source: StreamSchema
    tests: list[RowTest | Program] = field(default_factory=list)
    compiler: Compiler = field(init=False)
    defined: dict[str, int] = field(default_factory=dict)
    _untils: int = 0
    _ones: dict[int, shapes.One] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.compiler = Compiler(self.operator.variables, self.source.types)
        for variable, lowered in self.operator.define:
            self.defined[variable] = self._test(lowered)

    def shape(self, node: tree.Pattern) -> Shape:
        """A part of the pattern."""
        match node:
            case tree.Variable():
                return self._ones.setdefault(id(node), shapes.One(*self._variable(node.name)))
            case tree.Never():
                return shapes.Never(*self._variable(node.name))
            case tree.Sequence():
                return shapes.chain(map(self.shape, node.parts), node.links)
            case tree.Choice():
                return shapes.Choice(tuple(map(self.shape, node.choices)))
            case tree.Permutation():
                return self._permutation(node)
            case tree.Exclusion():
                return shapes.Hidden(self.shape(node.pattern))
            case tree.Edge():
                return shapes.Edge(node.end)
            case tree.Empty():
                return shapes.Nothing()
            case tree.Loop():
                return self._loop(node)

    def measure(self, name: str, lowered: Lowered) -> Measure:
        """A column of the answer."""
        expression = lowered.expression
        terms = tuple(self._term(*term) for term in zip(lowered.terms, lowered.kinds, strict=True))
        return Measure(name, lowered.kind.column, terms, lambda rows: evaluate(expression, rows))

    def _variable(self, name: str) -> tuple[int, int]:
        return self.operator.variables.index(name), self.defined.get(name, ALWAYS)

    def _loop(self, node: tree.Loop) -> shapes.Loop:
        until = None
        if node.until is not None:
            until = self._test(self.operator.untils[self._untils])
            self._untils += 1
        return shapes.Loop(
            self.shape(node.pattern),
            node.least,
            node.most,
            node.reluctant,
            node.blocking,
            node.contiguity,
            until,
        )

    def _permutation(self, node: tree.Permutation) -> Shape:
        """All orders; the parts are the same objects in each, so an element is one element."""
        parts = tuple(map(self.shape, node.parts))
        links = (Contiguity.STRICT,) * (len(parts) - 1)
        return shapes.Choice(tuple(shapes.chain(order, links) for order in permutations(parts)))

    def _test(self, lowered: Lowered) -> int:
        self.tests.append(_row_test(lowered) if looks_at_one_row(lowered) else self.compiler.program(lowered))
        return len(self.tests) - 1

    def _term(self, term: Term, kind: ExprType) -> question.Term:
        match term:
            case RowTerm():
                value = value_of(term.argument)
                return question.RowTerm(
                    value, self._numbers(term.variables), term.first, term.offset, term.shift, term.final
                )
            case AggregateTerm():
                argument = None if term.argument is None else value_of(term.argument)
                return question.AggregateTerm(
                    term.function, argument, kind.column, self._numbers(term.variables), term.final
                )
            case ClassifierTerm():
                return question.ClassifierTerm(
                    self._numbers(term.variables), term.first, term.offset, term.shift, term.final
                )
            case _:
                return question.MatchNumberTerm()

    def _numbers(self, variables: Variables) -> tuple[int, ...] | None:
        if variables is None:
            return None
        return tuple(self.operator.variables.index(variable) for variable in variables)


def _row_test(lowered: Lowered) -> RowTest:
    terms = tuple(
        (value_of(term.argument), term.shift) for term in lowered.terms if isinstance(term, RowTerm)
    )
    return RowTest(repr((lowered.expression, lowered.terms)), terms, condition(lowered.expression))
