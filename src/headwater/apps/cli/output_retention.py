"""What `--follow` does with the older files of its output folders: merge them, and remove them on request."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from headwater.apps.cli.arguments import UsageError
from headwater.hosts.spark.output_files import MERGE_AT, Retention

_BYTES: Final = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([KMGT]B)", re.IGNORECASE)


def add_retention(parser: argparse.ArgumentParser) -> None:
    """The flags that say it."""
    parser.add_argument(
        "--merge-output",
        type=_merge_at,
        metavar="N",
        help=f"with --follow: merge the files of an output folder when it has N small ones, 2 or more; 0: never (default: {MERGE_AT})",
    )
    parser.add_argument(
        "--keep-output",
        type=_retention,
        metavar="AMOUNT",
        help="with --follow: how much of each output folder to keep, by age or total size, such as '30 DAYS' or '10 GB' (default: everything)",
    )


def retention_of(arguments: argparse.Namespace) -> Retention:
    """What was said, or what holds if nothing was."""
    merge_at = MERGE_AT if arguments.merge_output is None else arguments.merge_output
    keep_us, keep_bytes = arguments.keep_output or (None, None)
    return Retention(merge_at=merge_at, keep_us=keep_us, keep_bytes=keep_bytes)


def refuse_merged_inputs(inputs: Mapping[str, Sequence[str]]) -> None:
    """The output of a run that merges its files would be read twice: in parts, and merged."""
    from headwater.hosts.spark.sink import merges_at

    for path in (path for paths in inputs.values() for path in paths):
        if Path(path).is_dir() and merges_at(Path(path)):
            raise UsageError(
                "input-is-merged",
                f"'{path}' is the output of a run that merges its files: a run that reads it with --follow would read lines twice",
                advice=["start that run with --merge-output 0, and this one after it"],
            )


def _merge_at(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 1:
        raise argparse.ArgumentTypeError(f"expected 0 or a number of 2 or more, not '{text}'")
    return int(text)


def _retention(text: str) -> tuple[int | None, int | None]:
    """A duration in microseconds, or a number of bytes."""
    from headwater.model import QueriesRefused
    from headwater.query.checking.history_limit import most_history_us

    if size := _SIZE.fullmatch(text.strip()):
        return None, int(float(size[1]) * _BYTES[size[2].upper()])
    try:
        return most_history_us(text), None
    except QueriesRefused:
        raise argparse.ArgumentTypeError(
            f"expected an age such as '30 DAYS' or a size such as '10 GB', not '{text}'"
        ) from None
