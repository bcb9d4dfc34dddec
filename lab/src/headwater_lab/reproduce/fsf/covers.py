"""What is said about the covers themselves: what they save, how often the probable ones err, how long a decision takes."""

from __future__ import annotations

from collections.abc import Sequence

from headwater_lab.reproduce.fsf.cases import ON_RECEIPT, PAIRWISE, SETS, SOUND, Measured
from headwater_lab.reproduce.outcome import Claim


def above_probable(measured: Sequence[Measured]) -> Claim:
    """At the sender the exact cover also saves the last hop of what is covered; on receipt it decides where the probable one does.

    Without a wrong decision the two send the same. What is held back wrongly is not sent on; but neither does it cover what comes
    later, so that nothing but the measurement says that it saves.
    """
    load: dict[tuple[str, str, int], Measured] = {
        (m.approach, m.scene, m.subscriptions): m for m in measured if m.part in ("settings", "covers")
    }
    words, unexplained = [], 0
    for alike in (m for m in measured if m.approach == ON_RECEIPT):
        where = (alike.scene, alike.subscriptions)
        probable, exact = load["filter-split-forward", *where], load["exact", *where]
        more = alike.subscription_load - probable.subscription_load
        wrong = probable.cover_wrong
        unexplained += more < 0 if wrong else more != 0
        words.append(
            f"{alike.scene} ({alike.subscriptions}): exact {exact.subscription_load:,}, exact on receipt {alike.subscription_load:,}, "
            f"probable {probable.subscription_load:,}, which held {wrong} back wrongly"
            + (f" and sent {more:,} less, {more / wrong:.1f} for each of them" if wrong else "")
        )
    return Claim(
        "the subscription load of the exact cover is above that of the probable one only by what that one dropped wrongly",
        unexplained == 0,
        "; ".join(words),
    )


def error_of_paper(measured: Sequence[Measured], delta: float) -> Claim:
    """In every run of the approach, whatever its part."""
    runs = [m for m in measured if m.approach == "filter-split-forward"]
    return Claim(
        "the probable cover with the paper's number of trials errs no more often than δ",
        _errs_at_most(delta, runs),
        f"{_errors(runs, delta)}; its number of trials comes from an estimate of the gap that is no lower bound",
        "an error of δ at most",
    )


def error_of_sound(measured: Sequence[Measured], delta: float) -> list[Claim]:
    """In the same settings as the exact cover on receipt; the paper's with the same subscriptions is stated beside it."""
    runs = [m for m in measured if m.approach == SOUND]
    if not runs:
        return []
    where = {(m.scene, m.subscriptions) for m in runs}
    papers = [
        m
        for m in measured
        if m.part == "settings" and m.approach == SETS[0] and (m.scene, m.subscriptions) in where
    ]
    recall, beside = min(m.recall for m in runs), min((m.recall for m in papers), default=1.0)
    return [
        Claim(
            "the probable cover with the sound number of trials errs no more often than δ",
            _errs_at_most(delta, runs) and recall >= 1 - delta,
            f"{_errors(runs, delta)}; least recall {recall:.6f}; with the paper's number, for the same subscriptions: {_errors(papers, delta)}; "
            f"least recall {beside:.6f}",
            "an error of δ at most",
        )
    ]


def _errs_at_most(delta: float, runs: Sequence[Measured]) -> bool:
    return sum(m.cover_wrong for m in runs) <= delta * sum(m.truly_open for m in runs)


def _errors(runs: Sequence[Measured], delta: float) -> str:
    open_operators, wrong = sum(m.truly_open for m in runs), sum(m.cover_wrong for m in runs)
    return (
        f"{wrong:,} of {open_operators:,} operators that were not covered were taken for covered, {wrong / max(open_operators, 1):.2e}, where δ = {delta:g}; "
        f"{sum(m.covered for m in runs):,} of {sum(m.cover_decisions for m in runs):,} decisions were yes"
    )


def cover_time(measured: Sequence[Measured]) -> Claim:
    """The usual median over runs, and the worst 99th percentile."""
    words = []
    slowest = 0.0
    for approach in (*PAIRWISE, *SETS):
        runs = [m for m in measured if m.approach == approach and m.cover_decisions]
        if runs:
            worst = max(runs, key=lambda m: m.cover_us_p99)
            usual = sorted(m.cover_us_median for m in runs)[len(runs) // 2]
            words.append(
                f"{approach} {usual:.0f} µs, p99 up to {worst.cover_us_p99:.0f} µs ({worst.subscriptions:,} subscriptions)"
            )
            slowest = max(slowest, worst.cover_us_median)
    return Claim(
        "a cover decision takes less than a millisecond, in the median", slowest < 1_000, "; ".join(words)
    )
