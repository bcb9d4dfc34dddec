"""Whole trees of the language, as Hypothesis strategies: everything that a text can say."""

from hypothesis import strategies as st

from headwater.kernels.correlate.subscription import Emit
from headwater.kernels.fence.choices import Detect
from headwater.kernels.follow.choices import Update
from headwater.kernels.nearest.choices import Algorithm, Emission
from headwater.kernels.pattern.choices import Contiguity, Mode, RowsPerMatch, SkipTo
from headwater.kernels.predict.choices import Certainty, GiveUp
from headwater.kernels.suppress.choices import Predictor
from headwater.model import ColumnType, parse_instant
from headwater.query.language.tree import (
    Between,
    Binary,
    Call,
    Case,
    ColumnDefinition,
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    In,
    IsNull,
    Item,
    Literal,
    Name,
    PlaceDefinition,
    Quantity,
    Scope,
    Script,
    Select,
    Star,
    Timestamp,
    Unary,
    Unit,
)
from headwater.query.operators.correlate.tree import (
    BoxArea,
    CircleArea,
    Clause,
    Correlate,
    PolygonArea,
    SensorsArea,
)
from headwater.query.operators.fence.tree import Fence
from headwater.query.operators.follow.tree import Follow
from headwater.query.operators.nearest.tree import (
    EachTarget,
    NearAttribute,
    Nearest,
    PointTarget,
    ValueTarget,
)
from headwater.query.operators.pattern.tree import (
    Choice,
    Column,
    Definition,
    Edge,
    Empty,
    Exclusion,
    Loop,
    MatchRecognize,
    Measure,
    Never,
    NodeMode,
    Permutation,
    Sequence,
    Skip,
    Subset,
    Variable,
)
from headwater.query.operators.predict.tree import Alias, Predict
from headwater.query.operators.suppress.tree import Dimension, Suppress

# Words of the language are names too, plain or in double quotes.
KEYWORDS = (
    "select", "FROM", "where", "As", "and", "NULL", "case", "end", "create", "within", "correlate", "distinct", "at",
    "key", "time", "place", "late", "row", "rows", "value", "sensors", "stream", "query", "View", "timestamp", "interval",
    "second", "DAY", "km", "of", "per", "limit", "emit", "inside", "all", "latest", "box", "geographic", "idle", "drop",
    "first", "LAST", "prev", "next", "match", "pattern", "mode", "events", "permute", "Until", "running", "final", "define",
    "match_recognize", "skip", "to", "one", "with", "empty", "order", "by", "not", "every", "partial", "subset", "desc",
    "points", "nearest", "each", "highest", "LOWEST", "weighted", "over", "ties", "using", "exact", "probable", "algorithm",
    "enters", "changes", "ra", "suppress", "tolerance", "Heartbeat", "constant", "slope", "least", "squares", "double", "kalman",
    "predict", "pairs", "may", "MUST", "probability", "tentative", "validated", "ahead", "buffer", "give", "up", "random",
    "follow", "RADIUS", "shape", "update", "always", "moved", "quality", "forget", "deliver", "Once", "best", "effort", "interests",
    "fences", "FENCE", "detect", "enter", "Exit", "outside", "cross",
)  # fmt: skip

texts = st.text(st.characters(codec="utf-8"), max_size=8)
names = (
    st.sampled_from(("a", "temperature", "x_1", "_", "größe", "温度", 'a"b', "a b", "1st", "--", "a.b", "'"))
    | st.sampled_from(KEYWORDS)
    | st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
)
functions = st.sampled_from(
    ("ABS", "SECOND", "ROUND", "COALESCE", "NO_SUCH_FUNCTION", "SENSORS", "TIMESTAMP")
)
measured = st.sampled_from(("FIRST", "LAST", "PREV", "NEXT", "COUNT", "SUM", "CLASSIFIER"))
whole = st.integers(-(2**63), 2**63 - 1)
numbers = whole | st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 2**63 - 1)
quantities = st.builds(Quantity, st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9), st.sampled_from(Unit))
instants = st.integers(parse_instant("0001-01-01"), parse_instant("9999-12-31T23:59:59.999999"))

leaves = (
    st.builds(Literal, numbers | texts | st.booleans() | st.none())
    | st.builds(Timestamp, instants)
    | quantities
    | st.builds(Name, names, st.none() | names)
)

