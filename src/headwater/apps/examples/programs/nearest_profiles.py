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

from pyspark.sql import SparkSession
from pyspark.sql.functions import date_format, to_timestamp

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


def main(spark: SparkSession) -> None:
    columns = "station string, at string, temperature double, humidity double"
    readings = spark.createDataFrame(READINGS, columns).withColumn("at", to_timestamp("at"))
    profiles = spark.createDataFrame(PROFILES, "name string, temperature double, humidity double")
    answers = hw.run(QUERIES, {"weather": readings, "profiles": profiles})
    alike = answers["alike"].withColumn("clock", date_format("event_time", "HH:mm"))
    for row in alike.orderBy("event_time", "point").collect():
        print(f"{row.clock} {row.point}: {row.key}, {row.distance:.1f} away")


if __name__ == "__main__":
    main(SparkSession.builder.getOrCreate())
