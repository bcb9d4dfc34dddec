"""Which fences does a query ask about? Polygons of GeoJSON files or of a table, read once, before the first row comes.

Rule 1  A fence is a feature with a name and a polygon (see `query.polygons`); the declared columns are its properties. Of several features
        of one name the first that is a fence counts.
Rule 2  Any other feature is a bad row: its reason names the feature, which are counted from 0 as they stand in the file.
Rule 3  A table, or a file of another format, has a column `geometry`, with the text of a GeoJSON geometry or WKT.
Memory  A file as a whole while it is read; then the fences.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from headwater.hosts.files.byte_ranges import open_bytes
from headwater.hosts.files.file_reading import find_files, read_file
from headwater.hosts.files.file_rows import (
    FileRequest,
    FileRows,
    checked_rows,
    describe_bad_rows,
    join_file_rows,
    without,
)
from headwater.hosts.files.text_blocks import BYTE_ORDER_MARK, READ_FAULTS
from headwater.hosts.files.typed_columns import Faults, show_cell
from headwater.model import GEOMETRY, DataError, FencesSchema, Rows, strings
from headwater.query.operators.fence.polygons import NoFence, text_of, text_of_text

GEOJSON_NAMES: Final = (".geojson", ".json", ".geojson.gz", ".json.gz")

SHOWN: Final = 1000
"""Characters of a feature that are shown of a bad one."""


class FencesReader:
    """Reads one declared set of fences: the requested columns; `geographic` if some query needs places on the globe."""

    def __init__(self, schema: FencesSchema, columns: Sequence[str], *, geographic: bool = False) -> None:
        self.schema = schema
        self.columns = tuple(columns)
        self.geographic = geographic
        self.names: set[str | int] = set()

    def from_files(self, paths: Iterable[str]) -> FileRows:
        """The fences of files, folders and patterns, in their order."""
        return self._together(
            piece for path in paths for file in find_files(path) for piece in self._of_file(file)
        )

    def from_table(self, table: pa.Table) -> FileRows:
        """The fences of a table in memory; a bad row's line is its number in it."""
        from headwater.hosts.files.parquet_files import arrow_file_rows, misfit

        request = self._of_table("")
        if trouble := misfit(table.schema, request):
            raise DataError(
                "fences-table",
                f"the fences '{self.schema.name}' cannot be read: {trouble.partition(': ')[2]}",
                advice=[f"polygons are a column '{GEOMETRY}', as the text of a GeoJSON geometry or as WKT"],
            )
        done = np.cumsum([0, *(batch.num_rows for batch in table.to_batches())]).tolist()
        chosen = table.select(request.columns).to_batches()
        return self._together(
            self._drawn(arrow_file_rows(request, batch, before))
            for batch, before in zip(chosen, done, strict=False)
        )

    # --- files --------------------------------------------------------------------------------------------------------

    def _of_file(self, path: str) -> Iterator[FileRows]:
        if path.lower().endswith(GEOJSON_NAMES):
            yield self._of_geojson(path)
        else:
            yield from map(self._drawn, read_file(self._of_table(path)))

    def _of_geojson(self, path: str) -> FileRows:
        request = FileRequest(path, self.schema, (*self.columns, GEOMETRY), self._judge)
        try:
            with open_bytes(path) as file:
                collection = json.loads(file.read().removeprefix(BYTE_ORDER_MARK))
        except READ_FAULTS as fault:
            return request.refused(f"unreadable-file: {getattr(fault, 'strerror', None) or fault}")
        except RecursionError:
            return request.refused("bad-json: nested too deep")
        except ValueError as fault:
            return request.refused(f"bad-json: {getattr(fault, 'msg', 'it is not text').lower()}")
        features = _features(collection)
        if features is None:
            return request.refused(
                "no-features: fences must be a GeoJSON FeatureCollection, or one Feature",
                text=_shown(collection),
            )
        return self._of_features(request, features)

    def _of_features(self, request: FileRequest, features: Sequence[Any]) -> FileRows:
        from headwater.hosts.files.json_files import typed_objects

        rows, faults = typed_objects(request, [self._properties(feature) for feature in features])
        judged = self._judge(rows, faults)
        numbered = {row: _with_number(row, reason) for row, reason in sorted(judged.items())}
        return checked_rows(
            FileRequest(request.path, request.schema, request.columns, lambda _, found: found),
            rows,
            numbered,
            lines=np.zeros(rows.count, np.int64),
            text=lambda row: _shown(features[row]),
        )

    def _properties(self, feature: Any) -> tuple[dict[str, Any], str | None]:
        """The properties of a feature with its polygon as text, and what is wrong with it."""
        if not isinstance(feature, dict) or feature.get("type") != "Feature":
            return {}, "no-feature: it is not a GeoJSON Feature"
        properties = feature.get("properties")
        cells = dict(properties) if isinstance(properties, dict) else {}
        cells.pop(GEOMETRY, None)
        try:
            return {**cells, GEOMETRY: text_of(feature.get("geometry"), geographic=self.geographic)}, None
        except NoFence as fault:
            return cells, str(fault)

    # --- tables -------------------------------------------------------------------------------------------------------

    def _of_table(self, path: str) -> FileRequest:
        return FileRequest(path, self.schema, (*self.columns, GEOMETRY), self._judge_texts)

    def _judge_texts(self, rows: Rows, faults: Faults) -> Faults:
        """The same of rows whose polygons are texts as somebody wrote them."""
        found = dict(faults)
        for row, text in enumerate(rows[GEOMETRY].tolist()):
            try:
                if text is None:
                    raise NoFence(f"no-polygon: column '{GEOMETRY}' is empty")
                text_of_text(text, geographic=self.geographic)
            except NoFence as fault:
                found.setdefault(row, str(fault))
        return self._judge(rows, found)

    def _drawn(self, piece: FileRows) -> FileRows:
        """Good rows with canonical texts."""
        texts = [text_of_text(text, geographic=self.geographic) for text in piece.rows[GEOMETRY].tolist()]
        return FileRows(piece.rows.having(**{GEOMETRY: strings(texts)}), piece.bad, piece.seen)

    # --- both ---------------------------------------------------------------------------------------------------------

    def _judge(self, rows: Rows, faults: Faults) -> Faults:
        """A fence has a name of its own."""
        key = self.schema.key
        faults = {**without(rows, key, f"missing-id: '{key}' is missing"), **faults}
        for row, name in enumerate(rows[key].tolist()):
            if row in faults:
                continue
            if name in self.names:
                faults[row] = f"repeated-id: {show_cell(str(name))} is the name of an earlier fence"
            self.names.add(name)
        return faults

    def _together(self, pieces: Iterable[FileRows]) -> FileRows:
        found = join_file_rows({name: self.schema.types[name] for name in (*self.columns, GEOMETRY)}, pieces)
        if not found.rows.count:
            raise self._nothing(found.bad)
        return found

    def _nothing(self, bad: Rows) -> DataError:
        summary, first = describe_bad_rows(bad, "feature")
        return DataError(
            "no-fences",
            f"the fences '{self.schema.name}' include no valid fence: {summary}",
            advice=[
                *first,
                f"a fence is a Feature with a Polygon or a MultiPolygon and a property '{self.schema.key}'",
            ],
        )


def _features(collection: Any) -> Sequence[Any] | None:
    kind = collection.get("type") if isinstance(collection, dict) else None
    if kind == "Feature":
        return [collection]
    features = collection.get("features") if kind == "FeatureCollection" else None
    return features if isinstance(features, list) else None


def _with_number(row: int, reason: str) -> str:
    code, _, words = reason.partition(": ")
    return f"{code}: feature {row}: {words}"


def _shown(node: Any) -> str:
    text = json.dumps(node, ensure_ascii=True)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