BINARY = ("+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "AND", "OR")


def _larger(parts: st.SearchStrategy) -> st.SearchStrategy:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    branches = st.lists(st.tuples(parts, parts), min_size=1, max_size=2).map(tuple)
    return (
        st.builds(Unary, st.sampled_from(("-", "+", "NOT")), parts)
        | st.builds(Binary, st.sampled_from(BINARY), parts, parts)
        | st.builds(Between, parts, parts, parts, st.booleans())
        | st.builds(In, parts, several, st.booleans())
        | st.builds(IsNull, parts, st.booleans())
        | st.builds(Case, branches, st.none() | parts)
        | st.builds(Call, functions, st.just(()) | several)
        | st.builds(Call, measured, several, st.none() | st.sampled_from(Scope))
        | st.builds(Call, st.just("COUNT"), st.tuples(st.builds(Star, st.none() | names)))
    )


expressions = st.recursive(leaves, _larger, max_leaves=12)

keys = st.text(st.characters(codec="utf-8"), max_size=5) | whole
attributes = st.builds(Name, names)
comparisons = st.sampled_from(("=", "<>", "<", "<=", ">", ">="))
conditions = st.builds(Between, attributes, expressions, expressions, st.booleans()) | st.builds(
    Binary, comparisons, attributes, expressions
)
clauses = st.builds(Clause, conditions, st.none() | keys, st.none() | counts, st.none() | names)
areas = (
    st.builds(CircleArea, numbers, numbers, quantities)
    | st.builds(BoxArea, numbers, numbers, numbers, numbers)
    | st.builds(PolygonArea, st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4).map(tuple))
    | st.builds(SensorsArea, st.lists(keys, min_size=1, max_size=3).map(tuple))
)


def _not_turned(operator: Correlate) -> bool:
    """WITHIN takes its time and its distance in any order, so a tree with both in the wrong places has no text."""
    return operator.distance is None or operator.within.unit.is_time or not operator.distance.unit.is_time


correlations = st.builds(
    Correlate,
    st.lists(clauses, min_size=1, max_size=3).map(tuple),
    quantities,
    st.none() | quantities,
    st.none() | areas,
    st.booleans(),
    st.none() | st.sampled_from(Emit),
    st.none() | counts,
).filter(_not_turned)


def _larger_pattern(parts: st.SearchStrategy) -> st.SearchStrategy:
    several = st.lists(parts, min_size=2, max_size=4).map(tuple)
    links = st.sampled_from(Contiguity)
    return (
        several.flatmap(
            lambda made: st.builds(Sequence, st.just(made), st.tuples(*[links] * (len(made) - 1)))
        )
        | st.builds(Choice, several)
        | st.builds(Permutation, st.lists(parts, min_size=1, max_size=3).map(tuple))
        | st.builds(Exclusion, parts)
        | st.builds(_loop, parts, bounds, st.booleans(), st.booleans(), links, st.none() | expressions)
    )


def _loop(part, least_and_most, reluctant, blocking, contiguity, until) -> Loop:
    return Loop(part, *least_and_most, reluctant, blocking, contiguity, until)


bounds = st.sampled_from(((0, None), (1, None), (0, 1), (0, 0))) | st.tuples(counts, counts | st.none()).map(
    lambda pair: pair if pair[1] is None else tuple(sorted(pair))
)
patterns = st.recursive(
    st.builds(Variable, names) | st.builds(Never, names) | st.builds(Edge, st.booleans()) | st.builds(Empty),
    _larger_pattern,
    max_leaves=8,
)
skips = st.builds(Skip, st.sampled_from((SkipTo.PAST_LAST_ROW, SkipTo.NEXT_ROW, SkipTo.NOWHERE))) | st.builds(
    Skip, st.sampled_from((SkipTo.FIRST, SkipTo.LAST)), names
)


