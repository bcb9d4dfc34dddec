"""A pattern built in Python: which machines cool down within a minute, and which only begin to?

Prints:

    oven fell from 90.0 to 60.0 degrees in 3 readings
    press fell from 80.0 to 70.0 degrees, and was not cold within a minute
"""

from __future__ import annotations

import pandas as pd

import headwater as hw

MACHINES = hw.stream(
    "machines", {"name": "STRING", "at": "TIMESTAMP", "degrees": "DOUBLE"}, time="at", key="name"
)

COOLING = (
    hw.pattern("hot").where("degrees >= 80")
    .then("falling", at_least=1).where("degrees < PREV(degrees)")
    .then("cold").where("degrees <= 60")
)  # fmt: skip

COOLED = hw.match(
    "cooled",
    "machines",
    COOLING,
    partition="name",
    measures={
        "before": "hot.degrees",
        "after": "LAST(degrees)",
        "readings": "COUNT(*)",
    },
    within="1 MINUTE",
    timeouts=True,
)

READINGS = [
    ("oven", "2026-01-31T06:00:00Z", 90.0),
    ("press", "2026-01-31T06:00:01Z", 80.0),
    ("oven", "2026-01-31T06:00:10Z", 75.0),
    ("press", "2026-01-31T06:00:11Z", 70.0),
    ("oven", "2026-01-31T06:00:20Z", 60.0),
    ("oven", "2026-01-31T06:02:00Z", 59.0),
]


def main() -> None:
    readings = pd.DataFrame(READINGS, columns=["name", "at", "degrees"])
    answers = hw.run([MACHINES, COOLED], {"machines": readings})
    for row in answers["cooled"]:
        fell = f"{row.name} fell from {row.before} to {row.after} degrees"
        if row.timed_out:
            print(f"{fell}, and was not cold within a minute")
        else:
            print(f"{fell} in {row.readings} readings")


if __name__ == "__main__":
    main()
