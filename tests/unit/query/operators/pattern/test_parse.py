"""MATCH_RECOGNIZE as text: what people write, here and elsewhere, and what is said where it goes wrong."""

import pytest

from headwater.kernels.pattern.choices import Contiguity, Mode, RowsPerMatch, SkipTo
from headwater.model import QueryError, Span
from headwater.query.language.parse import is_plain_name, parse, parse_expression
from headwater.query.language.printer import show
from headwater.query.language.tokens import MAX_DEPTH
from headwater.query.language.tree import Call, Name, Quantity, Scope, Star, Unit
from headwater.query.operators.pattern.parse import parse_pattern
from headwater.query.operators.pattern.text import pattern_text
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
    Permutation,
    Sequence,
    Skip,
    Subset,
    Variable,
)

A, B, C = Variable("A"), Variable("B"), Variable("C")
STRICT, RELAXED, ANY = Contiguity.STRICT, Contiguity.RELAXED, Contiguity.ANY


def operator(inside: str) -> MatchRecognize:
    script, errors = parse(f"CREATE QUERY q AS SELECT * FROM s MATCH_RECOGNIZE ({inside})")
    assert errors == []
    return script.statements[0].select.operator


def one_error(inside: str) -> QueryError:
    (error,) = parse(f"CREATE QUERY q AS SELECT * FROM s MATCH_RECOGNIZE (\n{inside})")[1]
    return error


CANONICAL = """\
CREATE QUERY fire AS
SELECT peak
FROM weather
WHERE temperature > 0
MATCH_RECOGNIZE (
  PARTITION BY station, line
  ORDER BY at, sequence
  MEASURES
    MAX(B.temperature) AS peak,
    FINAL LAST(U.at, 1) AS last
  ALL ROWS PER MATCH SHOW EMPTY MATCHES
  MATCH EVERY
  MODE UNRESTRICTED HOLD 32 EVENTS CHOOSE ONE SEED -7
  AFTER MATCH SKIP TO LAST B
  PATTERN (A B~+?! UNTIL (x > 1) ~> NOT D ~~> (C | {- A -})? $)
  WITHIN 6 SECONDS
  WITHIN 1 SECOND BETWEEN ROWS
  WITH TIMEOUTS
  LIMIT 100 PARTIAL MATCHES
  SUBSET U = (A, B), V = (B, C)
  DEFINE
    A AS temperature > 40,
    B AS B.temperature > PREV(B.temperature)
);
"""


def test_there_is_one_way_to_write_a_pattern_query():
    text = """create query fire as select peak from weather where temperature > 0 match_recognize (
      partition by station, line order by at asc, sequence
      measures MAX(B.temperature) as peak, final last(U.at, 1) as last
      all rows per match match every
      mode unrestricted hold 32 events choose one seed -7
      after match skip to B
      pattern ((A) B ~ + ? ! until (x > 1) ~> not D ~~> (C | {- (A) -})? $)
      limit 100 partial matches with timeouts within interval '1' second between rows within 6 seconds
      subset U = (A, B), V = (B, C)
      define A as temperature > 40, B as B.temperature > prev(B.temperature))"""
    script, errors = parse(text)
    assert errors == []
    assert show(script) == CANONICAL
    assert parse(CANONICAL) == (script, [])


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A", A),
        ("((A))", A),
        ("A B C", Sequence((A, B, C), (STRICT, STRICT))),
        ("A ~> B ~~> C", Sequence((A, B, C), (RELAXED, ANY))),
        ("A~>B~~>C", Sequence((A, B, C), (RELAXED, ANY))),
        ("(A B) C", Sequence((Sequence((A, B), (STRICT,)), C), (STRICT,))),
        ("A | B C", Choice((A, Sequence((B, C), (STRICT,))))),
        ("A*", Loop(A, 0, None)),
        ("A+?", Loop(A, 1, None, reluctant=True)),
        ("A??", Loop(A, 0, 1, reluctant=True)),
        ("A{2}", Loop(A, 2, 2)),
        ("A { 2 , } ?", Loop(A, 2, None, reluctant=True)),
        ("A{2,3}", Loop(A, 2, 3)),
        ("A{,3}", Loop(A, 0, 3)),
        ("A~+", Loop(A, 1, None, contiguity=RELAXED)),
        ("A~~{2,4}!", Loop(A, 2, 4, blocking=True, contiguity=ANY)),
        ("(A+)*", Loop(Loop(A, 1, None), 0, None)),
        ("A+ UNTIL (x)", Loop(A, 1, None, until=Name("x"))),
        ("A NOT B C", Sequence((A, Never("B"), C), (STRICT, STRICT))),
        ("()", Empty()),
        ("(A | ())", Choice((A, Empty()))),
        ("^ A $", Sequence((Edge(end=False), A, Edge(end=True)), (STRICT, STRICT))),
        ("PERMUTE (A, B C)", Permutation((A, Sequence((B, C), (STRICT,))))),
        ("{- A B -}+", Loop(Exclusion(Sequence((A, B), (STRICT,))), 1, None)),
        ("first last next", Sequence((Variable("first"), Variable("last"), Variable("next")), (STRICT, STRICT))),
        ('"permute" (A)', Sequence((Variable("permute"), A), (STRICT,))),
    ],
)  # fmt: skip
def test_a_pattern_is_read_as_it_is_meant(text, tree):
    assert parse_pattern(text) == tree
    assert parse_pattern(pattern_text(tree)) == tree


