import pickle
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import Column, QueryError, Rows
from headwater.query.checking.complaints import Complaints
from headwater.query.expressions import ExprType, condition, evaluate, type_of
from headwater.query.language.parse import parse, parse_expression
from headwater.query.language.printer import show
from headwater.query.language.tree import CreateQuery, Expression, Name, Script, Select
from headwater.query.language.walk import parts_of, with_parts
from headwater.query.operators.pattern.parse import parse_pattern
from headwater.query.operators.pattern.terms import Place, Where, lower
from headwater.query.operators.pattern.text import pattern_text
from tests.laws.draws import bounded
from tests.laws.expression_worlds import KINDS, TYPES, random_expression, random_rows
from tests.laws.language_trees import (
    KEYWORDS,
    expressions,
    neighbourhoods,
    patterns,
    predictions,
    scripts,
    suppressions,
)
from tests.laws.oracles.expressions import shown, value_of

often = bounded(300)

SCRAPS = (
    "CREATE STREAM", "CREATE QUERY q AS", "SELECT * FROM w", "SELECT a, b AS c FROM w", "WHERE", "CORRELATE (", ")", ";",
    "a > 1", "a BETWEEN 1 AND 2", "WITHIN 30 SECONDS", ", 500 METERS", "INSIDE CIRCLE (1, 2, 3 KM)", "'text'", '"name"',
    "(", ",", ".", "-- comment\n", "/* comment */", "/*", "'", '"', "1.5e3", "TIMESTAMP '2026-01-31'", "TIMESTAMP 'x'",
    "CASE WHEN a THEN b END", "3 OF", "\n", "\u2028", "\x00", "😀", "99999999999999999999", "1e999", "SELECT * FROM w MATCH_RECOGNIZE (",
    "PATTERN (A B+ C)", "PATTERN (", "DEFINE A AS", "MEASURES LAST(A.x) AS y", "A~+", "{2,3}", "{3,2}", "{-", "-}", "~>", "~~>", "|",
    "UNTIL (", "PERMUTE (", "NOT B", "()", "^", "$", "?", "!", "COUNT(A.*)", "RUNNING", "ALL ROWS PER MATCH", "SELECT * FROM w NEAREST (",
    "10 TO (1, -2)", "TO EACH OF", "BY (a, b)", "BY PLACE", "OVER 1 HOUR", "OVER 9 ROWS", "USING PROBABLE 0.1", "WITH TIES",
    "WEIGHTED (1, 2)", "CREATE POINTS p (id INT KEY)", "SELECT * FROM w, v SUPPRESS (", "TOLERANCE 2 METERS", "HEARTBEAT 1 MINUTE",
    "USING KALMAN 1, 2", "PREDICT (PAIRS a, b WHERE", "ABS(a.x - b.x) <= 3", "PROBABILITY >= 0.5", "BUFFER 9", "GIVE UP RANDOM 7", *KEYWORDS,
)  # fmt: skip


@often
@given(scripts)
def test_the_text_of_a_tree_says_the_tree(script: Script):
    read, errors = parse(show(script))
    assert errors == []
    assert read == script
    assert repr(read) == repr(script)  # 1, 1.0 and TRUE are equal to Python


@often
@given(patterns)
def test_the_text_of_a_pattern_says_the_pattern(pattern):
    read = parse_pattern(pattern_text(pattern))
    assert read == pattern
    assert pattern_text(read) == pattern_text(pattern)


@often
@given(neighbourhoods)
def test_the_text_of_a_nearest_says_the_nearest(operator):
    script = Script((CreateQuery("q", Select(None, "s", operator=operator)),))
    read, errors = parse(show(script))
    assert errors == []
    assert repr(read) == repr(script)
    assert show(read) == show(script)


@often
@given(suppressions | predictions)
def test_the_text_of_a_suppress_or_predict_says_it(operator):
    script = Script((CreateQuery("q", Select(None, "s", operator=operator)),))
    read, errors = parse(show(script))
    assert errors == []
    assert repr(read) == repr(script)
    assert show(read) == show(script)


@often
@given(expressions)
def test_the_text_of_an_expression_says_the_expression(expression):
    read = parse_expression(show(expression))
    assert repr(read) == repr(expression)
    assert show(read) == show(expression)


