"""What a query text says, as a tree of frozen values.

The parser makes it, the builders make the same, the printer turns it back into text, the checker gives it a meaning.
Spans say where a node stood in the text; they never count when two trees are compared. The nodes of an operator are in its
folder, `query/operators/<name>/tree.py`, and are imported from there.
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

__all__ = [
    "Between",
    "Binary",
    "Call",
    "Case",
    "ColumnDefinition",
    "CreateFences",
    "CreatePoints",
    "CreateQuery",
    "CreateStream",
    "Expression",
    "In",
    "IsNull",
    "Item",
    "Literal",
    "Name",
    "Operator",
    "PlaceDefinition",
    "Quantity",
    "Scope",
    "Script",
    "Select",
    "Star",
    "Statement",
    "Timestamp",
    "Unary",
    "Unit",
]
