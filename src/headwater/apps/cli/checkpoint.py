"""`headwater checkpoint info|copy|verify STATE`: what a checkpoint holds, a copy that goes on elsewhere, and whether it is whole."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.apps.cli.arguments import UsageError
from headwater.apps.cli.commands import DONE
from headwater.hosts.run_reports.spark_tables import spark_trouble
from headwater.hosts.spark.checkpoint import lock_for_reading, refuse_absent
from headwater.hosts.spark.checkpoint_copy import copy_checkpoint
from headwater.hosts.spark.checkpoint_inspection import (
    inspect_files,
    last_batch,
    measure_files,
    refuse_damaged,
)
from headwater.hosts.spark.checkpoint_notes import FORMAT, Notes, read_notes
from headwater.hosts.spark.checkpoint_relocation import settled_view
from headwater.hosts.spark.inputs import absent_inputs
from headwater.model import BEGINNING, END, HostError, format_instant
from headwater.model.codec import DAMAGED_STATE
from headwater.query.language.words import listed, size_in_words

if TYPE_CHECKING:
    from headwater.hosts.spark.stored_state import StoredZone

MOST_NAMED = 20
"""Damaged files that are named one by one; the others are counted."""

MOST_SHARING = 5
"""Queries that share state which are named one by one; the others are counted."""

_EXAMPLES = """\
examples:
  headwater checkpoint info state/
  headwater checkpoint verify state/
  headwater checkpoint copy state/ backup/2026-01-15
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "action",
        choices=("info", "copy", "verify"),
        metavar="ACTION",
        help="info: show the contents; copy: make a copy that can continue elsewhere; verify: check every checksum",
    )
    parser.add_argument("state", type=Path, metavar="STATE", help="the --checkpoint folder of a run")
    parser.add_argument("to", type=Path, nargs="?", metavar="TO", help="copy: a new or empty folder")


def run(arguments: argparse.Namespace) -> int:
    """Look at a checkpoint, or copy it."""
    if (arguments.action == "copy") != (arguments.to is not None):
        raise UsageError("usage", "copy takes two folders, STATE and TO; info and verify take one")
    refuse_absent(arguments.state)
    action = {"info": _info, "copy": _copy, "verify": _verify}[arguments.action]
    for line in action(arguments):
        print(line)
    return DONE


def _copy(arguments: argparse.Namespace) -> Iterator[str]:
    copied = copy_checkpoint(arguments.state, arguments.to)
    yield f"copied {copied.files} files, {size_in_words(copied.size)}, to '{arguments.to}'"


def _verify(arguments: argparse.Namespace) -> Iterator[str]:
    with lock_for_reading(arguments.state):
        found = inspect_files(arguments.state)
        yield f"files   {found.files}, {size_in_words(found.size)}; {found.checked} have a checksum"
        if found.damaged:
            raise _damaged(arguments.state, found.damaged)
        zones = _zones(arguments)
    faults = {
        f"zone {zone.partition_key}, '{name}'": why for zone in zones for name, why in zone.faults.items()
    }
    if faults:
        raise _damaged(arguments.state, faults)
    cells = sum(len(zone.sizes) for zone in zones)
    yield f"state   {cells} blobs of {len(zones)} zones, {size_in_words(_total(zones))}"
    yield "no damage found"


def _info(arguments: argparse.Namespace) -> Iterator[str]:
    notes = read_notes(arguments.state)
    refuse_damaged(arguments.state)
    if notes is None:
        yield f"the checkpoint '{arguments.state}' has not been used yet"
        return
    zones = _zones(arguments)
    yield from _heading(arguments.state, notes)
    yield ""
    yield from _table(("stream", "input", "reached", "watermark"), _inputs(arguments.state, zones))
    yield ""
    yield from _table(("query", "operator", "reads"), _queries(notes))
    yield ""
    yield from _table(("state of", "size", "blobs", "queries"), _groups(zones, notes))


