"""What a plan comes to, as tables for people and as CSV for programs."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headwater.apps.plan.operator_words import operator_in_words
from headwater.apps.plan.sensor_day import Day
from headwater.apps.plan.subscriptions import Question
from headwater.model import HeadwaterError, NodeId, Operator, format_instant
from headwater.query.language.words import counted, size_in_words

if TYPE_CHECKING:
    from rich.console import Console

MOST_ROWS: Final = 60
"""Lines of a printed table; the CSV has all of them."""

OPERATOR_COLUMNS: Final = ("node", "requested by", "for", "requests")
LINK_COLUMNS: Final = (
    "link", "operators", "readings", "operators to the centre", "readings to the centre", "saved",
)  # fmt: skip

Pair = tuple[NodeId, NodeId]
Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """What the links of one approach carried, by direction: operators and readings, and the bytes of all of them."""

    approach: str
    subscriptions: Mapping[Pair, int]
    events: Mapping[Pair, int]
    subscription_bytes: int
    event_bytes: int

    def over(self, pair: Pair) -> tuple[int, int]:
        """Operators and readings over a link, both ways together."""
        back = pair[::-1]
        return (
            self.subscriptions.get(pair, 0) + self.subscriptions.get(back, 0),
            self.events.get(pair, 0) + self.events.get(back, 0),
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """An operator that stands at a node, on behalf of a neighbour or of the user of a subscription there."""

    node: NodeId
    requester: str
    operator: Operator


@dataclass(frozen=True, slots=True)
class Planned:
    """The whole report. `expected`, `missed` and `wrong` count readings of subscriptions; of the last there must be none.

    `may_lose`: the approach drops operators by chance, and readings with them. `tells`: what the network says to users, by
    subscription. `refused`: what nodes would not take. `counts`: readings that nodes had to drop, by the reason.
    `settled`: nothing was under way any more at the end.
    """

    question: Question
    day: Day
    ours: Carried
    centre: Carried
    centre_node: NodeId
    placed: Sequence[Placed]
    expected: int
    missed: int
    wrong: int
    may_lose: bool = False
    centre_missed: int = 0
    tells: Sequence[tuple[str, HeadwaterError]] = ()
    refused: Sequence[HeadwaterError] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    settled: bool = True

    @property
    def links(self) -> list[Pair]:
        """The links as the network has them."""
        return [(link.one, link.other) for link in self.question.network.links]


def print_report(planned: Planned, console: Console) -> None:
    """Everything, in the order in which one asks: what is it about, what stands where, what do the links carry."""
    for line in _about(planned):
        console.print(line, highlight=False, markup=False)
    _table(console, "operators", OPERATOR_COLUMNS, operator_rows(planned), words=4)
    links = link_rows(planned)
    if len(links) > MOST_ROWS:
        links.sort(key=lambda row: -row[2] - row[4])  # the busiest, where not all can be shown
    _table(console, "links", LINK_COLUMNS, [*map(_spoken, links)], words=1)
    for line in _closing(planned):
        console.print(line, highlight=False, markup=False)


def operator_rows(planned: Planned) -> list[Cells]:
    """Which operator stands where."""
    order = {node: number for number, node in enumerate(planned.question.network.nodes)}
    rows = sorted(planned.placed, key=lambda placed: order[placed.node])
    return [(p.node, p.requester, p.operator.subscription, operator_in_words(p.operator)) for p in rows]


def link_rows(planned: Planned) -> list[tuple[str, int, int, int, int, float]]:
    """What each link carries, beside what it would carry if everything went to the centre; `saved` is a share of that."""
    rows = []
    for pair in planned.links:
        ours, centre = planned.ours.over(pair), planned.centre.over(pair)
        rows.append((f"{pair[0]} - {pair[1]}", *ours, *centre, _saved(ours[1], centre[1])))
    return rows


def write_tables(planned: Planned, folder: Path) -> list[Path]:
    """Both tables as CSV."""
    tables: list[tuple[str, Cells, Sequence[Sequence[object]]]] = [
        ("plan-operators.csv", OPERATOR_COLUMNS, operator_rows(planned)),
        ("plan-links.csv", LINK_COLUMNS, link_rows(planned)),
    ]
    for name, columns, rows in tables:
        with (folder / name).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return [folder / name for name, _, _ in tables]


def _about(planned: Planned) -> list[str]:
    question, readings = planned.question, planned.day.recorded.readings
    network = question.network
    span = ""
    if len(readings.time):
        span = f", {format_instant(int(readings.time[0]))} to {format_instant(int(readings.time[-1]))}"
    lines = [
        f"network   {counted(len(network.nodes), 'node')}, {counted(len(question.sources), 'sensor')}, "
        f"{counted(len(network.users), 'user')}; the centre is '{planned.centre_node}'",
        f"queries   {counted(len(question.subscriptions), 'subscription')}, approach '{planned.ours.approach}'",
        f"readings  {len(readings.time):,} of {planned.day.origin}{span}",
    ]
    lines += [f"left out  {words}" for words in planned.day.left_out]
    if question.taken_as_readings:
        names = ", ".join(f"'{name}'" for name in question.taken_as_readings)
        lines.append(f"note      planned as EMIT READINGS, from which their answers are made: {names}")
    dropped = set()
    for subscription, why in question.unanswerable():
        dropped.add((subscription.name, "no-sources"))
        lines.append(f"dropped   '{subscription.query}' of {subscription.user}, who is informed: {why}")
    lines += _shortened(
        [
            f"reported  {name.partition('/')[0]}, of '{name.partition('/')[2]}': {error.message}"
            for name, error in planned.tells
            if (name, error.code) not in dropped
        ]
    )
    return lines + _shortened([f"refused   {error.message}" for error in planned.refused])


def _closing(planned: Planned) -> list[str]:
    ours, centre = planned.ours, planned.centre
    events, central = sum(ours.events.values()), sum(centre.events.values())
    lines = [
        _total("operators", sum(ours.subscriptions.values()), sum(centre.subscriptions.values())),
        _total("readings", events, central) + f": {_percent(_saved(events, central))} saved",
        f"bytes     {size_in_words(ours.subscription_bytes + ours.event_bytes)} over links, "
        f"{size_in_words(centre.subscription_bytes + centre.event_bytes)} to the centre",
        f"answers   {_came(planned.expected, planned.missed)}",
    ]
    if planned.centre_missed:
        lines.append(
            f"centre    when everything goes there, {_came(planned.expected, planned.centre_missed)}"
        )
    if not planned.settled:
        lines.append("links     were still busy when the last reading was no longer valid")
    return lines + [f"counted   {count:,} {what}" for what, count in planned.counts.items()]


def _came(expected: int, missed: int) -> str:
    came = f"{expected - missed:,} of {expected:,} readings reached their users"
    return came + (f": {missed:,} {'is' if missed == 1 else 'are'} missing" if missed else "")


def _total(what: str, ours: int, centre: int) -> str:
    return f"{what:<9} {ours:,} over links, {centre:,} when everything goes to the centre"


def _saved(ours: int, centre: int) -> float:
    return 0.0 if ours == centre else 1.0 - ours / centre if centre else -1.0


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _spoken(row: tuple[str, int, int, int, int, float]) -> Cells:
    link, *numbers, saved = row
    ours, centre = row[2], row[4]
    difference = "" if ours == centre == 0 else "more" if centre == 0 else _percent(saved)
    return (link, *(f"{number:,}" for number in numbers), difference)


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_ROWS
    return [*lines[:MOST_ROWS], f"          and {more:,} more"] if more > 0 else lines


def _table(console: Console, title: str, columns: Cells, rows: Sequence[Cells], *, words: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < words else "right", overflow="fold")
    for row in rows[:MOST_ROWS]:
        table.add_row(*(_plain(cell) for cell in row))
    console.print(table)
    if len(rows) > MOST_ROWS:
        console.print(f"and {len(rows) - MOST_ROWS:,} more", highlight=False)


def _plain(cell: str) -> str:
    """A name may hold what rich would take for a style."""
    from rich.markup import escape

    return escape(cell)
