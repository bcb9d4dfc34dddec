"""A checkpoint of a streaming run of every operator, made once (c2f9e77) and stored here: whatever changes later must still read it.

`python -m tests.spark.written_before` makes it again, in a folder under `/tmp`, so that it names no other place. Do that when
the format of checkpoints changes, and at no other time.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, Final

from headwater.model import SECOND, format_instant, parse_instant

CHECKPOINT: Final = Path(__file__).parent / "checkpoints" / "every_operator.tar.xz"
_PLACE: Final = Path("/tmp/headwater-checkpoint")
_START: Final = parse_instant("2026-01-15T00:00:00")
ROWS: Final = 300
"""Of each stream. The run was stopped when it had read two thirds."""
FILES: Final = 6
READ: Final = 4

TEXT: Final = """
CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, v DOUBLE, PLACE (x, y)) LATE 2 SECONDS;
CREATE STREAM events (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, v DOUBLE, s STRING, PLACE (x, y)) LATE 5 SECONDS;
CREATE FENCES zones (name STRING KEY);
CREATE QUERY chosen AS SELECT * FROM events WHERE v > 80;
CREATE QUERY close AS SELECT * FROM events CORRELATE (v > 60 AS high, v < 40 AS low WITHIN 8 SECONDS, 60 METERS);
CREATE QUERY readings AS SELECT * FROM events CORRELATE (2 OF v > 70 WITHIN 6 SECONDS EMIT READINGS);
CREATE QUERY nearest AS SELECT * FROM events NEAREST (3 TO (50) BY (v) OVER 30 SECONDS EMIT CHANGES);
CREATE QUERY per AS SELECT * FROM cars NEAREST (2 TO HIGHEST v OVER 40 SECONDS PER id);
CREATE QUERY rows AS SELECT * FROM events NEAREST (2 TO LOWEST v OVER 20 ROWS);
CREATE QUERY twice AS SELECT * FROM cars MATCH_RECOGNIZE (PARTITION BY id MEASURES A.v AS a, B.v AS b, MATCH_NUMBER() AS n
  PATTERN (A B) WITHIN 60 SECONDS DEFINE B AS B.v > A.v);
CREATE QUERY again AS SELECT * FROM twice MATCH_RECOGNIZE (MEASURES X.b AS x, Y.b AS y PATTERN (X ~> Y) WITHIN 20 SECONDS
  DEFINE Y AS Y.b < X.b);
CREATE QUERY absent AS SELECT * FROM events MATCH_RECOGNIZE (PARTITION BY s MEASURES A.v AS a
  MATCH EVERY PATTERN (A ~> NOT B) WITHIN 10 SECONDS DEFINE A AS A.v > 90, B AS B.v < 30);
CREATE QUERY sent AS SELECT * FROM cars SUPPRESS (v TOLERANCE 10 HEARTBEAT 20 SECONDS FORGET 60 SECONDS);
CREATE QUERY above AS SELECT * FROM sent PREDICT (v > 70);
CREATE QUERY moved AS SELECT * FROM cars SUPPRESS (x, y TOLERANCE 5 HEARTBEAT 20 SECONDS);
CREATE QUERY meeting AS SELECT * FROM moved PREDICT (PAIRS a, b WHERE ABS(a.x - b.x) <= 20 AND ABS(a.y - b.y) <= 20 WITHIN 10 SECONDS);
CREATE QUERY zone AS SELECT * FROM cars FENCE (zones DETECT ENTER, EXIT FORGET 40 SECONDS);
CREATE QUERY moving AS SELECT * FROM cars FENCE (events RADIUS 30 FORGET 15 SECONDS);
CREATE QUERY pairs AS SELECT * FROM cars FENCE (cars RADIUS 25 FORGET 30 SECONDS);
CREATE QUERY around AS SELECT * FROM events FOLLOW (cars RADIUS 50 LAST 20 SECONDS FORGET 60 SECONDS);
CREATE QUERY seen AS SELECT * FROM around WHERE v > 50;
CREATE QUERY rising AS SELECT * FROM events FOLLOW (cars RADIUS 60 LAST 10 SECONDS UPDATE MOVED 20 METERS FORGET 60 SECONDS)
  MATCH_RECOGNIZE (MEASURES A.v AS a, B.v AS b PATTERN (A B) WITHIN 15 SECONDS DEFINE B AS B.v > A.v);
