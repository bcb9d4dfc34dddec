"""An outcome as one page of HTML that needs nothing beside it: pictures are inside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final

from headwater_lab.reproduce.outcome import Outcome

_STYLE: Final = """
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px }
th, td { border: 1px solid #ccc; padding: .25em .6em; text-align: left; vertical-align: top }
.rows { overflow-x: auto } .rows td { text-align: right; white-space: nowrap }
.holds { color: #17692b } .fails { color: #a61b1b; font-weight: bold }
figure { display: inline-block; margin: .5em } img { max-width: 36em }
"""


def write_page(title: str, outcome: Outcome, pictures: Sequence[Path], path: Path) -> None:
    """What was claimed and what was measured, the pictures, the table."""
    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title><style>{_STYLE}</style></head>",
        f"<body><h1>{escape(title)}</h1>",
        *(f"<p>{escape(words)}</p>" for words in outcome.about),
        *(f"<p class='fails'>check failed: {escape(failure)}</p>" for failure in outcome.failures),
        "<h2>Claim by claim</h2>",
        _claims(outcome),
        "<h2>Figures</h2>",
        *map(_picture, pictures),
        "<h2>All that was measured</h2><div class='rows'>",
        _table(outcome.columns, ([escape(cell) for cell in row] for row in outcome.shown())),
        "</div></body></html>",
    ]
    path.write_text("\n".join(parts), encoding="utf-8")


def _claims(outcome: Outcome) -> str:
    rows = (
        [
            escape(claim.words),
            escape(claim.published),
            escape(claim.evidence),
            "<span class='holds'>holds</span>" if claim.holds else "<span class='fails'>does not hold</span>",
        ]
        for claim in outcome.claims
    )
    return _table(("claim", "published", "here", ""), rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _picture(path: Path) -> str:
    drawn = b64encode(path.read_bytes()).decode("ascii")
    return f"<figure><img alt='{escape(path.stem)}' src='data:image/png;base64,{drawn}'></figure>"
