"""What a query text says, as a tree of frozen values.

The parser makes it, the builders make the same, the printer turns it back into text, the checker gives it a meaning.
Spans say where a node stood in the text; they never count when two trees are compared. The nodes of MATCH_RECOGNIZE are in
`tree.patterns`, those of NEAREST in `tree.nearest`, those of SUPPRESS and PREDICT in `tree.predict`, those of
FOLLOW and FENCE in `tree.follow` and `tree.fence`, to be used by those names.
"""

from headwater.query.tree.expressions import (
    Between,
    Binary,
    Call,
    Case,
    Expression,
    In,
    IsNull,
    Literal,
    Name,
    Quantity,
    Scope,
    Star,
    Timestamp,
    Unary,
    Unit,
)
from headwater.query.tree.fence import Fence
from headwater.query.tree.follow import Follow
from headwater.query.tree.nearest import Nearest
from headwater.query.tree.patterns import MatchRecognize
from headwater.query.tree.predict import Predict, Suppress
from headwater.query.tree.statements import (
    Area,
    BoxArea,
    CircleArea,
    Clause,
    ColumnDefinition,
    Correlate,
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Item,
    Operator,
    PlaceDefinition,
    PolygonArea,
    Script,
    Select,
    SensorsArea,
    Statement,
)

__all__ = [
    "Area",
    "Between",
    "Binary",
    "BoxArea",
    "Call",
    "Case",
    "CircleArea",
    "Clause",
    "ColumnDefinition",
    "Correlate",
    "CreateFences",
    "CreatePoints",
    "CreateQuery",
    "CreateStream",
    "Expression",
    "Fence",
    "Follow",
    "In",
    "IsNull",
    "Item",
    "Literal",
    "MatchRecognize",
    "Name",
    "Nearest",
    "Operator",
    "PlaceDefinition",
    "PolygonArea",
    "Predict",
    "Quantity",
    "Scope",
    "Script",
    "Select",
    "SensorsArea",
    "Star",
    "Statement",
    "Suppress",
    "Timestamp",
    "Unary",
    "Unit",
]
