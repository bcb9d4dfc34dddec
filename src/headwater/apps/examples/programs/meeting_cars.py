"""Which cars come near one another, though both are silent? Each sends a line only when the one it sent is wrong.

Prints:

    7 of 21 readings are sent
    08:00:05 blue and red will be near from 08:00:11 to 08:00:15
    08:00:12 blue and green will be near from 08:00:27 to 08:00:32
    08:00:25 blue and green will not be near after all
"""

from __future__ import annotations

import pandas as pd

import headwater as hw

QUERIES = """
CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
CREATE QUERY lines AS SELECT * FROM cars SUPPRESS (x, y TOLERANCE 10 METERS HEARTBEAT 30 SECONDS);
CREATE QUERY near AS SELECT * FROM lines PREDICT (
  PAIRS a, b WHERE DISTANCE(a, b) <= 50 METERS WITHIN 0 SECONDS TENTATIVE AHEAD 15 SECONDS
);
"""

# Red and blue drive towards each other; green comes from the side and stops after 20 seconds.
READINGS = [
    (car, f"2026-05-04T08:00:{second:02d}Z", float(x), float(y))
    for second in range(0, 31, 5)
    for car, x, y in [
        ("red", 20 * second, 0),
        ("blue", 400 - 10 * second, 0),
        ("green", 100, -600 + 20 * min(second, 20)),
    ]
]


def main() -> None:
    cars = pd.DataFrame(READINGS, columns=["id", "at", "x", "y"])
    answers = hw.run(QUERIES, {"cars": cars})
    print(f"{len(answers['lines'])} of {len(READINGS)} readings are sent")
    for row in answers["near"]:
        print(f"{row.event_time:%H:%M:%S} {row.a_key} and {row.b_key} {_expected(row)}")


def _expected(row: hw.AnswerRow) -> str:
    if row.withdrawn:
        return "will not be near after all"
    return f"will be near from {row.begins:%H:%M:%S} to {row.ends:%H:%M:%S}"


if __name__ == "__main__":
    main()
