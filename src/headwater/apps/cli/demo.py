"""`headwater demo`: generated stations, standing queries, live answers on an embedded Spark."""

from __future__ import annotations

import argparse
import math


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How long, and which valley."""
    parser.add_argument(
        "--seconds", type=_seconds, default=20.0, metavar="S", help="how long to run (default: 20)"
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=7,
        metavar="N",
        help="seed of the valley: the same seed gives the same readings",
    )


def run(arguments: argparse.Namespace) -> int:
    """Watch, then tell."""
    from headwater.apps.demo import run_demo

    return run_demo(seconds=arguments.seconds, seed=arguments.seed, debug=arguments.debug)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, not '{text}'")
    return seconds


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected an integer of 0 or more, not '{text}'")
    return int(text)