def _zones(arguments: argparse.Namespace) -> list[StoredZone]:
    """The state, read by Spark."""
    from headwater.hosts.spark.session import embedded_spark
    from headwater.hosts.spark.stored_state import read_zones

    if last_batch(arguments.state, "commits") is None:
        return []
    with (
        settled_view(arguments.state / "spark") as folder,
        embedded_spark(debug=arguments.debug, small=True) as spark,
        spark_trouble(),
    ):
        return read_zones(spark, folder)


def _heading(folder: Path, notes: Notes) -> Iterator[str]:
    files, size = measure_files(folder)
    last = last_batch(folder, "commits")
    yield f"checkpoint  '{folder}', format {FORMAT}, last used by Headwater {notes.version}"
    yield f"zones       {notes.zones}, spread over {notes.tasks} tasks"
    yield f"batches     {'no batch has finished' if last is None else f'finished up to number {last}'}"
    yield f"files       {files}, {size_in_words(size)}"


def _inputs(folder: Path, zones: Sequence[StoredZone]) -> Iterator[tuple[str, ...]]:
    """How far each input of each stream has come in event time, and up to when rows of the stream were used: zones agree."""
    paths = {known.name: known.path for known in absent_inputs((), folder / "headwater" / "files")}
    reached: dict[tuple[str, str], int] = {}
    watermarks: dict[str, int] = {}
    for zone in zones:
        for stream, queue in (zone.head or {"queues": {}})["queues"].items():
            watermarks[stream] = max(queue["handed"], watermarks.get(stream, BEGINNING))
            for name, (at, *_) in queue["clocks"].items():
                key = stream, paths.get(name, name)
                reached[key] = max(at, reached.get(key, BEGINNING))
    for (stream, name), at in sorted(reached.items()):
        yield stream, name, _instant(at), _instant(watermarks[stream])


def _instant(at: int) -> str:
    return {BEGINNING: "nothing yet", END: "the end"}.get(at) or format_instant(at)


def _queries(notes: Notes) -> Iterator[tuple[str, ...]]:
    for name, query in notes.queries.items():
        yield name, query.kind, query.reads


def _groups(zones: Sequence[StoredZone], notes: Notes) -> Iterator[tuple[str, ...]]:
    """The bytes of rows that wait, and of each group of queries with those that share them, largest first."""
    queries: dict[str, list[str]] = {}
    for name, query in notes.queries.items():
        queries.setdefault(f"{query.kind}:{query.reads}", []).append(name)
    sizes: Counter[str] = Counter()
    blobs: Counter[str] = Counter()
    for zone in zones:
        for key, size in zone.chunks.items():
            kind, _, rest = key.partition("/")
            owner = rest.rpartition("/")[0] if kind == "waiting" else rest.partition("/")[0]
            name = owner if kind in ("group", "store") else f"waiting rows of {owner}"
            sizes[name] += size
            blobs[name] += 1
        sizes["heads: clocks and small values"] += zone.sizes.get("head", 0)
        blobs["heads: clocks and small values"] += 1
    for name, size in sizes.most_common():
        sharing = queries.get(name, [])
        shared = "shared by " * (len(sharing) > 1)
        yield name, size_in_words(size), str(blobs[name]), shared + listed(sharing, MOST_SHARING)


def _total(zones: Sequence[StoredZone]) -> int:
    return sum(size for zone in zones for size in zone.sizes.values())


def _table(titles: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    table = [titles, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(titles))]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _damaged(folder: Path, damaged: Mapping[str, str]) -> HostError:
    listed = [f"{name}: {why}" for name, why in damaged.items()]
    more = [f"and {len(listed) - MOST_NAMED} more"] if len(listed) > MOST_NAMED else []
    return HostError(
        "state-unreadable",
        f"the checkpoint '{folder}' is damaged",
        advice=[*listed[:MOST_NAMED], *more, DAMAGED_STATE],
    )
