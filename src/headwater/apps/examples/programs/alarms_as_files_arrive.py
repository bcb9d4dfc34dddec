"""Files arrive in a folder, a streaming query answers batch by batch, and a function of ours gets the answers.

A second query reads the first: two different machines that ran hot within a minute are an alarm.

Prints:

    hot: press at 91.0 degrees
    hot: oven at 95.0 degrees
    alarm: oven and press
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import headwater as hw

QUERIES = """
CREATE STREAM machines (name STRING KEY, at TIMESTAMP TIME, degrees DOUBLE, load DOUBLE) LATE 5 SECONDS;

CREATE QUERY hot AS SELECT degrees_key AS name, degrees FROM machines
  CORRELATE (degrees > 90, load > 0.8 WITHIN 10 SECONDS);

CREATE QUERY alarm AS SELECT degrees_1_key AS one, degrees_2_key AS other FROM hot
  CORRELATE (2 OF degrees > 90 WITHIN 1 MINUTE);
"""

FILES = [
    "name,at,degrees,load\n"
    "press,2026-01-31T06:00:00Z,91.0,\n"
    "press,2026-01-31T06:00:03Z,70.0,0.9\n"
    "oven,2026-01-31T06:00:04Z,60.0,0.1\n",
    "name,at,degrees,load\n"
    "oven,2026-01-31T06:00:20Z,95.0,\n"
    "oven,2026-01-31T06:00:21Z,80.0,0.85\n"
    "press,2026-01-31T06:00:22Z,50.0,0.2\n",
    "name,at,degrees,load\npress,2026-01-31T06:01:00Z,40.0,0.1\n",
]  # the last row only moves time on: what came before it is then complete


def main(spark: SparkSession) -> None:
    with tempfile.TemporaryDirectory() as folder:
        incoming = Path(folder) / "incoming"
        incoming.mkdir()
        for number, text in enumerate(FILES):
            (incoming / f"{number}.csv").write_text(text)
        schema = "name string, at timestamp, degrees double, load double"
        reader = spark.readStream.schema(schema).option("header", True).option("maxFilesPerTrigger", 1)
        answers = hw.run(QUERIES, {"machines": reader.csv(str(incoming))})
        query = answers.write(show, checkpoint=Path(folder) / "state", trigger={"availableNow": True})
        assert query is not None
        query.awaitTermination()


def show(answers: hw.Answers, batch: int) -> None:
    """Called once for every micro-batch, with what became certain in it."""
    for row in answers["hot"]:
        print(f"hot: {row.name} at {row.degrees} degrees")
    for row in answers["alarm"]:
        print(f"alarm: {row.one} and {row.other}")


if __name__ == "__main__":
    main(hw.session())
