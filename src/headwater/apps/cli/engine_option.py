"""`--engine`: what runs the queries. Spark wherever it is installed, unless the local engine is asked for; which one is said if it is not Spark."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from headwater.model import HostError


def add_engine(parser: argparse.ArgumentParser) -> None:
    """The flag."""
    parser.add_argument(
        "--engine",
        choices=("spark", "local"),
        help="an embedded Spark, or a plain loop in this process, which starts at once (default: spark, if pyspark is installed)",
    )


def choose_engine(arguments: argparse.Namespace) -> None:
    """Put the engine into the arguments where none was chosen; refuse Spark where there is none."""
    if is_spark_installed():
        arguments.engine = arguments.engine or "spark"
    elif arguments.streaming or arguments.engine == "spark":
        needed = "--follow runs on Spark" if arguments.streaming else "--engine spark needs Spark"
        advice = ["install it: pip install pyspark"]
        advice += [] if arguments.streaming else ["or use --engine local, which gives the same answers"]
        raise HostError(
            "spark-not-installed", f"{needed}, but the package pyspark is not installed", advice=advice
        )
    elif arguments.engine is None:
        arguments.engine = "local"
        if not arguments.quiet:
            print("engine    local: the package pyspark is not installed", file=sys.stderr)


def is_spark_installed() -> bool:
    """Whether pyspark could be imported; it is not."""
    return find_spec("pyspark") is not None
