"""A NEAREST in the words of a plan: which algorithm and why, how many candidates, what may be lost, who lives where."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headwater.hosts.declared_sets import sets_from_tables
from headwater.query.explaining.explain import explain
from headwater.query.planning.plan import compile_text

STREAM = """CREATE STREAM panels (
  panel STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, solar DOUBLE, volts DOUBLE, note STRING,
  PLACE (lon, lat) GEOGRAPHIC);
CREATE POINTS profiles (id STRING KEY, solar DOUBLE, volts DOUBLE, price DOUBLE);
"""
EACH = "3 TO EACH OF profiles BY (solar, volts) OVER 10 MINUTES"


def sections(text: str, zones: int = 4) -> dict[str, list[str]]:
    output = explain(compile_text(STREAM + text, zones=zones)).rstrip("\n").split("\n\n")
    return {section.split("\n", 1)[0]: section.split("\n") for section in output}


def query(nearest: str, zones: int = 4) -> dict[str, str]:
    """What is said about one query, by its heading, in one line each."""
    output: dict[str, str] = {}
    name = ""
    text = f"CREATE QUERY q AS SELECT * FROM panels NEAREST ({nearest});"
    for line in sections(text, zones)["query q"][1:]:
        heading, _, words = line.strip().partition("  ") if line[2] != " " else ("", "", line.strip())
        name = heading or name
        output[name] = f"{output[name]} / {words.strip()}" if not heading else words.strip()
    return output


def test_a_query_with_everything():
    text = f"CREATE QUERY q AS SELECT * FROM panels WHERE solar > 0 NEAREST ({EACH} USING PROBABLE 0.001 EMIT CHANGES);"
    assert sections(text)["query q"] == [
        "query q",
        "  reads       panels",
        "  where       solar > 0",
        "  nearest     the 3 objects nearest to each of the points 'profiles' in solar, volts, by Euclidean distance",
        "  window      the last 10 minutes",
        "  ties        of equally near objects, the newer ones count as nearer",
        "  answers     each object that enters or leaves them, at every change",
        "  algorithm   PA: a loss is allowed (PROBABLE 0.001)",
        "              only the nearest objects are stored; a farther one is very unlikely to become an answer",
        "  candidates  R*(3, 0.001) = 17 for each point, however many objects the window holds",
        "  loss        in random order 1.8e-4 of all answers; headwater run --audit measures it",
        "  columns     point, change, key, object_time, distance, solar, volts",
        "  zones       2 of 4 (from 0), by its name, with up to 1,000 points; if there are more, each lives in one of all 4 zones, by",
        "              its place, and every object goes to all of them",
        "  kernel      nearest:panels",
        "  state       objects that are candidates or recent: 36 bytes each, once for all queries of the kernel",
        "              about 2.32 KB for each point with 100,000 objects in the window",
        "              at most 17 candidates for each point, in any order of objects",
    ]


@pytest.mark.parametrize(
    ("nearest", "heading", "words"),
    [
        ("3 TO (0.5, 1) BY (solar, volts) WEIGHTED (1, 0.5) OVER 1 HOUR", "nearest",
         "the 3 objects nearest to (0.5, 1) in solar, volts, by Euclidean distance, weighted 1, 0.5"),
        ("1 TO (7, 45) BY PLACE OVER 1 HOUR", "nearest",
         "the 1 object nearest to (7, 45) in lon, lat, in metres on the globe"),
        ("10 TO HIGHEST solar OVER 1 DAY", "nearest", "the 10 objects with the highest solar"),
        ("10 TO LOWEST solar OVER 1 DAY", "nearest", "the 10 objects with the lowest solar"),
        ("10 TO LOWEST solar OVER 50 ROWS PER note", "window", "the last 50 objects, for each value of 'note' separately"),
        ("10 TO LOWEST solar OVER 1 DAY WITH TIES", "ties",
         "all objects as near as the last of them are included too, however many they are"),
        ("10 TO LOWEST solar OVER 1 DAY EMIT EVERY 10 SECONDS", "answers", "all of them in their order, every 10 seconds"),
        ("10 TO LOWEST solar OVER 1 DAY", "answers", "each object once, when it is first among them"),
    ],
)  # fmt: skip
def test_what_the_query_requests(nearest: str, heading: str, words: str):
    assert query(nearest)[heading] == words


PUT_OFF = "an object is a candidate until k newer ones are nearer; it is postponed while k recent ones are"
PRUNED = "an object is a candidate until k newer ones are nearer; the list is pruned when it has grown by 20%"


@pytest.mark.parametrize(
    ("nearest", "algorithm", "candidates"),
    [
        (EACH, f"RAPF: nothing may be lost, and few new objects need to be stored / {PUT_OFF}",
         "about 19 for each point, with 1,000 objects in the window as with 100,000"),
        (f"{EACH} USING EXACT ALGORITHM RA", f"RA: as ALGORITHM RA requires / {PRUNED}",
         "for each point about 24 with 1,000, 32 with 10,000, 41 with 100,000 objects in the window, in random order"),
        ("3 TO HIGHEST solar OVER 20 ROWS",
         f"RA: a window of fewer than 8 rows for each of the k is too short to postpone objects / {PRUNED}",
         "about 10 for the query, in random order"),
        ("3 TO HIGHEST solar OVER 40000 ROWS PER note",
         f"RAPF: nothing may be lost, and few new objects need to be stored / {PUT_OFF}",
         "about 19 for each value of 'note', in random order"),
    ],
)  # fmt: skip
def test_which_algorithm_and_why_and_how_many_candidates(nearest: str, algorithm: str, candidates: str):
    output = query(nearest)
    assert output["algorithm"] == algorithm
    assert output["candidates"] == candidates
    assert "loss" not in output
    assert ("recent" in output) == algorithm.startswith("RAPF")


def test_what_is_recent():
    shown = (
        "stored once for all; when one is no longer recent, it is offered to the queries that postponed it"
    )
    for window, objects in (
        ("1 HOUR", "objects of the last 30 minutes, at most the last 26,999"),
        ("40000 ROWS", "the last 20,000 objects"),
        ("1001 ROWS", "the last 500 objects"),
    ):
        output = query(f"9 TO HIGHEST solar OVER {window}")["recent"].replace(" / ", " ")
        assert output == f"{objects}: {shown}"


def test_what_is_remembered_at_most():
    assert query(EACH)["state"].split(" / ")[1:] == [
        "about 2.48 KB for each point with 100,000 objects in the window",
        "at most all objects of the window for each point, if each is farther than the one before",
    ]


class TestWhere:
    def test_one_point_lives_in_one_zone(self):
        assert query("3 TO (1, 2) BY (solar, volts) OVER 1 HOUR")["zone"] == (
            "2 of 4 (from 0), by its name: all rows that it can use go to this one zone"
        )

    def test_values_of_per_are_spread(self):
        assert query("3 TO HIGHEST solar OVER 1 HOUR PER note")["zones"] == (
            "all 4 (from 0), by note: each value and its window live in one of them"
        )

    def test_points_that_have_been_given_are_counted(self):
        text = STREAM + f"CREATE QUERY q AS SELECT * FROM panels NEAREST ({EACH});"
        plan = compile_text(text, zones=4)
        for count, words in (
            (10, "2 of 4 (from 0), by its name: 10 points, to which every object goes"),
            (1001, "all 4 (from 0): each point lives in one of all 4 zones, by its place"),
        ):
            numbers = [float(n) for n in range(count)]
            table = pa.table({"id": [str(n) for n in numbers], "solar": numbers, "volts": numbers})
            given = sets_from_tables(plan, {"profiles": table})
            assert words in explain(plan.with_sets(given.rows))
        assert "1 query in all zones, each point in one" in explain(plan.with_sets(given.rows))

    def test_a_query_whose_answers_must_meet_lives_in_one_zone(self):
        text = f"""CREATE QUERY q AS SELECT * FROM panels NEAREST ({EACH});
CREATE QUERY r AS SELECT * FROM q CORRELATE (distance < 1 WITHIN 1 HOUR);"""
        (line,) = [line for line in sections(text)["query q"] if line.startswith("  zone")]
        assert line.endswith("by its name: all its points are answered in this one zone")


class TestShared:
    TEXT = f"""CREATE QUERY one AS SELECT * FROM panels NEAREST ({EACH});
CREATE QUERY two AS SELECT * FROM panels NEAREST (9 TO (1, 2) BY (solar, volts) OVER 10 MINUTES);
CREATE QUERY three AS SELECT * FROM panels NEAREST ({EACH} EMIT CHANGES);
"""

    def test_points_are_read_once_for_all(self):
        assert sections(self.TEXT)["points profiles"] == [
            "points profiles",
            "  columns   id (key), solar, volts",
            "  left out  price (needed by no query)",
            "  used by   one, three",
            "  read      once, before the first row, from --input profiles=PATH; one operator a query, however many they are",
        ]

    def test_queries_that_look_alike_are_one_loop(self):
        assert (
            "  nearest  3 queries in 2 ways of using objects: queries that use objects in the same way share one loop"
            in sections(self.TEXT)["shared"]
        )