def test_every_node_of_a_pattern_knows_its_place():
    pattern = parse_pattern("A B{2,3}? UNTIL (x) ~> (NOT C | PERMUTE (D, E))")
    assert pattern.span == Span(1, 1, 46)
    loop, choice = pattern.parts[1:]
    assert loop.span == Span(1, 3, 17)
    assert choice.choices[0].span == Span(1, 25, 5)
    assert choice.choices[1].span == Span(1, 33, 14)


@pytest.mark.parametrize(
    ("said", "skip"),
    [
        ("SKIP PAST LAST ROW", Skip(SkipTo.PAST_LAST_ROW)),
        ("SKIP TO NEXT ROW", Skip(SkipTo.NEXT_ROW)),
        ("SKIP TO FIRST B", Skip(SkipTo.FIRST, "B")),
        ("SKIP TO LAST B", Skip(SkipTo.LAST, "B")),
        ("SKIP TO B", Skip(SkipTo.LAST, "B")),
        ("SKIP TO pattern", Skip(SkipTo.LAST, "pattern")),
        ("NO SKIP", Skip(SkipTo.NOWHERE)),
    ],
)
def test_where_the_search_goes_on(said, skip):
    assert operator(f"AFTER MATCH {said} PATTERN (A B)").skip == skip


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        ("ONE ROW PER MATCH", RowsPerMatch.ONE),
        ("ALL ROWS PER MATCH", RowsPerMatch.ALL_SHOW_EMPTY),
        ("ALL ROWS PER MATCH SHOW EMPTY MATCHES", RowsPerMatch.ALL_SHOW_EMPTY),
        ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", RowsPerMatch.ALL_OMIT_EMPTY),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", RowsPerMatch.ALL_WITH_UNMATCHED),
        ("", None),
    ],
)
def test_which_rows_are_emitted(said, rows):
    assert operator(f"{said} PATTERN (A B)").rows == rows


def test_clauses_without_which_a_pattern_can_be():
    assert operator("PATTERN (A)") == MatchRecognize(A)


def test_flink_says_its_interval_in_its_own_way():
    found = operator("ORDER BY ts ASC PATTERN (A B+ C) WITHIN INTERVAL '6' SECOND SUBSET U = (A, B)")
    assert found.within == Quantity(6, Unit.SECONDS)
    assert found.order == (Column("ts"),)
    assert found.subsets == (Subset("U", ("A", "B")),)


def test_a_node_mode():
    assert operator("MODE FIRST PATTERN (A B)").mode == NodeMode(Mode.FIRST)
    assert operator("MODE recent HOLD 8 EVENTS PATTERN (A B)").mode == NodeMode(Mode.RECENT, 8)


