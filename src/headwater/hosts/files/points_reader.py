"""Which points does a query ask about? Those of files or of a table, read once, before the first row comes.

Rule 1  A point has an id and a finite number for every coordinate that some query asks for; on the globe these are a
        longitude and a latitude. Of several rows with one id the first that is a point counts.
Rule 2  Any other row is a bad row, with its file, line and reason.
Memory  The points and their ids. `fits` is called with how many there are as they come, and may refuse the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa

from headwater.hosts.files.file_reading import find_files, read_file
from headwater.hosts.files.file_rows import (
    FileRequest,
    FileRows,
    describe_bad_rows,
    join_file_rows,
    out_of_this_world,
    without,
)
from headwater.hosts.files.typed_columns import Faults, show_cell
from headwater.model import DataError, PointsSchema, Rows

Fits = Callable[[int], None]
"""Raises when so many points are too many."""


class PointsReader:
    """Reads one declared set of points: the requested columns, of which `places` are longitudes and latitudes."""

    def __init__(
        self,
        schema: PointsSchema,
        columns: Sequence[str],
        *,
        places: Sequence[tuple[str, str]] = (),
        fits: Fits = lambda count: None,
    ) -> None:
        self.schema = schema
        self.columns = tuple(columns)
        self.places = tuple(places)
        self.fits = fits
        self.ids: set[str | int] = set()

    def from_files(self, paths: Iterable[str]) -> FileRows:
        """The points of files, folders and patterns, in their order."""
        files = [file for path in paths for file in find_files(path)]
        return self._together(piece for file in files for piece in read_file(self._request(file)))

    def from_table(self, table: pa.Table) -> FileRows:
        """The points of a table in memory; a bad row's line is its number in it."""
        from headwater.hosts.files.parquet_files import misfit

        request = self._request("")
        if trouble := misfit(table.schema, request):
            raise DataError(
                "points-table",
                f"the points '{self.schema.name}' cannot be read: {trouble.partition(': ')[2]}",
            )
        return self._together(self._pieces(table.select(self.columns), request))

    def judge(self, rows: Rows, faults: Faults) -> Faults:
        """What is wrong with rows that should be points."""
        found: Faults = {}
        for name in self.columns:
            what = "missing-id" if name == self.schema.key else "missing-value"
            found = {**without(rows, name, f"{what}: column '{name}' is empty"), **found}
        faults = {**out_of_this_world(rows, self.places), **found, **faults}
        for row, name in enumerate(rows[self.schema.key].tolist()):
            if row in faults:
                continue
            if name in self.ids:
                faults[row] = f"repeated-id: {show_cell(str(name))} is the id of an earlier point"
            self.ids.add(name)
        return faults

    def _request(self, path: str) -> FileRequest:
        return FileRequest(path, self.schema, self.columns, self.judge)

    def _pieces(self, table: pa.Table, request: FileRequest) -> Iterator[FileRows]:
        from headwater.hosts.files.parquet_files import arrow_file_rows

        done = 0
        for batch in table.to_batches():
            yield arrow_file_rows(request, batch, done)
            done += batch.num_rows

    def _together(self, pieces: Iterable[FileRows]) -> FileRows:
        types = {name: self.schema.types[name] for name in self.columns}
        found = join_file_rows(types, map(self._fitting, pieces))
        if not found.rows.count:
            raise self._nothing(found.bad)
        return found

    def _fitting(self, piece: FileRows) -> FileRows:
        self.fits(len(self.ids))
        return piece

    def _nothing(self, bad: Rows) -> DataError:
        summary, first = describe_bad_rows(bad, "row")
        return DataError(
            "no-points",
            f"the points '{self.schema.name}' include no valid point: {summary}",
            advice=[*first, f"a point has a value in each of these columns: {', '.join(self.columns)}"],
        )
