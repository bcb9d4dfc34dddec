"""Every golden file gives the answers it promises, on every host, and every error it promises, with its place."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from headwater.apps.cli.commands import run_command
from headwater.kernels.pattern.choices import RowsPerMatch
from headwater.model import QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.tree import CreateQuery, Operator
from headwater.query.operators.pattern.tree import MatchRecognize
from headwater.query.operators.predict.tree import Predict
from headwater.query.planning.plan import compile_text
from headwater.testing.cases import Expected
from headwater.testing.runs import Observed
from tests.docs.pages import assert_alike
from tests.golden import hosts, restarts
from tests.golden.case import Case, all_cases, lines_of, repeated, table_of

CASES = all_cases()
ANSWERED = [case for case in CASES if not case.errors and not case.command]
REFUSED = [case for case in CASES if case.errors]
COMMANDS = [case for case in CASES if case.command]
CONDITIONS = [case for case in ANSWERED if case.name.startswith("select/") or "WHERE" in case.text]
RESTARTED = [case for case in ANSWERED if case.is_restarted]


def each_of(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """A test for each of some cases."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def each_bounded(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """The same on a bounded host, which says of some cases why they are none for it."""
    cannot = pytest.mark.skip(reason=restarts.BOUNDED)
    marked = [pytest.param(case, marks=[cannot] * case.is_restarted, id=case.name) for case in cases]
    return pytest.mark.parametrize("case", marked)


def steady(cases: Sequence[Case]) -> list[Case]:
    """Those that are never restarted."""
    return [case for case in cases if not case.is_restarted]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="module")
def batch(folder: Path, spark) -> dict[str, Observed]:
    return hosts.run_on_spark_batch(steady(ANSWERED), folder / "batch", spark)


@pytest.fixture(scope="module")
def streaming(folder: Path, spark) -> dict[str, Observed]:
    return hosts.run_on_spark_streaming(steady(ANSWERED), folder / "streaming", spark)


@pytest.fixture(scope="module")
def restarted(folder: Path, spark) -> dict[str, Observed]:
    return restarts.restart_on_spark(RESTARTED, folder / "restarted", spark)


@pytest.fixture(scope="module")
def frames(folder: Path, spark) -> dict[str, Observed]:
    return hosts.run_on_dataframes(steady(CONDITIONS), folder / "frames", spark)


@pytest.fixture(scope="module")
def together(folder: Path) -> dict[str, Observed]:
    return hosts.run_together_on_local(steady(ANSWERED), folder / "together")


@each_bounded(ANSWERED)
def test_answers_of_the_plain_loop(case: Case, tmp_path: Path) -> None:
    compare(case, hosts.run_on_local(case, tmp_path), case.bounded)


@each_of(steady(ANSWERED))
def test_answers_of_the_plain_loop_that_follows_files(case: Case, tmp_path: Path) -> None:
    compare(case, hosts.follow_on_local(case, tmp_path), case.followed)


@each_of(RESTARTED)
def test_answers_of_the_plain_loop_that_is_restarted(case: Case, tmp_path: Path) -> None:
    compare(case, restarts.restart_on_local([case], tmp_path)[case.name], case.followed)


@each_bounded(ANSWERED)
def test_answers_of_a_batch_on_spark(case: Case, batch: dict[str, Observed]) -> None:
    compare(case, batch[case.name], case.bounded)


@each_of(steady(ANSWERED))
def test_answers_of_a_stream_on_spark(case: Case, streaming: dict[str, Observed]) -> None:
    compare(case, streaming[case.name], case.followed)


@each_of(RESTARTED)
def test_answers_of_a_stream_on_spark_that_is_restarted(case: Case, restarted: dict[str, Observed]) -> None:
    compare(case, restarted[case.name], case.followed)


@each_bounded(CONDITIONS)
def test_answers_over_dataframes(case: Case, frames: dict[str, Observed]) -> None:
    compare(case, frames[case.name], case.bounded)


def test_identities_are_the_same_on_every_host(
    together: dict[str, Observed],
    batch: dict[str, Observed],
    streaming: dict[str, Observed],
) -> None:
    for case in steady(ANSWERED):
        assert identities(batch[case.name]) == identities(together[case.name]), case.name
        if case.followed.answers == case.bounded.answers:
            assert identities(streaming[case.name]) == identities(together[case.name]), case.name


def test_identities_are_the_same_on_every_host_that_is_restarted(
    restarted: dict[str, Observed], tmp_path: Path
) -> None:
    local = restarts.restart_on_local(RESTARTED, tmp_path)
    for case in RESTARTED:
        assert identities(restarted[case.name]) == identities(local[case.name]), case.name


@each_of(REFUSED)
def test_errors_with_their_places(case: Case) -> None:
    with pytest.raises(QueriesRefused) as refused:
        compile_text(case.text, file=case.name)
    observed = [
        ((error.span.line, error.span.column) if error.span else None, error.code, error.message)
        for error in refused.value.errors
    ]
    assert [error[:2] for error in observed] == [
        (expected_error.place, expected_error.code) for expected_error in case.errors
    ]
    for (_, _, message), expected_error in zip(observed, case.errors, strict=True):
        assert expected_error.message in message


@each_of(COMMANDS)
def test_what_a_command_says(case: Case, tmp_path: Path, capsys, monkeypatch) -> None:
    assert case.command is not None
    for file in case.files:
        (tmp_path / file.name).write_text(file.text, encoding=file.encoding)
    for name, text in case.others.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "queries.hw").write_text(case.text)
    monkeypatch.chdir(tmp_path)
    code = run_command(shlex.split(case.command)[1:])
    observed = capsys.readouterr()
    assert_alike(observed.out + observed.err, case.says)
    assert code == case.exit_code


def test_every_code_of_a_query_has_a_golden_file() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"
    part = page.read_text().split("## Errors of queries")[1].split("\n## ")[0]
    codes = set(re.findall(r"^### ([a-z-]+)$", part, re.MULTILINE))
    refused = {error.code for case in REFUSED for error in case.errors}
    by_commands = {code for case in COMMANDS for code in re.findall(r"error\[([a-z-]+)\]", case.says)}
    assert codes == refused | (codes & by_commands)  # unbounded-pattern: only a run that follows refuses it


def identities(observed: Observed) -> list[str]:
    """The identities of all answers."""
    return sorted(row["match_id"] for rows in observed.answers.values() for row in rows)


def compare(case: Case, observed: Observed, expected: Expected) -> None:
    """Answers, late rows and bad rows are exactly those that the file promises."""
    for query in sorted(set(observed.answers) | set(expected.answers)):
        table = expected.answers.get(query)
        assert table_of(observed.answers.get(query, ()), table) == lines_of(table), f"answers of {query}"
    plans = [hosts.compiled(start.text) for start in case.starts]
    dropped = {stream.name for plan in plans for stream in plan.streams if stream.drop_late}
    for stream in sorted(
        (set(observed.late) | set(expected.late)) - dropped
    ):  # a host tells them, to be counted
        table = expected.late.get(stream)
        assert table_of(observed.late.get(stream, ()), table) == lines_of(table), f"late rows of {stream}"
    in_rows = {query for start in case.starts for query in told_in_rows(start.text)}
    alone = (rows for query, rows in observed.answers.items() if query not in in_rows)
    assert not repeated(row["match_id"] for rows in alone for row in rows)
    compare_bad(case, observed)


@cache
def told_in_rows(text: str) -> frozenset[str]:
    """The queries of a text that tell their matches in several rows, which share their identity."""
    queries = (statement for statement in parse(text)[0].statements if isinstance(statement, CreateQuery))
    return frozenset(query.name for query in queries if _in_rows(query.select.operator))


def _in_rows(operator: Operator | None) -> bool:
    if isinstance(operator, Predict):
        return bool(operator.tentative) or operator.every is not None
    return isinstance(operator, MatchRecognize) and operator.rows not in (None, RowsPerMatch.ONE)


def compare_bad(case: Case, observed: Observed) -> None:
    """Bad rows: place exactly, reason in part."""
    bad = sorted((Path(row["file"]).name, row["line"], row["reason"]) for row in observed.bad)
    expected_rows = sorted((file, int(line), reason) for _, file, line, reason in case.bad)
    assert [row[:2] for row in bad] == [row[:2] for row in expected_rows]
    for (_, _, reason), (_, _, part) in zip(bad, expected_rows, strict=True):
        assert part in reason
