"""What is run: the queries that are tested, with rows, points and fences in every form."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.testing.outcomes import Outcome, run_case
from headwater.testing.reader import read_tests
from headwater.testing.runs import LocalEngine, plan_of

STREAM = "CREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, note STRING, PLACE (x, y)) LATE 1 SECONDS;\n"
COLD = "CREATE QUERY cold AS SELECT k, x FROM s WHERE x < 0;\n"


def outcome(text: str, folder: Path = Path()) -> Outcome:
    file = read_tests(text, folder / "x.hwtest", "x.hwtest")
    return run_case(file, file.cases[0], LocalEngine())


def passes(text: str, folder: Path = Path()) -> None:
    assert outcome(text, folder).lines() == []


def test_only_tested_queries_are_run_and_what_they_read() -> None:
    text = (
        f"== queries\n{STREAM}{COLD}"
        "CREATE QUERY colder AS SELECT k FROM cold WHERE x < -10;\nCREATE QUERY all_rows AS SELECT * FROM s;\n"
        "== rows s\nk,at,x\na,06:00:00,-11\n== answers colder\nk\na\n"
    )
    case = read_tests(text, Path("x"), "x").cases[0]
    assert [query.name for query in plan_of(case).queries] == ["cold", "colder"]
    passes(text)


def test_a_view_can_be_tested() -> None:
    view = COLD.replace("QUERY", "VIEW") + "CREATE QUERY colder AS SELECT k FROM cold WHERE x < -10;\n"
    passes(
        f"== queries\n{STREAM}{view}== rows s\nk,at,x\na,06:00:00,-1\n== answers cold\nk, x\na, -1\n== answers colder\n"
    )


def test_fences_stand_in_the_file_or_in_one_of_their_own(tmp_path: Path) -> None:
    fences = (
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"zone": "port"}, '
        '"geometry": {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}}]}\n'
    )
    (tmp_path / "z.geojson").write_text(fences)
    queries = (
        f"== queries\n{STREAM}CREATE FENCES zones (zone STRING KEY);\n"
        "CREATE QUERY inside AS SELECT * FROM s FENCE (zones DETECT ENTER);\n"
    )
    rest = "== rows s\nk,at,x,y\na,06:00:00,20,5\na,06:00:01,5,5\n== answers inside\nevent_time\n06:00:01\n"
    passes(f"{queries}== fences zones as geojson\n{fences}{rest}")
    passes(f"{queries}== fences zones from z.geojson\n{rest}", tmp_path)


@pytest.mark.parametrize(
    "rows",
    [
        "== rows s\nk,at,x\na,06:00:00,-1\n",
        '== rows s\nk,at,x,note\na,06:00:00,-1,"one, two"\n',
        "== rows s as csv\nk;at;x;y;note;more\na;2026-01-01T06:00:00Z;-1;;;7\n",
        '== rows s as jsonl\n{"k": "a", "at": "2026-01-01T06:00:00Z", "x": -1, "y": null, "note": null}\n',
        "== rows s\n\n== rows s from other\nx,at,k\n-1,06:00:00,a\n",
        "== rows s from r.csv\n",
    ],
)
def test_rows_in_every_form(rows: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("k,at,x,y,note\na,2026-01-01T06:00:00Z,-1,,\n")
    passes(f"== queries\n{STREAM}{COLD}{rows}== answers cold\nk, x\na, -1\n", tmp_path)


def test_a_quoted_cell_of_several_lines_stays_one_row() -> None:
    rows = '== rows s\nk,at,x,note\na,06:00:00,-1,"one\ntwo"\nb,06:00:01,-2,\n'
    passes(f"== queries\n{STREAM}{COLD}{rows}== answers cold\nk\na\nb\n")


def test_late_rows_that_nobody_expects_fail_the_followed_run() -> None:
    rows = "".join(f"a,06:00:{second:02d},1\n" for second in range(10, 16))
    late = f"== rows s\nk,at,x\n{rows}== rows s\nk,at,x\nb,06:00:00,-1\n== answers cold when followed\n"
    found = outcome(f"== queries\n{STREAM}{COLD}{late}")
    assert [failure.title for failure in found.failures] == [
        "when followed, late rows of 's': 1 not expected"
    ]
    assert found.failures[0].lines[-1] == "if they are expected, write them below '== late s'"
    dropped = STREAM.replace("LATE 1 SECONDS", "LATE 1 SECONDS DROP")
    passes(f"== queries\n{dropped}{COLD}{late}")


def test_a_missing_match_of_a_partition_that_has_no_row_is_explained() -> None:
    pattern = (
        "CREATE QUERY p AS SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k MEASURES B.x AS x PATTERN (A B) "
        "WITHIN 1 MINUTES DEFINE A AS A.x > 0, B AS B.x < 0);\n"
    )
    rows = "== rows s\nk,at,x\na,06:00:00,1\na,06:00:01,2\n"
    lines = outcome(f"== queries\n{STREAM}{pattern}{rows}== answers p\nk, x\na, -1\nz, -1\n").lines()
    assert "  why: query p, k = 'a': 2 rows from 2026-01-01T06:00:00Z to 2026-01-01T06:00:01Z" in lines
    assert any("B.x < 0: 2.0 < 0 is false" in line for line in lines)
    assert lines[-1] == "  why: no row has k = 'z'"


def test_a_history_that_a_run_accepts_can_be_tested_and_refused() -> None:
    queries = (
        "== queries\nCREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));\n"
        "CREATE QUERY f AS SELECT * FROM s FOLLOW (s RADIUS 10 METERS LAST 7 DAYS);\n"
    )
    assert "error[history-too-long]" not in "\n".join(outcome(queries + "== answers f\n").lines())
    found = outcome(queries + "== errors\nnowhere nothing\n").lines()
    assert any("history-too-long" in line for line in found)
