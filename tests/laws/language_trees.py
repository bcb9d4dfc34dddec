"""Whole trees of the language, as Hypothesis strategies: everything that a text can say."""

from hypothesis import strategies as st

from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType, parse_instant
from headwater.query.tree import (
    Between,
    Binary,
    BoxArea,
    Call,
    Case,
    CircleArea,
    Clause,
    ColumnDefinition,
    Correlate,
    CreateQuery,
    CreateStream,
    In,
    IsNull,
    Item,
    Literal,
    Name,
    PlaceDefinition,
    PolygonArea,
    Quantity,
    Script,
    Select,
    SensorsArea,
    Timestamp,
    Unary,
    Unit,
)

# Words of the language are names too, plain or in double quotes.
KEYWORDS = (
    "select", "FROM", "where", "As", "and", "NULL", "case", "end", "create", "within", "correlate", "distinct", "at",
    "key", "time", "place", "late", "row", "rows", "value", "sensors", "stream", "query", "timestamp", "interval",
    "second", "DAY", "km", "of", "per", "limit", "emit", "inside", "all", "latest", "box", "geographic", "idle", "drop",
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


operators = st.builds(
    Correlate,
    st.lists(clauses, min_size=1, max_size=3).map(tuple),
    quantities,
    st.none() | quantities,
    st.none() | areas,
    st.booleans(),
    st.none() | st.sampled_from(Emit),
    st.none() | counts,
).filter(_not_turned)

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
items = st.lists(st.builds(Item, expressions, st.none() | names), min_size=1, max_size=3).map(tuple)
selects = st.builds(Select, st.none() | items, names, st.none() | expressions, st.none() | operators)
queries = st.builds(CreateQuery, names, selects)
scripts = st.lists(streams | queries, max_size=3).map(tuple).map(Script)
