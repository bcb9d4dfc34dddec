"""A W in the price of a share: found by a query, drawn as a picture. With a file name behind it, writes the SVG there.

The trades are thirty out of the 359 of one match in a week of recorded IBM trades (9 October 2013): the five that the query
bound, its neighbours, and every fifteenth between them.

Prints:

    left    14:03:47  179.46
    low     14:04:28  179.20
    middle  14:05:31  179.36
    again   14:06:36  179.21
    right   14:08:42  179.46
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import pandas as pd

import headwater as hw

QUERY = """
CREATE STREAM trades (symbol STRING KEY, at TIMESTAMP TIME, price DOUBLE);

CREATE QUERY w_shape AS
  SELECT * FROM trades MATCH_RECOGNIZE (
    PARTITION BY symbol
    MEASURES left.at AS left, low.at AS low, middle.at AS middle, again.at AS again, right.at AS right
    PATTERN (left ~> low ~> middle ~> again ~> NOT deeper ~> right) WITHIN 10 MINUTES
    DEFINE
      left AS price > PREV(price) AND price > NEXT(price),
      low AS price <= left.price - 0.25,
      middle AS price >= low.price + 0.15,
      again AS price <= low.price + 0.03,
      deeper AS price < low.price - 0.05,
      right AS price >= left.price
  );
"""

LEGS = ("left", "low", "middle", "again", "right")

TRADES = (
    ("2013-10-09T14:03:47.209000Z", 179.44),
    ("2013-10-09T14:03:47.380000Z", 179.46),
    ("2013-10-09T14:03:50.283000Z", 179.43),
    ("2013-10-09T14:04:17.313000Z", 179.29),
    ("2013-10-09T14:04:26.570000Z", 179.26),
    ("2013-10-09T14:04:28.747000Z", 179.2),
    ("2013-10-09T14:04:34.031000Z", 179.24),
    ("2013-10-09T14:04:34.147000Z", 179.25),
    ("2013-10-09T14:04:44.329000Z", 179.22),
    ("2013-10-09T14:04:53.691000Z", 179.28),
    ("2013-10-09T14:05:10.410000Z", 179.23),
    ("2013-10-09T14:05:19.894000Z", 179.34),
    ("2013-10-09T14:05:31.106000Z", 179.36),
    ("2013-10-09T14:05:42.047000Z", 179.35),
    ("2013-10-09T14:05:56.027000Z", 179.3),
    ("2013-10-09T14:06:26.255000Z", 179.31),
    ("2013-10-09T14:06:36.757000Z", 179.21),
    ("2013-10-09T14:06:44.227000Z", 179.2),
    ("2013-10-09T14:06:45.459000Z", 179.18),
    ("2013-10-09T14:06:49.845000Z", 179.2),
    ("2013-10-09T14:06:53.701000Z", 179.2),
    ("2013-10-09T14:06:58.342000Z", 179.2),
    ("2013-10-09T14:06:59.543000Z", 179.21),
    ("2013-10-09T14:07:00.832000Z", 179.21),
    ("2013-10-09T14:07:35.958000Z", 179.32),
    ("2013-10-09T14:08:05.433000Z", 179.37),
    ("2013-10-09T14:08:22.604000Z", 179.42),
    ("2013-10-09T14:08:35.465000Z", 179.41),
    ("2013-10-09T14:08:38.230000Z", 179.35),
    ("2013-10-09T14:08:42.142000Z", 179.46),
)

WIDTH, HEIGHT, EDGE = 720, 360, 56


def draw(legs: Mapping[str, str]) -> str:
    """An SVG of the trades, with a name at the five that the query bound; `legs` gives the time of each."""
    seconds = [_seconds(at) for at, _ in TRADES]
    prices = [price for _, price in TRADES]
    low, high = min(prices) - 0.04, max(prices) + 0.04
    across = (WIDTH - 2 * EDGE) / (seconds[-1] - seconds[0])

    def x(second: float) -> float:
        return round(EDGE + (second - seconds[0]) * across, 1)

    def y(price: float) -> float:
        return round(EDGE + (high - price) / (high - low) * (HEIGHT - 2 * EDGE), 1)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        "<title>A W in the price of a share</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for cents in range(round(low * 100) // 10 * 10 + 10, round(high * 100) + 1, 10):
        level = y(cents / 100)
        lines += [
            f'<line x1="{EDGE}" y1="{level}" x2="{WIDTH - EDGE}" y2="{level}" stroke="#dddddd"/>',
            f'<text x="{EDGE - 8}" y="{level + 4}" text-anchor="end" fill="#666666">{cents / 100:.2f}</text>',
        ]
    for minute in range(int(seconds[0] // 60) + 1, int(seconds[-1] // 60) + 1):
        words = f"{minute // 60:02d}:{minute % 60:02d}"
        lines.append(
            f'<text x="{x(minute * 60)}" y="{HEIGHT - 20}" text-anchor="middle" fill="#666666">{words}</text>'
        )
    path = " ".join(f"{x(second)},{y(price)}" for second, price in zip(seconds, prices, strict=True))
    lines.append(f'<polyline points="{path}" fill="none" stroke="#9db4c9" stroke-width="2"/>')
    bound = {name: (x(_seconds(at)), y(dict(TRADES)[at])) for name, at in legs.items()}
    shape = " ".join(f"{across},{down}" for across, down in bound.values())
    lines.append(f'<polyline points="{shape}" fill="none" stroke="#b03a2e" stroke-width="2"/>')
    for name, (right, down) in bound.items():
        beside = 20 if name in ("low", "again") else -10
        lines += [
            f'<circle cx="{right}" cy="{down}" r="4" fill="#b03a2e"/>',
            f'<text x="{right}" y="{round(down + beside, 1)}" text-anchor="middle" fill="#b03a2e">{name}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def _seconds(at: str) -> float:
    """Seconds of the day."""
    return int(at[11:13]) * 3600 + int(at[14:16]) * 60 + float(at[17:26])


def main(picture: Path | None = None) -> None:
    trades = pd.DataFrame([("IBM", at, price) for at, price in TRADES], columns=["symbol", "at", "price"])
    (found,) = hw.run(QUERY, {"trades": trades})["w_shape"]
    named = {datetime.fromisoformat(at): at for at, _ in TRADES}
    legs = {leg: named[found[leg]] for leg in LEGS}
    for leg, at in legs.items():
        print(f"{leg:<6}  {at[11:19]}  {dict(TRADES)[at]:.2f}")
    if picture:
        picture.write_text(draw(legs))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
