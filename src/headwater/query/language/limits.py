"""Bounds of the language that several operators share. Those of one operator are in its folder."""

from __future__ import annotations

from typing import Final

LONGEST_US: Final = 36_500 * 86_400_000_000
"""A hundred years: the longest duration, so that adding one to an instant never overflows."""

MOST_DIMENSIONS: Final = 16
"""Dimensions of one SUPPRESS, or of one source of a PREDICT."""

FORGET_US: Final = 3_600_000_000
"""An hour: a silent key is forgotten after so long without FORGET."""
