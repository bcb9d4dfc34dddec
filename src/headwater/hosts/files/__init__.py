"""Files in and out: CSV, JSON lines and Parquet into checked rows and bad rows, answers into files.

Nothing that stands in a file raises: what cannot be used comes out as a bad row with its reason, line and text.
"""

from headwater.hosts.files.arrow import rows_from_arrow, rows_to_arrow
from headwater.hosts.files.byte_ranges import ByteRange
from headwater.hosts.files.file_reading import find_files, read_file_rows, read_table_rows
from headwater.hosts.files.file_rows import BAD_TYPES, FileRows
from headwater.hosts.files.json_lines import json_lines
from headwater.hosts.files.row_outputs import (
    FORMATS,
    LATE_TYPES,
    OUTPUT_NAMES,
    Output,
    check_output,
    open_output,
)
from headwater.hosts.files.table_output import TableStyle

__all__ = [
    "BAD_TYPES",
    "FORMATS",
    "LATE_TYPES",
    "OUTPUT_NAMES",
    "ByteRange",
    "FileRows",
    "Output",
    "TableStyle",
    "check_output",
    "find_files",
    "json_lines",
    "open_output",
    "read_file_rows",
    "read_table_rows",
    "rows_from_arrow",
    "rows_to_arrow",
]
