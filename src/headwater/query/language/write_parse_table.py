"""`make grammar`: makes the stored parse table again, after a change to the grammar."""

from __future__ import annotations

from headwater.query.language.grammar import grammar
from headwater.query.language.parse import STARTS
from headwater.query.language.parse_table import TABLE_FILE, stored_text


def write_table() -> None:
    """Write the file that the package has."""
    TABLE_FILE.write_text(stored_text(grammar(), STARTS), encoding="utf-8")


if __name__ == "__main__":
    write_table()
