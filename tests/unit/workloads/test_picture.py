"""The picture in the docs is the one that the example draws."""

from __future__ import annotations

from headwater.apps.examples.programs.draw_a_w import LEGS, TRADES, draw
from tests.docs.pages import ROOT


def test_the_picture_of_a_w_is_up_to_date() -> None:
    bound = dict(zip(LEGS, (TRADES[place][0] for place in (1, 5, 12, 16, 29)), strict=True))
    assert draw(bound) == (ROOT / "docs" / "how-to" / "images" / "w-shape.svg").read_text()
    assert len(TRADES) == 30