CREATE QUERY both AS SELECT * FROM events FOLLOW (cars RADIUS 80 LAST 10 SECONDS FORGET 60 SECONDS)
  CORRELATE (v > 60 AS high, v < 40 AS low WITHIN 8 SECONDS);
CREATE QUERY lowest AS SELECT * FROM events FOLLOW (cars RADIUS 80 LAST 10 SECONDS FORGET 60 SECONDS)
  NEAREST (1 TO LOWEST v OVER 10 SECONDS EMIT CHANGES);
CREATE QUERY mixed AS SELECT * FROM events, cars FOLLOW (cars RADIUS 40 LAST 5 SECONDS UPDATE EVERY 10 SECONDS FORGET 30 SECONDS);
CREATE QUERY lives AS SELECT * FROM events FOLLOW (cars RADIUS 50 FORGET 30 SECONDS EMIT INTERESTS);
"""


_SQUARE: Final = [[-60, -60], [60, -60], [60, 60], [-60, 60], [-60, -60]]
_ZONES: Final = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"name": "middle"},
            "geometry": {"type": "Polygon", "coordinates": [_SQUARE]},
        }
    ],
}


def write_inputs(folder: Path, first: int, until: int) -> None:
    """Files `first` to `until`, of each stream in a folder of its own, and the fences."""
    folder.mkdir(exist_ok=True)
    (folder / "zones.geojson").write_text(json.dumps(_ZONES))
    for stream in ("cars", "events"):
        (folder / stream).mkdir(parents=True, exist_ok=True)
        rows = _rows(stream)
        for number in range(first, until):
            some = rows[number * ROWS // FILES : (number + 1) * ROWS // FILES]
            lines = [json.dumps(row) + "\n" for row in some]
            (folder / stream / f"{number}.jsonl").write_text("".join(lines))


def _rows(stream: str) -> list[dict[str, Any]]:
    """Half a second apart, each at most a second early or late."""
    drawn = random.Random(stream)
    rows = []
    for number in range(ROWS):
        at = _START + number * SECOND // 2 + drawn.randrange(-SECOND, SECOND)
        row: dict[str, Any] = {
            "id": f"{stream[0]}{drawn.randrange(12)}",
            "at": format_instant(at),
            "x": drawn.randrange(-100, 100),
            "y": drawn.randrange(-100, 100),
            "v": drawn.randrange(1000) / 10,
        }
        rows.append(row | ({"s": drawn.choice("abc")} if stream == "events" else {}))
    return rows


def command(folder: Path, *more: str) -> list[str]:
    """The words of a run of all that is in a folder."""
    inputs = [word for name in ("cars", "events") for word in ("--input", f"{name}={folder / name}")]
    return ["run", str(folder / "queries.hw"), *inputs, "--input", f"zones={folder / 'zones.geojson'}", *more]


def followed(folder: Path) -> tuple[str, ...]:
    """The further words of a followed run with a checkpoint in its folder."""
    return (
        "--follow",
        "--once",
        "--zones",
        "2",
        "--checkpoint",
        str(folder / "state"),
        "--output",
        str(folder / "out"),
    )


def _make() -> None:
    shutil.rmtree(_PLACE, ignore_errors=True)
    _PLACE.mkdir()
    (_PLACE / "queries.hw").write_text(TEXT)
    for first in range(0, READ, 2):  # two starts, so that some of it has been read back once
        write_inputs(_PLACE, first, first + 2)
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from headwater.apps.cli import main; sys.exit(main())",
                *command(_PLACE, *followed(_PLACE)),
            ],
            check=True,
        )
    CHECKPOINT.parent.mkdir(exist_ok=True)
    with tarfile.open(CHECKPOINT, "w:xz") as archive:
        for name in ("state", "out"):
            archive.add(_PLACE / name, name, filter=_anonymous)
    shutil.rmtree(_PLACE)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    _make()
