"""Over how many zones queries are spread, when nobody says."""

from __future__ import annotations

import argparse

from headwater.hosts.cores import usable_cores
from headwater.query.planning.zones import MOST_ZONES, default_zones


def add_zones(parser: argparse.ArgumentParser) -> None:
    """The flag that sets it."""
    parser.add_argument(
        "--zones",
        type=_zones,
        metavar="N",
        help="over how many zones to spread the queries (default: two per core; a checkpoint keeps the number it began with, and refuses another)",
    )


def zones_here() -> int:
    """So many as suit the cores of this machine."""
    return default_zones(usable_cores())


def _zones(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_ZONES:
        raise argparse.ArgumentTypeError(f"a number from 1 to {MOST_ZONES} is expected, not '{text}'")
    return int(text)
