"""`headwater demo`: generated stations, standing queries, live answers on an embedded Spark."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How long, and which valley."""
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="how long to watch (default: 20)"
    )
    parser.add_argument(
        "--seed", type=int, default=7, metavar="N", help="which valley: the same seed, the same readings"
    )


def run(arguments: argparse.Namespace) -> int:
    """Watch, then tell."""
    from headwater.apps.demo import run_demo

    return run_demo(seconds=arguments.seconds, seed=arguments.seed, debug=arguments.debug)