@often
@given(st.text() | st.lists(st.sampled_from(SCRAPS), max_size=30).map(" ".join))
def test_any_text_gives_a_script_and_errors_with_places(text: str):
    script, errors = parse(text)
    assert isinstance(script, Script)
    lines = text.split("\n")
    for error in errors:
        assert isinstance(error, QueryError)
        assert error.code == "syntax"
        assert error.span is not None
        assert 1 <= error.span.line <= len(lines)
        assert 1 <= error.span.column <= len(lines[error.span.line - 1]) + 1
        assert error.show(text)
    if not errors:
        assert parse(show(script)) == (script, [])


@often
@given(st.randoms(use_true_random=False), st.sampled_from(KINDS), st.integers(0, 12))
def test_values_of_columns_are_the_values_of_their_rows(random: Random, kind: ExprType, count: int):
    rows = random_rows(random, count)
    expression = random_expression(random, kind, 3)
    expected = [
        shown(
            value_of(expression, {name: (ExprType(TYPES[name].value), value) for name, value in row.items()})
        )
        for row in rows.tolist()
    ]
    found = evaluate(expression, rows)
    assert found.tolist() == expected
    assert len(found) == count
    if found.valid is not None:
        assert not found.values[~found.valid].any()


@often
@given(st.randoms(use_true_random=False), st.sampled_from(KINDS))
def test_an_expression_has_the_type_of_its_values(random: Random, kind: ExprType):
    expression = random_expression(random, kind, 3)
    errors: list[QueryError] = []
    found = type_of(expression, TYPES, errors)
    assert errors == []
    assert found in (kind, ExprType.NULL)
    assert evaluate(expression, random_rows(random, 3)).type is found.column


@often
@given(st.randoms(use_true_random=False), st.integers(0, 12))
def test_a_condition_holds_where_it_is_true(random: Random, count: int):
    rows = random_rows(random, count)
    expression = random_expression(random, ExprType.BOOLEAN, 3)
    carried = pickle.loads(pickle.dumps(condition(expression)))
    assert carried == condition(expression)
    mask = carried(rows)
    assert mask.dtype == np.bool_
    assert mask.tolist() == [value is True for value in evaluate(expression, rows).tolist()]


@often
@given(st.randoms(use_true_random=False), st.sampled_from(KINDS))
def test_evaluating_does_not_change_the_rows(random: Random, kind: ExprType):
    rows = random_rows(random, 6)
    before = pickle.dumps(rows)
    evaluate(random_expression(random, kind, 3), rows)
    assert pickle.dumps(rows) == before


@often
@given(st.randoms(use_true_random=False), st.sampled_from(KINDS), st.booleans())
def test_terms_taken_apart_and_put_together_are_the_expression(
    random: Random, kind: ExprType, there: bool
) -> None:
    """`A.x` is NULL where A has no row; that must come out of one term for many columns as well."""
    rows = random_rows(random, 2)
    expression = _over_variables(random_expression(random, kind, 3), random)
    absent = Rows.of({name: Column.nulls(column.type, 1) for name, column in rows.columns.items()})
    first, tested = (rows.take(np.array([0])) if there else absent), rows.take(np.array([1]))
    given_rows = {
        **{f"A.{name}": column for name, column in first.columns.items()},
        **{f"B.{name}": column for name, column in tested.columns.items()},
        **tested.columns,
    }
    complaints = Complaints()
    lowered = lower(
        expression,
        variables=("A", "B"),
        subsets={},
        columns=TYPES,
        place=Place(Where.DEFINE, "B"),
        complaints=complaints,
    )
    assert complaints.errors == []
    values = {
        f"#{number}": evaluate(term.argument, first if term.variables else tested)
        if there or not term.variables
        else Column.nulls(term_kind.column, 1)
        for number, (term, term_kind) in enumerate(zip(lowered.terms, lowered.kinds, strict=True))
    }
    found = evaluate(lowered.expression, Rows(values, 1))
    assert found.tolist() == evaluate(expression, Rows.of(given_rows)).tolist()


def _over_variables(expression: Expression, random: Random) -> Expression:
    if isinstance(expression, Name):
        return Name(expression.name, random.choice(("A", "A", "B", None)))
    return with_parts(expression, [_over_variables(part, random) for part in parts_of(expression)])
