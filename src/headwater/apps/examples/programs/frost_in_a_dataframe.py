"""Three stations, one question: a DataFrame of pandas in, rows with typed columns out.

Prints:

    meadow is at -1.5 °C, the air at river has 85 %, and at road there is a wind of 1.5 m/s
    meadow is at -2.0 °C, the air at river has 85 %, and at road there is a wind of 1.5 m/s
"""

from __future__ import annotations

import pandas as pd

import headwater as hw

QUERIES = """
CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, humidity DOUBLE, wind DOUBLE
);
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (
  temperature BETWEEN -5 AND 0, humidity >= 80, wind <= 2 WITHIN 30 SECONDS
);
"""

READINGS = [
    ("meadow", "2026-01-31T06:00:00Z", -1.5, None, None),
    ("river", "2026-01-31T06:00:05Z", None, 85.0, None),
    ("road", "2026-01-31T06:00:10Z", None, None, 1.5),
    ("meadow", "2026-01-31T06:00:20Z", -2.0, None, None),
    ("meadow", "2026-01-31T06:05:00Z", -3.0, None, None),
]


def main() -> None:
    readings = pd.DataFrame(READINGS, columns=["station", "at", "temperature", "humidity", "wind"])
    answers = hw.run(QUERIES, {"weather": readings})
    for row in answers["frost"]:
        print(
            f"{row.temperature_key} is at {row.temperature} °C, "
            f"the air at {row.humidity_key} has {row.humidity:.0f} %, "
            f"and at {row.wind_key} there is a wind of {row.wind} m/s"
        )


if __name__ == "__main__":
    main()
