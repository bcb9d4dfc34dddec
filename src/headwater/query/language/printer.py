"""The canonical text of a tree: `parse(show(tree))` gives the tree back.

One way to write everything: keywords in capitals, one option a line, parentheses only where the grammar needs them, names
quoted only if they must be, units always written. The printer of an operator is in its folder.
"""

from __future__ import annotations

from functools import singledispatch
from typing import get_args

from headwater.query.language.expression_text import alias_text, expression_text, name_text
from headwater.query.language.tree import (
    ColumnDefinition,
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Expression,
    Item,
    Operator,
    PlaceDefinition,
    Script,
    Select,
)


@singledispatch
def show(node: object) -> str:
    """The text of a script, a statement, an operator or an expression."""
    raise AssertionError(f"no text for {type(node).__name__}")


for _kind in get_args(Expression):
    show.register(_kind, expression_text)

for _operator in get_args(Operator):
    show.register(_operator, lambda node: node.text())


@show.register
def _(node: Script) -> str:
    return "\n\n".join(map(show, node.statements)) + "\n" * bool(node.statements)


@show.register
def _(node: CreateStream) -> str:
    parts = [show(part) for part in (*node.columns, node.place) if part is not None]
    options = [
        f" LATE {show(node.late)}{' DROP' * node.drop_late}" if node.late else "",
        f" IDLE {show(node.idle)}" if node.idle else "",
        " DEDUPLICATE" * node.deduplicate,
    ]
    listed = ",\n".join(f"  {part}" for part in parts)
    return f"CREATE STREAM {name_text(node.name)} (\n{listed}\n){''.join(options)};"


@show.register
def _(node: CreatePoints) -> str:
    listed = ",\n".join(f"  {show(column)}" for column in node.columns)
    return f"CREATE POINTS {name_text(node.name)} (\n{listed}\n);"


@show.register
def _(node: CreateFences) -> str:
    listed = ",\n".join(f"  {show(column)}" for column in node.columns)
    return f"CREATE FENCES {name_text(node.name)} (\n{listed}\n);"


@show.register
def _(node: ColumnDefinition) -> str:
    return f"{name_text(node.name)} {node.type.value}{' KEY' * node.key}{' TIME' * node.time}"


@show.register
def _(node: PlaceDefinition) -> str:
    return f"PLACE ({name_text(node.x)}, {name_text(node.y)}){' GEOGRAPHIC' * node.geographic}"


@show.register
def _(node: CreateQuery) -> str:
    return f"CREATE {'VIEW' if node.view else 'QUERY'} {name_text(node.name)} AS\n{show(node.select)};"


@show.register
def _(node: Select) -> str:
    lines = [
        f"SELECT {'*' if node.items is None else ', '.join(map(show, node.items))}",
        f"FROM {', '.join(map(name_text, (node.source, *node.further_sources)))}",
        *([f"WHERE {show(node.where)}"] if node.where else []),
        *map(show, node.chain),
        *([show(node.operator)] if node.operator else []),
    ]
    return "\n".join(lines)


@show.register
def _(node: Item) -> str:
    return show(node.expression) + alias_text(node.alias)
