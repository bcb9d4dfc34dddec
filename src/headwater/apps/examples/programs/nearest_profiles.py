"""Which of the last readings is most like a given profile? Every profile of a DataFrame is a standing question.

Prints:

    06:00 comfort: meadow, 2.0 away
    06:00 frost: meadow, 20.4 away
    06:10 frost: summit, 5.0 away
    06:20 comfort: river, 1.0 away
    06:30 frost: ridge, 1.0 away
    07:20 comfort: ridge, 22.2 away
"""

from __future__ import annotations

import pandas as pd

import headwater as hw

# Ten percent of humidity count as much as one degree: the weight goes with the square.
QUERIES = """
CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, humidity DOUBLE);
CREATE POINTS profiles (name STRING KEY, temperature DOUBLE, humidity DOUBLE);
CREATE QUERY alike AS SELECT * FROM weather NEAREST (
  1 TO EACH OF profiles BY (temperature, humidity) WEIGHTED (1, 0.01) OVER 1 HOUR
);
"""

READINGS = [
    ("meadow", "2026-01-31T06:00:00Z", 18.0, 50.0),
    ("summit", "2026-01-31T06:10:00Z", 2.0, 60.0),
    ("river", "2026-01-31T06:20:00Z", 20.0, 60.0),
    ("ridge", "2026-01-31T06:30:00Z", -2.0, 80.0),
]
PROFILES = [("comfort", 20.0, 50.0), ("frost", -2.0, 90.0)]


def main() -> None:
    readings = pd.DataFrame(READINGS, columns=["station", "at", "temperature", "humidity"])
    profiles = pd.DataFrame(PROFILES, columns=["name", "temperature", "humidity"])
    answers = hw.run(QUERIES, {"weather": readings, "profiles": profiles})
    alike = answers["alike"].to_pandas().sort_values(["event_time", "point"])
    for row in alike.itertuples():
        print(f"{row.event_time:%H:%M} {row.point}: {row.key}, {row.distance:.1f} away")


if __name__ == "__main__":
    main()
