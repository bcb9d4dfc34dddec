"""`.hwtest` files on Spark: a case gives there what it gives in the plain loop, bounded and followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import headwater.apps
from headwater.testing.outcomes import run_case
from headwater.testing.reader import read_test_file
from headwater.testing.spark_runs import SparkEngine

EXAMPLE = Path(headwater.apps.__file__).parent / "examples" / "testing-queries" / "frost.hwtest"


def test_a_case_with_late_rows_passes_and_a_wrong_one_fails(spark: Any, tmp_path: Path) -> None:
    file = read_test_file(EXAMPLE)
    late = next(case for case in file.cases if len(case.runs) == 2)
    assert run_case(file, late, SparkEngine(spark)).lines() == []
    wrong = tmp_path / "wrong.hwtest"
    (tmp_path / "frost.hw").write_text((EXAMPLE.parent / "frost.hw").read_text())
    wrong.write_text(
        "== queries from frost.hw\n== rows weather\nat,temperature\n06:00:00,-1\n06:00:01,cold\n"
        "== answers frost\ntemperature\n-2\n"
    )
    file = read_test_file(wrong)
    assert [failure.title for failure in run_case(file, file.cases[0], SparkEngine(spark)).failures] == [
        "answers of 'frost': 1 missing, 1 not expected",
        "bad rows: 1 not expected",
    ]
