"""For how long FOLLOW may store events."""

from __future__ import annotations

import argparse


def add_most_history(parser: argparse.ArgumentParser) -> None:
    """The flag that sets it."""
    parser.add_argument(
        "--most-history",
        type=_duration,
        metavar="DURATION",
        help="the longest time for which a FOLLOW may store events, such as '7 DAYS'; a FOLLOW that needs more is refused (default: 1 DAY)",
    )


def most_history(arguments: argparse.Namespace) -> int:
    """What was said, or what holds if nothing was, in microseconds."""
    from headwater.query.checking.history_limit import MOST_HISTORY_US

    return MOST_HISTORY_US if arguments.most_history is None else int(arguments.most_history)


def _duration(text: str) -> int:
    from headwater.model import QueriesRefused
    from headwater.query.checking.history_limit import most_history_us

    try:
        return most_history_us(text)
    except QueriesRefused:
        raise argparse.ArgumentTypeError(f"expected a duration such as '7 DAYS', not '{text}'") from None
