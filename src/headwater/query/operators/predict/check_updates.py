"""Does a PREDICT read streams of updates? What makes a row an update is said in `checking/updates.py`."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.model import StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.updates import HEARTBEAT, TOLERANCE, dimensions_in, slope_of
from headwater.query.language.tree import Name
from headwater.query.language.walk import every_part
from headwater.query.operators.predict.tree import Predict


def check_updates(tree: Predict, schemas: Sequence[StreamSchema | None], complaints: Complaints) -> None:
    """Every source of a PREDICT that is known is a stream of updates."""
    for schema in schemas:
        if schema is None:
            continue
        types = schema.types
        missing = [name for name in (TOLERANCE, HEARTBEAT) if name not in types]
        if not dimensions_in(schema):
            missing.insert(0, slope_of(_a_dimension(tree, schema)))
        if missing:
            _refuse(tree, schema, f"it has no {_listed(missing)}", complaints)
            continue
        for name in (TOLERANCE, HEARTBEAT):
            if not types[name].numeric:
                _refuse(tree, schema, f"its '{name}' is {types[name].value}", complaints)


def _refuse(tree: Predict, schema: StreamSchema, why: str, complaints: Complaints) -> None:
    name = _a_dimension(tree, schema)
    complaints.refuse(
        "no-updates",
        f"'{schema.name}' is not a stream of updates: {why}",
        tree.span,
        f"put SUPPRESS ({name} TOLERANCE … HEARTBEAT …) before PREDICT",
        f"or, if its rows are updates, give their columns the names {name}, {slope_of(name)}, {TOLERANCE} and {HEARTBEAT}",
    )


def _a_dimension(tree: Predict, schema: StreamSchema) -> str:
    """The first column of numbers that the condition names; any other if it names none."""
    types = schema.types
    named = (part.name for part in every_part(tree.condition) if isinstance(part, Name))
    return next((name for name in named if name in types and types[name].numeric), "x")


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return " and no ".join([", no ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]
