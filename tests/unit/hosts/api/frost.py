"""Six readings of three stations, two answers of each of two queries, and one row that cannot be used."""

from __future__ import annotations

import pandas as pd

TEXT = """
CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, humidity DOUBLE);
CREATE QUERY frost AS SELECT temperature_key AS station, temperature, humidity FROM weather
  CORRELATE (temperature BETWEEN -5 AND 0, humidity >= 80 WITHIN 30 SECONDS);
CREATE QUERY cold AS SELECT station, temperature FROM weather WHERE temperature < -1;
"""

ROWS = [
    ("meadow", "2026-01-31T06:00:20Z", -2.0, None),
    ("river", "2026-01-31T06:00:05Z", None, 85.0),
    ("road", None, 3.0, None),
    ("meadow", "2026-01-31T06:00:00Z", -1.5, None),
    ("road", "2026-01-31T06:05:00Z", 3.0, None),
]
COLUMNS = ["station", "at", "temperature", "humidity"]

FROST = [("meadow", -1.5, 85.0), ("meadow", -2.0, 85.0)]
BAD = {
    "stream": "weather",
    "file": None,
    "line": 3,
    "reason": "missing-time: column 'at' is empty",
    "text": '{"station": "road", "at": null, "temperature": 3.0, "humidity": null}',
}


def frame() -> pd.DataFrame:
    """The readings, their times as pandas has them."""
    found = pd.DataFrame(ROWS, columns=COLUMNS)
    return found.assign(at=pd.to_datetime(found["at"]))
