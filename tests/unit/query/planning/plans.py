"""Streams and queries that tests of plans have in common."""

from __future__ import annotations

import random

WEATHER = """CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, note STRING, temperature DOUBLE, humidity DOUBLE,
  wind DOUBLE, lon DOUBLE, lat DOUBLE, battery BIGINT, open BOOLEAN, PLACE (lon, lat) GEOGRAPHIC) LATE 10 SECONDS;
"""
PLANE = """CREATE STREAM plane (id BIGINT KEY, at TIMESTAMP TIME, a DOUBLE, b BIGINT, x DOUBLE, y DOUBLE, c DOUBLE,
  sent TIMESTAMP, PLACE (x, y));
"""


def correlate(name: str, inside: str, *, source: str = "plane", select: str = "*", where: str = "") -> str:
    return f"CREATE QUERY {name} AS SELECT {select} FROM {source} {where} CORRELATE ({inside});\n"


def some_queries(random: random.Random, count: int) -> str:
    """Queries of every kind on one of ten regions, or none."""
    text = []
    for number in range(count):
        low = random.uniform(0, 9)
        clauses = [f"a BETWEEN {low:.2f} AND {low + 1:.2f}", f"b = {random.randrange(20)}"]
        if random.random() < 0.3:
            clauses[1] = f"{random.randrange(4)}.c < {random.uniform(0, 2):.1f}"
        x, y = random.randrange(5), random.randrange(2)
        area = random.choice(
            [f"INSIDE CIRCLE ({x}, {y}, 0.5)", f"INSIDE BOX ({x}, {y}, {x + 1}, {y + 0.3})", "SENSORS (1, 3)"]
        )
        emit = random.choice(["", "EMIT READINGS"])
        where = random.choice(["", "", "WHERE c > 5"])
        text.append(
            correlate(f"q{number}", f"{', '.join(clauses)} WITHIN 60 SECONDS {area} {emit}", where=where)
        )
    return "".join(text)
