"""Which libraries does a command load? Loading those that it does not need would be most of the time of a short command.

Everything runs in a process of its own, as it does for users.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

LIBRARIES = ["lark", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "pyspark", "rich", "shapely"]

THEN_LIST = f"""
import json, sys
print(json.dumps([name for name in {LIBRARIES} if name in sys.modules]), file=sys.stderr)
"""

COMMAND = """
import sys
from headwater.apps.cli import main
sys.argv[0] = "headwater"
assert main() == 0
"""

QUERIES = {
    "warm": "SELECT station, temperature FROM weather WHERE temperature > 20",
    "pair": """SELECT * FROM weather CORRELATE (
        temperature > 20, temperature < 10 AS cold WITHIN 30 SECONDS, 9 METERS INSIDE CIRCLE (0, 0, 1 KM))""",
    "closest": "SELECT * FROM weather NEAREST (1 TO (7) BY (temperature) OVER 1 HOUR)",
    "rise": """SELECT * FROM weather MATCH_RECOGNIZE (
        PARTITION BY station ORDER BY at MEASURES LAST(B.temperature) AS peak PATTERN (A B) WITHIN INTERVAL '1' MINUTE
        DEFINE B AS B.temperature > PREV(B.temperature))""",
    "around": "SELECT * FROM weather FOLLOW (weather RADIUS 5 METERS LAST 1 MINUTE)",
}
STREAM = """CREATE STREAM weather (
    station STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, temperature DOUBLE, PLACE (x, y));"""
ROWS = """station,at,x,y,temperature
a,2026-01-01T00:00:00Z,0,0,15
b,2026-01-01T00:00:05Z,1,1,5
a,2026-01-01T00:00:10Z,2,2,22
"""


def loaded_by(program: str, arguments: Sequence[object] = ()) -> tuple[list[str], str]:
    """The libraries that a program has loaded at its end, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", program + THEN_LIST, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1]), done.stdout


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """A file with a query of each kind."""
    created = (f"CREATE QUERY {name} AS {text};" for name, text in QUERIES.items())
    path = tmp_path / "alerts.hw"
    path.write_text("\n".join([STREAM, *created]))
    return path


@pytest.mark.parametrize("words", [["--help"], []])
def test_help_loads_no_library(words: list[str]) -> None:
    program = COMMAND.replace("assert main() == 0", "try: main()\nexcept SystemExit: pass")
    loaded, printed = loaded_by(program, words)
    assert "headwater COMMAND --help" in printed
    assert loaded == []


def test_the_package_loads_no_library() -> None:
    assert loaded_by("import headwater") == ([], "")


def test_check_loads_what_it_reads_texts_with(queries: Path) -> None:
    loaded, printed = loaded_by(COMMAND, ["check", queries])
    assert printed == f"{queries}: 1 stream, 5 queries, no errors\n"
    assert loaded == ["lark", "numpy"]


def test_check_reads_the_words_of_kernels_and_loads_no_kernel(queries: Path) -> None:
    program = f"""{COMMAND}
print([name for name in sys.modules if name.startswith("headwater.kernels.") and name.endswith((".kernel", ".engine"))])
print([name for name in sys.modules if name.startswith(("headwater.query.explaining", "headwater.hosts.spark"))])
"""
    assert loaded_by(program, ["check", queries])[1].splitlines()[1:] == ["[]", "[]"]


def test_a_query_is_checked_in_python_without_tables() -> None:
    text = f"{STREAM} CREATE QUERY warm AS {QUERIES['warm']};"
    assert loaded_by(f"import headwater as hw\nhw.check({text!r})")[0] == ["lark", "numpy"]


@pytest.mark.parametrize("query", ["warm", "pair", "rise"])
def test_a_local_run_loads_neither_spark_nor_pandas(queries: Path, tmp_path: Path, query: str) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(ROWS)
    words = ["run", queries, "--engine", "local", "--query", query, "--input", f"weather={rows}"]
    loaded, printed = loaded_by(COMMAND, words)
    assert [json.loads(line)["query"] for line in printed.splitlines()] == [query]
    assert loaded == ["lark", "numba", "numpy", "pyarrow"]


def test_pandas_stays_what_it_is_where_the_command_is_called_from_python(
    queries: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(ROWS)
    words = ["run", str(queries), "--engine", "local", "--query", "warm", "--input", f"weather={rows}"]
    program = f"""
from headwater.apps.cli import main
assert main({words!r}) == 0
import pandas, pyarrow
assert pyarrow.array([pandas.NA, 1], from_pandas=True).to_pylist() == [None, 1]
"""
    assert "pandas" in loaded_by(program)[0]


def test_python_looks_for_garbage_as_ever_where_the_command_is_called_from_python(queries: Path) -> None:
    look = "import gc\nprint(gc.get_threshold()[0], gc.get_freeze_count() > 0)\n"
    called = f'from headwater.apps.cli import main\nassert main(["check", {str(queries)!r}]) == 0\n'
    before = loaded_by(look)[1]
    assert loaded_by(called + look)[1].splitlines()[-1:] == before.splitlines()
    assert loaded_by(COMMAND + look, ["check", queries])[1].splitlines()[-1] == "10000 True"
