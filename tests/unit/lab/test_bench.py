"""The benchmark: what it writes, and that it fails when the answers are wrong or missing."""

import json
import os
import pickle
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from headwater.apps.cli import main
from headwater.hosts.spark.zone_report import ZoneReport
from headwater.hosts.zone import StepOutput
from headwater.query.planning.plan import compile_text
from headwater_lab.bench.ceiling import IdleKernel, idle
from headwater_lab.bench.checks import Report, Taken, check_answers, plain_answers
from headwater_lab.bench.figures import Figure, table, write_figures
from headwater_lab.bench.flink import count_triples
from headwater_lab.bench.memory import python_peak_kib
from headwater_lab.bench.questions import WITHIN_S, everywhere, inside, on_regions, script
from headwater_lab.bench.stations import make_reports, write_reports
from headwater_lab.bench.truth import count_pairs, expected

WITHIN_US = WITHIN_S * 1_000_000


@pytest.fixture(scope="module")
def reports():
    return make_reports(2_000, seed=3)


@pytest.fixture
def files(reports, tmp_path):
    return write_reports(reports, tmp_path / "rows", 4)


def test_figures_are_written_as_json_with_their_targets(tmp_path: Path) -> None:
    figures = [Figure("a: rate over ceiling", 0.4, "ratio", ">=", 0.5), Figure("b", 7.0, "MiB", "<", 1024.0)]
    write_figures(figures, tmp_path / "figures.json")
    assert json.loads((tmp_path / "figures.json").read_text()) == {
        "figures": [
            {"name": "a: rate over ceiling", "value": 0.4, "unit": "ratio", "wanted": ">= 0.5", "met": False},
            {"name": "b", "value": 7.0, "unit": "MiB", "wanted": "< 1,024", "met": True},
        ]
    }


def test_the_table_says_which_targets_are_met() -> None:
    figures = [Figure("rate", 612_345.6, "rows/s", ">=", 600_000.0), Figure("silent", 3, "", "=", 0.0)]
    lines = table(figures).splitlines()
    assert lines[2] == "rate    612,346  >= 600,000  rows/s  met"
    assert lines[3] == "silent        3         = 0          NOT MET"


def test_the_same_seed_gives_the_same_rows(reports) -> None:
    again = make_reports(2_000, seed=3)
    assert (again.at == reports.at).all()
    assert all((again.values[name] == reports.values[name]).all() for name in reports.values)
    assert not (make_reports(2_000, seed=4).at == reports.at).all()


def test_no_row_comes_later_than_the_stream_allows(reports) -> None:
    behind_us = np.maximum.accumulate(reports.at) - reports.at
    assert 0 < behind_us.max() < 10_000_000


def test_expected_answers_are_those_of_a_loop_over_rows(reports) -> None:
    questions = [everywhere(reports, share=0.05), *on_regions(reports, 100, share=0.2, seed=3)]
    must = expected(reports, questions)
    assert must.counts.tolist() == [
        len(list(answers_one_by_one(reports, question))) for question in questions
    ]
    assert must.silent == 0


def answers_one_by_one(reports, question):
    stations = np.ones(1000, bool) if question.region is None else inside(reports, question.region)
    last = {}
    for row in reports.order().tolist():
        if not stations[reports.station[row]]:
            continue
        found = [r for r in question.ranges if r.low <= reports.values[r.attribute][row] <= r.high]
        last.update(dict.fromkeys(found, reports.at[row]))
        if found and all(last.get(r, 0) > reports.at[row] - WITHIN_US for r in question.ranges):
            yield row


def test_pairs_and_triples_are_counted_as_in_a_loop(reports) -> None:
    question = everywhere(reports, share=0.01)
    times = [
        reports.at[(reports.values[r.attribute] >= r.low) & (reports.values[r.attribute] <= r.high)].tolist()
        for r in question.ranges
    ]
    pairs = [pair for pair in product(*times[:2]) if max(pair) - min(pair) < WITHIN_US]
    triples = [triple for triple in product(*times) if max(triple) - min(triple) < WITHIN_US]
    assert len(triples) > 100
    assert count_pairs(reports, question) == len(pairs)
    assert count_triples(reports, question, len(reports)) == len(triples)


def test_right_answers_pass(reports, files) -> None:
    questions = [everywhere(reports, share=0.05)]
    report = Report()
    check_answers(report, "a", questions, reports, files, taken_from(plain_answers(script(questions), files)))
    assert report.failures == []
    assert [(f.name, f.met) for f in report.figures] == [
        ("a: answers a row", True),
        ("a: subscriptions without an answer", True),
    ]


def test_no_answers_fail(reports, files) -> None:
    report = Report()
    check_answers(report, "a", [everywhere(reports, share=0.05)], reports, files, Taken())
    assert report.failures[-1] == "(a) there are no answers at all"
    assert [f.met for f in report.figures] == [False, False]


def test_an_answer_too_few_fails(reports, files) -> None:
    questions = [everywhere(reports, share=0.05)]
    blocks = plain_answers(script(questions), files)
    report = Report()
    check_answers(
        report, "a", questions, reports, files, taken_from([blocks[0].take(slice(1, None)), *blocks[1:]])
    )
    count = sum(block.count for block in blocks)
    assert report.failures == [
        f"(a) Spark gave {count - 1:,} answers, the plain loop {count:,}",
        "(a) the answers of Spark and of the plain loop have different identities",
    ]


def taken_from(blocks) -> Taken:
    taken = Taken()
    for number, block in enumerate(blocks):
        taken.each([ZoneReport(StepOutput((block,)), None, 0)], number)
    return taken


def test_an_idle_plan_routes_as_the_other_and_answers_nothing(reports) -> None:
    plan = compile_text(script(on_regions(reports, 100, share=0.1, seed=3)), zones=3)
    sent = pickle.dumps(idle(plan))
    quiet = pickle.loads(sent)
    assert pickle.loads(sent) is quiet
    assert quiet.columns_read("weather") == plan.columns_read("weather")
    for zone in range(3):
        assert [group.queries for group in quiet.groups(zone)] == [
            group.queries for group in plan.groups(zone)
        ]
        assert all(isinstance(group.kernel, IdleKernel) for group in quiet.groups(zone))


def test_memory_of_a_python_process_is_known() -> None:
    assert python_peak_kib(os.getpid()) > 10_000
    assert python_peak_kib(1 << 30) == 0


@pytest.mark.parametrize(
    ("family", "flag", "families"),
    [
        ("predict", "--flink", "correlate and patterns"),
        ("predict", "--real", "nearest"),
        ("nearest", "--flink", "correlate and patterns"),
        ("correlate", "--real", "nearest"),
    ],
)
def test_a_flag_that_would_change_nothing_is_refused(family: str, flag: str, families: str, capsys) -> None:
    assert main(["bench", family, flag, "elsewhere"]) == 2
    printed = capsys.readouterr().err
    assert f"error[usage]: '{family}' takes no {flag}\n" in printed
    assert f"leave it out: it is for {families}" in printed
