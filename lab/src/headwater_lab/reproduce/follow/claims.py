"""What was published about following, beside what was measured.

Shares are means over the sets of trajectories. "About" a published share is within ten points of a hundred of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from headwater_lab.bench.figures import spoken
from headwater_lab.reproduce.follow.cases import (
    ACCIDENTS,
    ALWAYS,
    AVERAGE,
    BASIC,
    BEGINNINGS,
    EACH,
    FRIENDS,
    NONE,
    ONCE,
    POSTS,
    PREDEPLOYED,
    UPDATES,
    Measured,
)
from headwater_lab.reproduce.follow.figures import Of, lines_of
from headwater_lab.reproduce.outcome import Claim

ONE_IN_A_HUNDRED: Final = 0.01
TARGET_QUALITY: Final = 0.9
ABOUT: Final = 0.1
PAPER_AVERAGE: Final = 0.8
PAPER_NONE: Final = 0.2
PAPER_OVERHEAD: Final = 0.1
PAPER_SAVED: Final = 0.98
BY_QUALITY: Final = "QUALITY 0.9, 0"
RARER: Final = (("EVERY 5 SECONDS", "EVERY 20 SECONDS"), ("MOVED 25 METERS", "MOVED 100 METERS"))

Lines = Mapping[str, Mapping[int, float]]


def claims(measured: Sequence[Measured]) -> list[Claim]:
    """All that can be judged by what was measured."""
    by_figure = {
        figure: [m for m in measured if m.figure == figure] for figure in (PREDEPLOYED, UPDATES, BEGINNINGS)
    }
    return [
        *_predeployed(by_figure[PREDEPLOYED]),
        *_updates(by_figure[UPDATES]),
        *_beginnings(by_figure[BEGINNINGS]),
    ]


def _predeployed(rows: Sequence[Measured]) -> Iterable[Claim]:
    for application in (ACCIDENTS, FRIENDS):
        own = [m for m in rows if m.application == application]
        shares = _by_edge(own, lambda m: m.relative)
        posts = _by_edge(own, lambda m: m.streamed)[POSTS]
        drivers = _by_edge(own, lambda m: m.a_driver)
        for way in (EACH, ONCE):
            even = [posts[edge] / max(drivers[way][edge], 1e-9) for edge in posts]
            yield Claim(
                f"{application}, {way}: over 99 % fewer events than for predeployed regions, at every size",
                all(share < ONE_IN_A_HUNDRED for share in shares[way].values()),
                f"share of their events by edge in metres: {_percents(shares[way])}; as many as theirs are passed on for "
                f"{spoken(min(even))} to {spoken(max(even))} drivers. Regions below 100 m leave gaps and get the fewer events for it",
                "reduced by over 99 %",
            )
    saved = {
        application: _saved([m for m in rows if m.application == application])
        for application in (ACCIDENTS, FRIENDS)
    }
    yield Claim(
        "leaving out what was passed on before saves events in both applications",
        all(share > 0 for share in saved.values()),
        "; ".join(f"{application}: {share:.1%} fewer" for application, share in saved.items())
        + ". Operators of an interest begin with nothing and need what fills their windows; with δ = 0, as for accidents, that is all of the past",
        "fewer streamed with and without the optimisations, in both",
    )


def _saved(rows: Sequence[Measured]) -> float:
    each, once = (sum(m.streamed for m in rows if m.way == way) for way in (EACH, ONCE))
    return 1.0 - once / max(each, 1)


def _updates(rows: Sequence[Measured]) -> Iterable[Claim]:
    traffic = _by_edge(rows, lambda m: m.relative)
    precision, recall = _by_edge(rows, lambda m: m.precision), _by_edge(rows, lambda m: m.recall)
    others = [way for way in traffic if way != ALWAYS]
    yield Claim(
        "a condition that switches less often than always passes on fewer events, at every size",
        all(share < 1 for way in others for share in traffic[way].values()),
        "events relative to ALWAYS by edge: "
        + "; ".join(f"{way}: {_percents(traffic[way])}" for way in others),
        "significantly influence the number of streamed events",
    )
    yield Claim(
        "of two times, and of two distances, the greater passes on fewer events and fits worse, at every size",
        all(
            traffic[rare][edge] < traffic[often][edge] and precision[rare][edge] < precision[often][edge]
            for often, rare in RARER
            for edge in traffic[often]
        ),
        "precision by edge: "
        + "; ".join(f"{way}: {_shares(precision[way])}" for pair in RARER for way in pair),
        "low streaming costs come at the price of a low quality",
    )
    yield Claim(
        "QUALITY by a precision of 0.9 halves the events and keeps the precision above 0.9, at every size",
        all(share <= 0.5 for share in traffic[BY_QUALITY].values())
        and all(share > TARGET_QUALITY for share in precision[BY_QUALITY].values()),
        f"events relative to ALWAYS by edge: {_percents(traffic[BY_QUALITY])}; precision: {_shares(precision[BY_QUALITY])}; "
        f"recall, which the condition does not look at: {_shares(recall[BY_QUALITY])}",
        "by a factor of 2 while keeping the quality above 0.9",
    )


def _beginnings(rows: Sequence[Measured]) -> Iterable[Claim]:
    found = _by_window(rows, lambda m: m.completeness)
    overhead = _by_window(rows, lambda m: m.relative)[AVERAGE]
    past = _by_window(rows, lambda m: m.historical / max(m.interests, 1))[BASIC]
    yield Claim(
        "with the average past the overhead is less than 10 % for every counting window",
        all(share < PAPER_OVERHEAD for share in overhead.values()),
        f"past passed on, relative to all windows, by n: {_percents(overhead)}; all windows pass on {_numbers(past)} events for an interest",
        "less than 10 % for any size",
    )
    yield Claim(
        "it saves up to 98 % of the past",
        1 - min(overhead.values()) >= PAPER_SAVED,
        f"{1 - min(overhead.values()):.1%} with the smallest window",
        "by up to 98 %",
    )
    for way, expected in ((AVERAGE, PAPER_AVERAGE), (NONE, PAPER_NONE)):
        mean = sum(found[way].values()) / len(found[way])
        past_words = "the average past" if way == AVERAGE else "no past"
        yield Claim(
            f"with {past_words} about {expected:.0%} of the answers are found",
            abs(mean - expected) <= ABOUT,
            f"{mean:.0%} on average; by n: {_percents(found[way])}",
            f"{'around ' * (way == AVERAGE)}{expected:.0%}",
        )


def _by_edge(rows: Iterable[Measured], of: Of) -> Lines:
    return _by(rows, lambda m: m.edge_m, of)


def _by_window(rows: Iterable[Measured], of: Of) -> Lines:
    return _by(rows, lambda m: m.latest, of)


def _by(rows: Iterable[Measured], across: Callable[[Measured], int], of: Of) -> Lines:
    lines = lines_of(rows, lambda m: m.way, across, of)
    return {way: {int(place): value for place, value in line} for way, line in lines.items()}


def _percents(values: Mapping[int, float]) -> str:
    return ", ".join(f"{at:,} {value:.2%}" for at, value in values.items())


def _shares(values: Mapping[int, float]) -> str:
    return ", ".join(f"{at:,} {value:.3f}" for at, value in values.items())


def _numbers(values: Mapping[int, float]) -> str:
    return ", ".join(dict.fromkeys(spoken(round(value)) for value in values.values()))
