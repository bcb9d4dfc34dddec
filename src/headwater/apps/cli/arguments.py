"""What commands have in common: the file of queries, the folder for what they write, and command lines that make no sense."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headwater.model import DataError, HeadwaterError


class UsageError(HeadwaterError):
    """A command line that makes no sense; exit code 2."""


def add_file(parser: argparse.ArgumentParser) -> None:
    """The argument that every command about queries has."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a file with CREATE STREAM and CREATE QUERY statements, or - for standard input",
    )


def read_queries(file: str) -> str:
    """The text of a file of queries."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as fault:
        raise DataError("missing-queries", f"cannot read '{file}': {fault.strerror or fault}") from fault
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        raise DataError(
            "queries-not-text",
            f"'{file}' is not UTF-8 text: byte 0x{data[fault.start]:02x} in line {line}",
            advice=["save it as UTF-8"],
        ) from fault


def folder_for(path: Path) -> Path:
    """The folder for what is written; refused before anything is measured."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unwritable(path, fault) from fault
    return path


def unwritable(path: Path, fault: OSError) -> DataError:
    """Nothing can be written there."""
    return DataError("cannot-write", f"cannot write into the folder '{path}': {fault.strerror or fault}")