def test_words_of_patterns_stay_names():
    words = ["first", "last", "prev", "next", "match", "pattern", "mode", "events", "partition", "order", "by", "asc", "desc", "measures", "one", "rows", "matches", "show", "omit", "empty", "with", "unmatched", "every", "unrestricted", "recent", "hold", "choose", "seed", "after", "no", "skip", "past", "to", "timeouts", "partial", "subset", "define", "running", "final", "permute", "until"]  # fmt: skip
    for word in words:
        assert is_plain_name(word)
        assert parse_expression(f"{word} + A.{word} + {word}.x").right == Name("x", word)
        found = operator(
            f"PARTITION BY {word} ORDER BY {word} MEASURES {word} AS {word} PATTERN (A) SUBSET {word} = ({word}) DEFINE {word} AS {word}"
        )
        assert found.measures[0].name == found.define[0].name == word
        assert found.measures[0].expression == Name(word)
    assert not is_plain_name("match_recognize")


def test_functions_of_measures():
    assert parse_expression("COUNT(*)") == Call("COUNT", (Star(),))
    assert parse_expression("count(A.*)") == Call("COUNT", (Star("A"),))
    assert parse_expression("RUNNING First(A.x)") == Call("FIRST", (Name("x", "A"),), Scope.RUNNING)
    assert parse_expression("final count(*)") == Call("COUNT", (Star(),), Scope.FINAL)
    assert parse_expression("running(x)") == Call("RUNNING", (Name("x"),))


@pytest.mark.parametrize(
    ("inside", "line", "column", "message", "advice"),
    [
        ("PATTERN (A{3,2})", 2, 12, "a loop of at least 3 and at most 2", "the smaller number comes first: {2,3}"),
        ("PATTERN (A{1.5})", 2, 12, "a loop takes an integer, not 1.5", "write it without a decimal point"),
        ("PATTERN (A B", 2, 14, "expected", None),
        ("PATTERN (A+ +)", 2, 13, "expected a part of a pattern", "a loop in a loop needs parentheses: (A+)*"),
        ("PATTERN (A, B)", 2, 11, "expected ')', but found ','", None),
        ("PATTERN (A || B)", 2, 12, "expected a part of a pattern", "separate alternatives with a single bar: A | B"),
        ("PATTERN (A -> B)", 2, 12, "expected a part of a pattern", "write A B for the very next row"),
        ("PATTERN (A !B)", 2, 12, "expected a part of a pattern", "write NOT B for the absence of a row"),
        ("PATTERN (A | )", 2, 14, "expected a part of a pattern", None),
        ("PATTERN ()", 2, 10, "expected a part of a pattern", None),
        ("PATTERN (A) DEFINE A AS x ! 1", 2, 27, "the character '!' has no meaning here", None),
        ("ORDER BY at DESC PATTERN (A)", 2, 13, "a pattern cannot be read backwards in time", "rows are matched in the order"),
        ("PATTERN (A) WITHIN 1 SECOND WITHIN 2 SECONDS", 2, 29, "WITHIN appears here twice", "remove one of them"),
        ("DEFINE A AS x > 1", 2, 1, "expected PATTERN, AFTER, ALL, MATCH", "the clauses come in this order"),
    ],
)  # fmt: skip
def test_an_error_in_a_pattern_says_where_what_and_what_to_do(inside, line, column, message, advice):
    error = one_error(inside)
    assert (error.code, error.span.line, error.span.column) == ("syntax", line, column)
    assert error.message.startswith(message)
    if advice is not None:
        assert error.advice[0].startswith(advice)


def test_parentheses_may_be_many_but_levels_may_not():
    many = MAX_DEPTH * 2
    assert parse_pattern("(" * many + "A" + ")" * many) == A
    with pytest.raises(QueryError, match="levels deep"):
        parse_pattern("(" * many + "A" + ")+" * many)
    with pytest.raises(QueryError, match="levels deep"):
        parse_pattern("A+ UNTIL (" + "(1 + " * many + "1" + ")" * many + " > 0)")
