"""Which files are there, and what do they say?"""

from __future__ import annotations

import errno
import glob
import re
import stat
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.hosts.files.byte_ranges import ByteRange
from headwater.hosts.files.file_rows import FileRequest, FileRows, Judge, judge_readings, shown_path
from headwater.hosts.files.typed_columns import Faults
from headwater.hosts.stored_code import use_compiled_code
from headwater.model import DataError, Rows, StreamSchema

if TYPE_CHECKING:
    import pyarrow as pa

CSV_NAMES = (".csv", ".csv.gz")
JSON_NAMES = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")
PARQUET_NAMES = (".parquet",)

_PARQUET = b"PAR1"
_OTHER_BEGINNINGS = {
    _PARQUET: "other-format: the file is Parquet: let its name end with .parquet",
    b"\x1f\x8b": "other-format: the file is compressed with gzip: let its name end with .gz, as in .csv.gz",
    b"PK\x03\x04": "other-format: the file is a ZIP archive or a spreadsheet: unpack it, or export it as CSV",
    b"\xff\xfe": "not-utf8: the file is UTF-16: save it as UTF-8",
    b"\xfe\xff": "not-utf8: the file is UTF-16: save it as UTF-8",
}

_ROTATED = re.compile(r"\.[0-9]{1,10}$")
_LEFT_OUT = (".", "_")
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # also a link that leads nowhere


def find_files(path: str) -> list[str]:
    """A file as it is, or the files of a folder or pattern, those changed first in front.

    Hidden ones, those that begin with `_` and those that end with `.tmp` are left out; subfolders are not looked into.
    """
    try:
        return _found(Path(path), path)
    except OSError as fault:
        raise DataError(
            "unreadable-input",
            f"cannot look into '{shown_path(path)}': {fault.strerror or fault}",
            advice=["give a file, a folder or a pattern that this user may read"],
        ) from fault


def _found(place: Path, path: str) -> list[str]:
    if place.is_dir():
        found = list(place.iterdir())
    elif place.exists():
        return [path]
    elif glob.has_magic(path):
        found = [Path(name) for name in glob.glob(path)]  # noqa: PTH207 - a pattern may be absolute
    else:
        raise _missing(place)
    inputs = [(changed, item.name, str(item)) for item in found if (changed := _changed(item)) is not None]
    return [name for _, _, name in sorted(inputs)]


def read_file_rows(
    path: str,
    schema: StreamSchema,
    columns: Sequence[str],
    *,
    judge: Judge | None = None,
    piece_rows: int = 65_536,
    byte_range: ByteRange | None = None,
) -> Iterator[FileRows]:
    """The rows of a file of readings, or of a byte range of it, a piece at a time.

    Only the requested columns, the time among them, must be there and are looked at. Whatever the file holds, there is no
    exception: a row that cannot be used is in `FileRows.bad`, and so is trouble with the file as a whole. `judge` may find more
    that is wrong with readings.
    """
    assert schema.time in columns, "a row without its time is of no use"
    request = FileRequest(
        path, schema, tuple(columns), judge and _both(judge_readings(schema), judge), byte_range
    )
    return read_file(request, piece_rows=piece_rows)


def read_table_rows(
    table: pa.Table,
    schema: StreamSchema,
    columns: Sequence[str],
    *,
    judge: Judge | None = None,
    piece_rows: int = 65_536,
) -> Iterator[FileRows]:
    """The same for a table in memory: a bad row has no file, and its line is its number in the table, from 1."""
    from headwater.hosts.files.parquet_files import arrow_file_rows, misfit

    request = FileRequest("", schema, tuple(columns), judge and _both(judge_readings(schema), judge))
    if trouble := misfit(table.schema, request):
        yield request.refused(trouble)
        return
    done = 0
    for batch in table.select(request.columns).to_batches(max_chunksize=piece_rows):
        yield arrow_file_rows(request, batch, done)
        done += batch.num_rows


def read_file(request: FileRequest, *, piece_rows: int = 65_536) -> Iterator[FileRows]:
    """The requested rows of a file, a piece at a time; the format goes by the end of its name."""
    use_compiled_code()
    name = format_name(request.path)
    if not request.goes_on and (reason := _other_content(request.place, name)):
        return iter([request.refused(reason)])
    if name.endswith(CSV_NAMES):
        from headwater.hosts.files.csv_files import read_csv

        return read_csv(request, piece_rows=piece_rows)
    if name.endswith(JSON_NAMES):
        from headwater.hosts.files.json_files import read_json_lines

        return read_json_lines(request, piece_rows=piece_rows)
    if name.endswith(PARQUET_NAMES):
        from headwater.hosts.files.parquet_files import read_parquet

        return read_parquet(request, piece_rows=piece_rows)
    known = ", ".join((*CSV_NAMES, *JSON_NAMES, *PARQUET_NAMES))
    return iter([request.refused(f"unknown-format: the name must end with one of {known}")])


def _other_content(place: str, name: str) -> str | None:
    """Why the first bytes of a file are not those of the format that its name says; None if they may be."""
    try:
        with Path(place).open("rb") as file:
            beginning = file.read(4)
    except OSError:
        return None  # whoever reads it says so
    if name.endswith(PARQUET_NAMES):
        is_other = beginning and not _PARQUET.startswith(beginning)
        return "other-format: the file is not Parquet, although its name says so" if is_other else None
    if name.endswith((*CSV_NAMES, *JSON_NAMES)) and not name.endswith(".gz"):
        return next(
            (reason for mark, reason in _OTHER_BEGINNINGS.items() if beginning.startswith(mark)), None
        )
    return None


def format_name(path: str) -> str:
    """A name whose end says the format; a number behind it is that of a rotated file: `log.csv.1` is CSV."""
    return _ROTATED.sub("", path.lower())


def _both(first: Judge, second: Judge) -> Judge:
    def judge(rows: Rows, faults: Faults) -> Faults:
        return second(rows, first(rows, faults))

    return judge


def _changed(item: Path) -> int | None:
    """When an input was last changed; None if it is no input, or is gone since the folder was listed."""
    if item.name.startswith(_LEFT_OUT) or item.name.endswith(".tmp"):
        return None
    try:
        status = item.stat()
    except OSError as fault:
        if fault.errno in _GONE:
            return None
        raise
    return status.st_mtime_ns if stat.S_ISREG(status.st_mode) else None


def _missing(place: Path) -> DataError:
    beside = [item.name for item in place.parent.iterdir()] if place.parent.is_dir() else []
    near = get_close_matches(place.name, beside, 1)
    advice = (
        [f"did you mean '{place.parent / near[0]}'?"]
        if near
        else ["give a file, a folder or a pattern such as 'data/*.csv'"]
    )
    return DataError("missing-input", f"there is no file or folder '{place}'", advice=advice)
