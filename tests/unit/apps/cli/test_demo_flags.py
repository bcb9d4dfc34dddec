from __future__ import annotations

import pytest

from headwater.apps.cli import main
from headwater.apps.demo.view import Figures, Lines


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--seed", "-1"], "--seed: expected an integer of 0 or more, not '-1'"),
        (["--seed", "1.5"], "--seed: expected an integer of 0 or more, not '1.5'"),
        (["--seconds", "0"], "--seconds: expected a number of seconds above 0, not '0'"),
        (["--seconds", "-2"], "--seconds: expected a number of seconds above 0, not '-2'"),
        (["--seconds", "nan"], "--seconds: expected a number of seconds above 0, not 'nan'"),
        (["--seconds", "inf"], "--seconds: expected a number of seconds above 0, not 'inf'"),
        (["--seconds", "soon"], "--seconds: expected a number of seconds above 0, not 'soon'"),
    ],
)
def test_a_demo_that_makes_no_sense_is_refused(capfd, flags, message):
    assert main(["demo", *flags]) == 2
    assert capfd.readouterr().err.splitlines()[0] == f"error[usage]: {message}"


def test_without_a_terminal_a_line_comes_only_when_the_figures_changed(capfd):
    lines, figures = Lines(), Figures()
    for readings in (3, 0, 4):
        figures.take(readings, {}, [])
        lines.shown = 0.0  # as if a second had gone by
        lines.show(figures)
    assert capfd.readouterr().out.splitlines() == [
        "readings        3  answers       0",
        "readings        7  answers       0",
    ]
