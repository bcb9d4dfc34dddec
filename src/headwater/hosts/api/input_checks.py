"""Do the inputs of `hw.run` fit the queries? Said before anything runs: names, files that are there, columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from headwater.hosts.api.input_kinds import Source, source_of
from headwater.hosts.declared_sets import used_columns, used_sets
from headwater.hosts.files import find_files
from headwater.hosts.stream_reading import refuse_misfit, refuse_unusable
from headwater.model import GEOMETRY, DataError, FencesSchema
from headwater.query.language.suggestions import suggest
from headwater.query.planning.plan import Plan


def refuse_strangers(plan: Plan, inputs: Mapping[str, Any]) -> None:
    """Refuse an input that nothing is named like, and a stream or set without an input."""
    streams = [stream.name for stream in plan.streams]
    sets = {schema.name: "points" for schema in plan.points} | {
        schema.name: "fences" for schema in plan.fences
    }
    for name in inputs:
        if name not in streams and name not in sets:
            known = [*streams, *sets]
            raise DataError(
                "unknown-stream",
                f"there is no stream named '{name}'"
                if not sets
                else f"there is no stream, no points and no fences named '{name}'",
                advice=suggest(str(name), known, "inputs" if sets else "streams"),
            )
    used = {schema.name for schema in used_sets(plan)}
    for name in [*_read_streams(plan), *(name for name in sets if name in used)]:
        if name not in inputs:
            raise DataError(
                "no-input",
                f"the {sets[name]} '{name}' have no input"
                if name in sets
                else f"stream '{name}' has no input",
                advice=[f'give one: hw.run(text, {{"{name}": df}})'],
            )


def sources_of(plan: Plan, inputs: Mapping[str, Any]) -> dict[str, Source]:
    """What every input is. One that no query reads is not looked at."""
    sources: dict[str, Source] = {}
    for name in _read_streams(plan):
        sources[name] = source_of(name, inputs[name], plan.columns_read(name), plan.stream(name).time)
    for schema in used_sets(plan):
        polygons = (GEOMETRY,) if isinstance(schema, FencesSchema) else ()
        columns = (*used_columns(plan, schema), *polygons)
        sources[schema.name] = source_of(schema.name, inputs[schema.name], columns, None)
    return sources


def split_sets(plan: Plan, sources: Mapping[str, Source]) -> tuple[dict[str, Any], dict[str, Source]]:
    """The inputs of points and fences, and those of streams."""
    names = {points.name for points in plan.points} | {fences.name for fences in plan.fences}
    sets = {name: source for name, source in sources.items() if name in names}
    return sets, {name: source for name, source in sources.items() if name not in names}


def refuse_unusable_inputs(plan: Plan, streams: Mapping[str, Source]) -> None:
    """Before a run: files that are there and of use, tables with the columns that queries read."""
    for name, source in streams.items():
        if isinstance(source, pa.Table):
            refuse_misfit(plan, name, source)
    paths = {name: source for name, source in streams.items() if isinstance(source, tuple)}
    for path in (path for listed in paths.values() for path in listed):
        if not find_files(path):
            raise DataError("no-files", f"there are no files in '{path}'")
    refuse_unusable(plan, paths)


def _read_streams(plan: Plan) -> list[str]:
    read = {root for query in plan.queries for root in plan.root_streams(query.reads)}
    return [stream.name for stream in plan.streams if stream.name in read]
