"""Over how many zones queries are spread, when nobody says."""

from __future__ import annotations

import argparse
import os
from typing import Final

MOST_ZONES: Final = 64


def add_zones(parser: argparse.ArgumentParser) -> None:
    """The flag that sets it."""
    parser.add_argument(
        "--zones",
        type=_zones,
        metavar="N",
        help="over how many zones to spread the queries (default: two a core; a checkpoint keeps what it began with)",
    )


def default_zones() -> int:
    """Two a core: enough to share the work out, few enough that the cost of a call does not count."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(2, min(MOST_ZONES, 2 * cores))


def _zones(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_ZONES:
        raise argparse.ArgumentTypeError(f"a number from 1 to {MOST_ZONES} is wanted, not '{text}'")
    return int(text)
