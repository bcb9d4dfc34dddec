"""`headwater reproduce EXPERIMENT`: published figures as a table, a CSV and pictures, and whether their claims hold here."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from headwater.apps.cli.arguments import UsageError, folder_for
from headwater_lab.reproduce import EXPERIMENTS, GOES_ON, SCALES, TAKES_DATA

if TYPE_CHECKING:
    from headwater_lab.reproduce.outcome import Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = "experiments:\n" + "\n".join(f"  {name:<20} {what}" for name, what in EXPERIMENTS.items())
    parser.add_argument("experiment", metavar="EXPERIMENT", choices=list(EXPERIMENTS), help="see below")
    parser.add_argument(
        "--scale",
        choices=SCALES,
        default="small",
        help="small: a few minutes at most; paper: the sizes that were published (default: small)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where EXPERIMENT.csv, its pictures and its page go (default: the current folder)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write claims and figures to FILE")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="recorded data instead of generated data ("
        + "; ".join(f"{name}: {what}" for name, what in TAKES_DATA.items())
        + ")",
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure, write, print; a claim that does not hold is a finding, an answer that is wrong a failure."""
    if arguments.json:
        folder_for(arguments.json.parent)
    name, options, folder = (
        arguments.experiment,
        _recorded_data(arguments),
        folder_for(arguments.output).absolute(),
    )
    progress = folder / f".{name}-{arguments.scale}"
    options |= {"progress": progress} if name in GOES_ON else {}
    outcome: Outcome = import_module(f"headwater_lab.reproduce.{name.replace('-', '_')}").reproduce(
        arguments.scale, lambda line: print(line, file=sys.stderr, flush=True), **options
    )
    folder.mkdir(parents=True, exist_ok=True)  # it may have gone meanwhile
    written = _write(name, outcome, folder)
    if not outcome.failures:
        rmtree(progress, ignore_errors=True)
    if arguments.json:
        outcome.write_json(arguments.json)
        written.append(arguments.json)
    print(outcome.table(), "", *outcome.claims, "", *written, sep="\n")
    for failure in outcome.failures:
        print(f"check failed: {failure}", file=sys.stderr)
    return 1 if outcome.failures else 0


def _recorded_data(arguments: argparse.Namespace) -> dict[str, Path]:
    """The recorded data, for the experiments that take it."""
    from headwater.model import DataError

    if arguments.data is None:
        return {}
    if arguments.experiment not in TAKES_DATA:
        raise UsageError("usage", f"'{arguments.experiment}' takes no --data")
    if not arguments.data.is_file():
        raise DataError("missing-input", f"there is no file '{arguments.data}'")
    return {"data": arguments.data}


def _write(name: str, outcome: Outcome, folder: Path) -> list[Path]:
    """The table, the pictures, and for an outcome that says how it was measured, a page."""
    from headwater_lab.reproduce.page import write_page
    from headwater_lab.reproduce.picture import draw

    table, title = folder / f"{name}.csv", EXPERIMENTS[name]
    outcome.write_csv(table)
    alone = {folder / f"{name}-{panel.file}.png": panel for panel in outcome.panels if panel.file}
    for path, panel in alone.items():
        draw("", [panel], path)
    pictures = list(alone)
    if together := [panel for panel in outcome.panels if not panel.file]:
        pictures.insert(0, folder / f"{name}.png")
        draw(title, together, pictures[0])
    if not outcome.about:
        return [table, *pictures]
    outcome.write_parquet(table.with_suffix(".parquet"))
    write_page(title, outcome, pictures, table.with_suffix(".html"))
    further = {folder / f"{name}-{called}": text for called, text in outcome.texts.items()}
    for path, text in further.items():
        path.write_text(text, encoding="utf-8")
    return [table, table.with_suffix(".parquet"), *pictures, table.with_suffix(".html"), *further]