def _few(parts: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(parts, max_size=2).map(tuple)


recognitions = st.builds(
    MatchRecognize,
    patterns,
    _few(st.builds(Definition, names, expressions)),
    _few(st.builds(Column, names)),
    _few(st.builds(Column, names)),
    _few(st.builds(Measure, expressions, names)),
    st.none() | st.sampled_from(RowsPerMatch),
    st.booleans(),
    st.none() | st.builds(NodeMode, st.sampled_from(Mode), st.none() | counts, st.none() | whole),
    st.none() | skips,
    st.none() | quantities,
    st.none() | quantities,
    st.booleans(),
    st.none() | counts,
    st.none() | quantities,
    _few(st.builds(Subset, names, st.lists(names, min_size=1, max_size=3).map(tuple))),
)


def _nearest(k, target_and_attributes, over, weights, per, ties, using, emission, forget) -> Nearest:
    target, attributes = target_and_attributes
    over_rows = over if isinstance(over, int) else None
    over_time = None if isinstance(over, int) else over
    return Nearest(k, target, attributes, over_time, over_rows, weights, per, ties, *using, *emission, forget)


several_numbers = st.lists(numbers, min_size=1, max_size=3).map(tuple)
near_attributes = st.lists(st.builds(NearAttribute, names, st.none() | names), min_size=1, max_size=3).map(
    tuple
)
algorithms = st.none() | st.sampled_from(Algorithm)
neighbourhoods = st.builds(
    _nearest,
    whole,
    st.tuples(
        st.builds(PointTarget, several_numbers) | st.builds(EachTarget, names), st.none() | near_attributes
    )
    | st.tuples(st.builds(ValueTarget, names, st.booleans(), st.none() | names), st.none()),
    quantities | whole,
    st.none() | several_numbers,
    st.none() | names,
    st.booleans(),
    st.just((False, None, None))
    | st.tuples(st.just(True), st.none(), algorithms)
    | st.tuples(st.just(False), numbers, algorithms),
    st.sampled_from(((None, None), (Emission.ENTERS, None), (Emission.CHANGES, None)))
    | st.tuples(st.just(Emission.EVERY), quantities),
    st.none() | quantities,
)


def _suppress(dimensions, tolerance, heartbeat, used, forget) -> Suppress:
    return Suppress(dimensions, tolerance, heartbeat, *used, forget)


suppressions = st.builds(
    _suppress,
    st.lists(st.builds(Dimension, names), min_size=1, max_size=3).map(tuple),
    numbers | quantities,
    quantities,
    st.sampled_from(((None, ()), (Predictor.CONSTANT, ()), (Predictor.SLOPE, ())))
    | st.tuples(st.just(Predictor.LEAST_SQUARES), st.tuples(whole))
    | st.tuples(
        st.sampled_from((Predictor.DOUBLE_EXPONENTIAL, Predictor.KALMAN)), st.tuples(numbers, numbers)
    ),
    st.none() | quantities,
)


def _predict(aliases, condition, within, sure, tentative, ahead, every, buffer, given_up) -> Predict:
    return Predict(aliases, condition, within, *sure, tentative, ahead, every, buffer, *given_up)


predictions = st.builds(
    _predict,
    st.lists(st.builds(Alias, names), max_size=3).map(tuple),
    expressions,
    st.none() | quantities,
    st.sampled_from(((None, None), (Certainty.MAY, None), (Certainty.MUST, None)))
    | st.tuples(st.just(Certainty.PROBABILITY), numbers),
    st.none() | st.booleans(),
    st.none() | quantities,
    st.none() | quantities,
    st.none() | whole,
    st.sampled_from(((None, None), (GiveUp.LEAST, None), (GiveUp.NEWEST, None), (GiveUp.OLDEST, None)))
    | st.tuples(st.just(GiveUp.RANDOM), whole),
)


def _follow(focals, where, region, last, update, forget, each, best_effort, interests) -> Follow:
    return Follow(focals, where, *region, last, *update, forget, each, best_effort, interests)


followings = st.builds(
    _follow,
    names,
    st.none() | expressions,
    st.tuples(quantities, st.none(), st.none())
    | st.tuples(st.none(), st.tuples(quantities, quantities), st.none())
    | st.tuples(st.none(), st.none(), names),
    st.none() | quantities,
    st.sampled_from(((None,) * 5, (Update.ALWAYS, None, None, None, None)))
    | st.tuples(st.just(Update.EVERY), quantities, st.none(), st.none(), st.none())
    | st.tuples(st.just(Update.MOVED), st.none(), quantities, st.none(), st.none())
    | st.tuples(
        st.just(Update.QUALITY), st.none(), st.none(), st.tuples(numbers, numbers), st.none() | quantities
    ),
    st.none() | quantities,
    st.none() | st.booleans(),
    st.none() | whole,
    st.booleans(),
)
fencings = st.builds(
    lambda fences, where, region, detect, forget: Fence(fences, where, *region, detect, forget),
    names,
    st.none() | expressions,
    st.just((None, None, None))
    | st.tuples(quantities, st.none(), st.none())
    | st.tuples(st.none(), st.tuples(quantities, quantities), st.none())
    | st.tuples(st.none(), st.none(), names),
    st.none() | st.lists(st.sampled_from(Detect), min_size=1, max_size=5, unique=True).map(tuple),
    st.none() | quantities,
)
operators = correlations | recognitions | neighbourhoods | suppressions | predictions | followings | fencings

types = st.sampled_from([kind for kind in ColumnType if kind is not ColumnType.ID])
columns = st.builds(ColumnDefinition, names, types, st.booleans(), st.booleans())
streams = st.builds(
    CreateStream,
    names,
    st.lists(columns, min_size=1, max_size=4).map(tuple),
    st.none() | st.builds(PlaceDefinition, names, names, st.booleans()),
    quantities,
    st.booleans(),
    st.none() | quantities,
    st.booleans(),
) | st.builds(CreateStream, names, st.lists(columns, min_size=1, max_size=2).map(tuple))
points = st.builds(CreatePoints, names, st.lists(columns, min_size=1, max_size=4).map(tuple))
fences = st.builds(CreateFences, names, st.lists(columns, min_size=1, max_size=4).map(tuple))
items = st.lists(st.builds(Item, expressions, st.none() | names), min_size=1, max_size=3).map(tuple)
sources = names, st.none() | expressions
selects = st.builds(Select, st.none() | items, *sources, st.none() | operators) | st.builds(
    Select,
    st.none() | items,
    *sources,
    operators,
    st.lists(operators, max_size=2).map(tuple),
    st.lists(names, max_size=2).map(tuple),
)
queries = st.builds(CreateQuery, names, selects, view=st.booleans())
scripts = st.lists(streams | points | fences | queries, max_size=3).map(tuple).map(Script)
