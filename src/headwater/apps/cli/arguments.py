"""What commands have in common: the file of queries, the folder for what they write, and command lines that make no sense."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headwater.hosts.query_texts import decoded_query_text, read_query_text
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
    return (
        decoded_query_text(sys.stdin.buffer.read(), file)
        if file == "-"
        else read_query_text(Path(file), file)
    )


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
