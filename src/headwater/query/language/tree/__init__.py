"""What a query text says, as a tree of frozen values.

The parser makes it, the builders make the same, the printer turns it back into text, the checker gives it a meaning.
Spans say where a node stood in the text; they never count when two trees are compared. The nodes of an operator are in its
folder, `query/operators/<name>/tree.py`.
"""

from headwater.query.language.tree.expressions import (
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
from headwater.query.language.tree.statements import (
    ColumnDefinition,
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Item,
    Operator,
    PlaceDefinition,
    Script,
    Select,
    Statement,
)
from headwater.query.operators.correlate.tree import (
    Area,
    BoxArea,
    CircleArea,
    Clause,
    Correlate,
    PolygonArea,
    SensorsArea,
)
from headwater.query.operators.fence.tree import Fence
from headwater.query.operators.follow.tree import Follow
from headwater.query.operators.nearest.tree import Nearest
from headwater.query.operators.pattern.tree import MatchRecognize
from headwater.query.operators.predict.tree import Predict
from headwater.query.operators.suppress.tree import Suppress

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
