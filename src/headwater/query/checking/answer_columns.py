"""The columns of answers: those that every answer has, and how the others are written down."""

from __future__ import annotations

from typing import Final

from headwater.model import ColumnType
from headwater.query.language.tree import Expression

RESERVED: Final = ("query", "event_time", "match_id")
"""Columns that every answer begins with."""

STAMPS: Final = ("focal", "interest", "historical")
"""The further columns of every answer downstream of a FOLLOW: its focal object, its interest, and whether it is from before the interest."""

Columns = tuple[tuple[str, ColumnType], ...]
"""Names and types."""

SelectList = tuple[tuple[str, Expression, ColumnType], ...]
"""A SELECT list: name, expression and type of each column."""
