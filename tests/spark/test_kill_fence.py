"""Law 9 for FENCE: killed while objects are in fences, started again with the same checkpoint, nothing lost or doubled.

Polygons of a file, fences around buses that move, and cars that meet one another, in all zones; what is told in the end is what a
bounded run without Spark tells.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.spark.kills import answers_in, files_for, kills, local_answers, run_and_kill_often, run_to_the_end
from tests.spark.movers import MOTION, STREAMS, arriving, drive, quiet_time, write_parts

KILLS = kills(4)
FILES = files_for(KILLS)
SEED = 20260119
pytestmark = pytest.mark.soak

INPUTS = {"cars": "in/cars", "buses": "in/buses", "districts": "districts.geojson"}

QUERIES = """
CREATE FENCES districts (name STRING KEY);
CREATE QUERY visits AS SELECT * FROM cars FENCE (districts DETECT ENTER, EXIT, CROSS FORGET 20 SECONDS);
CREATE QUERY boarding AS SELECT * FROM cars FENCE (buses RADIUS 150 METERS FORGET 20 SECONDS);
CREATE QUERY meetings AS SELECT * FROM cars FENCE (cars RADIUS 60 METERS DETECT ENTER, EXIT, OUTSIDE FORGET 20 SECONDS);
CREATE QUERY again AS SELECT * FROM visits MATCH_RECOGNIZE (
  PARTITION BY object
  MEASURES A.fence AS first_fence, B.fence AS next_fence
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B) WITHIN 30 SECONDS
  DEFINE A AS change = 'exit', B AS change = 'enter'
);
"""
STEPS = {"enter": 1, "exit": -1}
STAYS = {"visits", "boarding", "meetings"}

Answers = list[dict[str, Any]]


def test_no_answer_of_fence_is_lost_or_doubled_by_kills(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAMS + QUERIES)
    write_districts(tmp_path / "districts.geojson")
    for seed, (name, objects) in enumerate({"cars": 40, "buses": 8}.items(), 61):
        write_parts(tmp_path / "in" / name, [*arriving(drive(objects, seed), FILES, seed), quiet_time()])
    expected = local_answers(tmp_path, INPUTS)
    assert {answer["query"] for answer in expected} == {*STAYS, "again"}

    inside_at_kills = [
        inside(answers_in(tmp_path / "killed" / "out"))
        for _ in run_and_kill_often(tmp_path, INPUTS, many=KILLS, seed=SEED)
    ]
    assert inside_at_kills.count(STAYS) > KILLS // 2, inside_at_kills

    run_to_the_end(tmp_path, "killed", INPUTS)
    got = answers_in(tmp_path / "killed" / "out")
    assert got == expected
    assert not inside(got)


def inside(answers: Answers) -> set[str]:
    """The queries with pairs that have entered and not left."""
    pairs: Counter[tuple[str, Any, Any]] = Counter()
    for answer in answers:
        pair = answer["query"], answer.get("object"), answer.get("fence")
        pairs[pair] += STEPS.get(answer.get("change"), 0)
    return {query for (query, _, _), many in pairs.items() if many}


def write_districts(path: Path, *, across: int = 3) -> None:
    """Squares side by side all over the place where the cars are, with some room between them."""
    side = MOTION.side_m / across
    features = [
        {
            "type": "Feature",
            "properties": {"name": f"{column}-{row}"},
            "geometry": {"type": "Polygon", "coordinates": [_square(column * side, row * side, side - 40)]},
        }
        for column in range(across)
        for row in range(across)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def _square(x: float, y: float, side: float) -> list[list[float]]:
    return [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]
