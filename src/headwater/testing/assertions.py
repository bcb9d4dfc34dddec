"""Tests of queries in Python: what fails is an AssertionError with the difference.

Nothing is imported before it is needed: pytest loads this room in every run, also where nobody tests a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.testing.cases import CaseFile

Input = str | PathLike[str] | Any
"""CSV text (with a line end), the path of a file, or a table: pandas, Polars, Arrow."""


def check(path: str | PathLike[str], *, only: str = "") -> None:
    """Run the cases of a `.hwtest` file, or those with the text `only` in their name; raises AssertionError if one fails.

    A file that cannot be read, or that is not a test file, raises a HeadwaterError.

    ```text thaw.hwtest
    == queries
    CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);
    CREATE QUERY thaw AS SELECT station, temperature FROM weather WHERE temperature > 0;

    == case above zero
    == rows weather
    station,at,temperature
    meadow,06:00:00,0.5
    river,06:00:00,0

    == answers thaw
    station, temperature
    meadow,  0.5
    ```

    ```python
    hw.testing.check("thaw.hwtest")
    ```
    """
    prepare()
    from headwater.testing.reader import read_test_file

    file = read_test_file(Path(path))
    if not any(only.lower() in case.name.lower() for case in file.cases):
        raise AssertionError(f"{path} has no case with '{only}' in its name")
    _assert_passes(file, only)


def assert_answers(
    queries: str, inputs: Mapping[str, Input | Sequence[Input]], expected: Mapping[str, str]
) -> None:
    """Run queries over rows and compare; raises AssertionError with the difference.

    `inputs` are rows by stream, points and fences: CSV text, the path of a file, a table (pandas, Polars, Arrow), or a list of
    these, which arrive one after the other. `expected` are tables of answers by query, as in a `.hwtest` file; an empty text
    means that there are none.

    ```python
    hw.testing.assert_answers(
        "CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, n BIGINT); CREATE QUERY big AS SELECT id, n FROM s WHERE n > 9;",
        {"s": "id,at,n\\na,06:00:00,10\\nb,06:00:01,9\\n"},
        {"big": "id, n\\na, 10\\n"},
    )
    ```
    """
    prepare()
    from headwater.hosts.temporary_folders import temporary_folder
    from headwater.testing.reader import read_tests

    with temporary_folder("test") as folder:
        parts = [f"== queries\n{queries}"]
        for name, rows in inputs.items():
            kind = _kind_of(queries, name)
            for number, one in enumerate(rows if isinstance(rows, list | tuple) else [rows], 1):
                parts.append(_input_section(kind, name, one, folder.path / f"{number}"))
        parts += [f"== answers {name}\n{table}" for name, table in expected.items()]
        text = "".join(f"{part.rstrip()}\n" for part in parts)
        _assert_passes(read_tests(text, Path.cwd() / "answers", "answers"))


def prepare() -> None:
    """Before kernels are imported: their compiled code is found where other runs keep it."""
    from headwater.hosts.stored_code import use_compiled_code

    use_compiled_code()


def _assert_passes(file: CaseFile, only: str = "") -> None:
    from headwater.testing.outcomes import run_case
    from headwater.testing.runs import LocalEngine

    cases = [case for case in file.cases if only.lower() in case.name.lower()]
    outcomes = [run_case(file, case, LocalEngine()) for case in cases]
    failed = [outcome for outcome in outcomes if not outcome.passed]
    if failed:
        blocks = ["\n".join([f"{one.place}: {one.case.name}", *one.lines()]) for one in failed]
        raise AssertionError("\n\n".join(blocks))


def _kind_of(queries: str, name: str) -> str:
    """Rows, points or fences, as the text declares the name."""
    from headwater.query.language.parse import parse
    from headwater.query.language.tree import CreateFences, CreatePoints

    kinds = {CreatePoints: "points", CreateFences: "fences"}
    statements = {
        statement.name: kinds.get(type(statement), "rows") for statement in parse(queries)[0].statements
    }
    return statements.get(name, "rows")


def _input_section(kind: str, name: str, rows: Input, folder: Path) -> str:
    if isinstance(rows, str) and "\n" in rows:
        return f"== {kind} {name}\n{rows}"
    if isinstance(rows, str | PathLike):
        return f"== {kind} {name} from {Path(rows).absolute()}"
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table(rows), path)
    return f"== {kind} {name} from {path}"
