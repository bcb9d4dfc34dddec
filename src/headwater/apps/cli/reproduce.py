"""`headwater reproduce EXPERIMENT`: a published figure as a table, a CSV and a picture, and whether its claims hold here."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.apps.reproduce import EXPERIMENTS, SCALES

if TYPE_CHECKING:
    from headwater.apps.reproduce.outcome import Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = "experiments:\n" + "\n".join(f"  {name:<20} {what}" for name, what in EXPERIMENTS.items())
    parser.add_argument("experiment", metavar="EXPERIMENT", choices=list(EXPERIMENTS), help="see below")
    parser.add_argument(
        "--scale",
        choices=SCALES,
        default="small",
        help="small: a minute or two; paper: the sizes that were published (default: small)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where EXPERIMENT.csv and EXPERIMENT.png go (default: the current folder)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure, write, tell; a claim that does not hold is a finding, an answer that is wrong a failure."""
    from headwater.apps.reproduce.picture import draw

    name, folder = arguments.experiment, _folder(arguments.output)
    outcome: Outcome = import_module(f"headwater.apps.reproduce.{name.replace('-', '_')}").reproduce(
        arguments.scale, lambda line: print(line, file=sys.stderr, flush=True)
    )
    table, picture = folder / f"{name}.csv", folder / f"{name}.png"
    outcome.write_csv(table)
    draw(EXPERIMENTS[name], outcome.panels, picture)
    print(outcome.table(), "", *outcome.claims, "", f"{table}\n{picture}", sep="\n")
    for failure in outcome.failures:
        print(f"check failed: {failure}", file=sys.stderr)
    return 1 if outcome.failures else 0


def _folder(path: Path) -> Path:
    """The folder for what is written; refused before anything is measured."""
    from headwater.model import DataError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        reason = fault.strerror or fault
        raise DataError("cannot-write", f"cannot write into the folder '{path}': {reason}") from fault
    return path
