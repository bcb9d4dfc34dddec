"""What was published about predictions and buffers, beside what was measured.

The paper's accuracy is against the last samples of the objects; what is judged so is judged against real positions as well, where the
two say different things. Differences are in points of a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from headwater_lab.bench.figures import spoken
from headwater_lab.reproduce.outcome import Claim
from headwater_lab.reproduce.prediction.cases import (
    BUFFERS,
    CONSTRAINT,
    DELAYED,
    LEFT_OUT,
    OBJECTS,
    POLICIES,
    RECORDED,
    UNCONSTRAINED,
    UNCONSTRAINED_GENERAL,
    UNLIMITED,
    Measured,
)
from headwater_lab.reproduce.prediction.recorded import TARGET_F, best

WITH: Final = "SLOPE"
WITHOUT: Final = "CONSTANT"
MANY: Final = 150
LITTLE: Final = 0.02
SAME: Final = 0.01
PAPER_REPORTS: Final = 300.0
ABOUT: Final = 0.15
PAPER_GAIN: Final = 0.0085
LINEAR: Final = 1.2
CONSTRAINED_TIME: Final = 20 / 70
LEAST, OLDEST = "least contribution", "oldest"

By = Mapping[int, Measured]


def claims(measured: Sequence[Measured]) -> list[Claim]:
    """All that can be judged by what was measured."""
    found: list[Claim] = []
    if predicted := _lines(measured, WITH, "line"):
        held = _lines(measured, WITHOUT, "line")
        may, must = (_lines(measured, WITH, certainty) for certainty in ("may", "must"))
        found += [
            *_scalability(predicted),
            *(
                _better(predicted, held, *against)
                for against in (("f", "the last samples"), ("f_real", "real positions"))
            ),
            _reports_without(held),
            _fewer_reports(predicted, held),
            _bounds(may, must),
            _linear(predicted),
        ]
    if constrained := {m.constraint: m for m in measured if m.part == CONSTRAINT}:
        found.append(_constraint(constrained))
    if buffers := _buffers(measured, BUFFERS):
        found += [judge(buffers) for judge in BUFFER_CLAIMS]
        for part, words in (
            (DELAYED, "delayed updates that are waited for"),
            (LEFT_OUT, "delayed updates, late ones left out"),
        ):
            if delayed := _buffers(measured, part):
                found.append(_delays(words, buffers, delayed))
    return [*found, *_recorded(measured)]


def _scalability(predicted: By) -> list[Claim]:
    fewest, most = min(predicted), max(predicted)
    first, last = predicted[fewest], predicted[most]
    return [
        Claim(
            "accuracy is not perfect even with few objects",
            first.f < 1 and first.f_real < 1,
            f"{fewest} objects: precision {first.precision:.3f}, recall {first.recall:.3f}, F {first.f:.3f}; against real positions "
            f"{first.precision_real:.3f}, {first.recall_real:.3f}, {first.f_real:.3f}",
            "some imprecision always, allowed by the threshold",
        ),
        Claim(
            "accuracy hardly falls with the number of objects",
            last.f >= first.f - LITTLE,
            f"F by objects: {_listed(predicted, lambda m: m.f)}; against real positions: {_listed(predicted, lambda m: m.f_real)}",
            "good scalability, slight degradation",
        ),
        Claim(
            "the recall falls slightly as objects become many",
            last.recall < first.recall - SAME,
            f"recall by objects: {_listed(predicted, lambda m: m.recall)}; the paper has it from a processor that "
            f"strives to keep up, here {most:,} objects take {last.kernel_s:.2f} s of its time",
            "affects especially the recall",
        ),
    ]


def _better(predicted: By, held: By, field: str, against: str) -> Claim:
    ahead = {n: getattr(m, field) - getattr(held[n], field) for n, m in predicted.items()}
    judged = [gain for n, gain in ahead.items() if n >= MANY]
    return Claim(
        f"from {MANY} objects on accuracy is better with predictions, against {against}",
        bool(judged) and all(gain > 0 for gain in judged),
        f"F with: {_listed(predicted, lambda m: getattr(m, field))}; without: {_listed(held, lambda m: getattr(m, field))}. Without "
        "predictions nearly every sample is sent: last samples are known as they are, and are as old as they are",
        "considerably better except below 150 objects; without, the machine could not cope with the updates",
    )


def _reports_without(held: By) -> Claim:
    most = max(held)
    rate = held[most].updates_per_s / most * 1_000
    return Claim(
        "without predictions 1,000 objects send about 300 updates a second",
        abs(rate / PAPER_REPORTS - 1) <= ABOUT,
        f"{spoken(held[most].updates_per_s)} a second from {most:,} objects, {spoken(rate)} from 1,000",
        "about 300",
    )


def _fewer_reports(predicted: By, held: By) -> Claim:
    shares = {n: m.updates_per_s / held[n].updates_per_s for n, m in predicted.items()}
    rates = "; ".join(
        f"{n:,}: {spoken(m.updates_per_s)} and {spoken(held[n].updates_per_s)}" for n, m in predicted.items()
    )
    return Claim(
        "predictions need far fewer updates (less than half)",
        all(share < 0.5 for share in shares.values()),
        f"updates a second with and without, by objects: {rates}; {min(shares.values()):.1%} to {max(shares.values()):.1%}",
        "a huge increase without",
    )


def _bounds(may: By, must: By) -> Claim:
    return Claim(
        "MAY leaves almost nothing out and MUST emits almost nothing false (99 %), against real positions",
        all(m.recall_real >= 1 - SAME for m in may.values())
        and all(m.precision_real >= 1 - SAME for m in must.values()),
        f"recall of MAY {_listed(may, lambda m: m.recall_real)} with precision {_listed(may, lambda m: m.precision_real)}; precision of MUST "
        f"{_listed(must, lambda m: m.precision_real)} with recall {_listed(must, lambda m: m.recall_real)}. Tolerances hold at samples; "
        "an object that turns between two of them is out of them for up to 3 s",
        "not measured",
    )


def _linear(predicted: By) -> Claim:
    counts = sorted(predicted)[-2:]
    few, many = (predicted[count] for count in (counts[0], counts[-1]))
    exponent = (
        math.log(max(many.kernel_s, 1e-9) / max(few.kernel_s, 1e-9)) / math.log(many.objects / few.objects)
        if many.objects > few.objects
        else math.inf
    )
    return Claim(
        "processing time grows linearly with the number of objects in the same area",
        exponent <= LINEAR,
        f"seconds for 180 s of stream, by objects: {_listed(predicted, lambda m: m.kernel_s)}; answers: "
        f"{_listed(predicted, lambda m: m.answers)}: time as the power {exponent:.2f} of the number, from {few.objects:,} to {many.objects:,}. "
        "Pairs grow with its square",
        "linear, up to about 70 s with 1,000 objects",
    )


def _policies(buffers: Mapping[str, By]) -> Claim:
    means = {name: _mean(buffers[name].values(), lambda m: m.recall) for name in POLICIES}
    real = {name: _mean(buffers[name].values(), lambda m: m.recall_real) for name in POLICIES}
    ordered = list(means.values())
    return Claim(
        "order of policies by recall: " + ", ".join(POLICIES),
        ordered == sorted(ordered, reverse=True),
        f"mean over w: {_named(means)}; against real positions: {_named(real)}; unlimited "
        f"{_mean(buffers[UNLIMITED].values(), lambda m: m.recall):.4f}; updates given up: "
        + ", ".join(f"{name} {_range(buffers[name].values(), lambda m: m.given_up)}" for name in POLICIES),
        "discard-min-C, discard-oldest, discard-randomly, discard-if-full",
    )


def _best_policy(buffers: Mapping[str, By]) -> Claim:
    least = buffers[LEAST]
    shortfall = {
        within: max(of[within].recall for name, of in buffers.items() if name not in (LEAST, UNLIMITED))
        - m.recall
        for within, m in least.items()
    }
    return Claim(
        "least contribution has the best recall of all policies, for every w",
        all(gap <= 0 for gap in shortfall.values()),
        "recall by w: "
        + "; ".join(
            f"{name} {_listed(buffers[name], lambda m: m.recall)}" for name in (*POLICIES, UNLIMITED)
        ),
        "clearly the best",
    )


def _near_unlimited(buffers: Mapping[str, By]) -> Claim:
    lost = {
        within: max(_worse(m, buffers[UNLIMITED][within], field) for field in ("precision", "recall"))
        for within, m in buffers[LEAST].items()
    }
    return Claim(
        "least contribution is less than 1 % worse than unlimited storage, in precision and in recall, for every w",
        max(lost.values()) < SAME,
        "the worse of the two, by w: " + ", ".join(f"{within} {worse:.2%}" for within, worse in lost.items()),
        "less than 1 % in every case",
    )


def _worse(m: Measured, than: Measured, field: str) -> float:
    return 1.0 - getattr(m, field) / getattr(than, field)


def _gain(buffers: Mapping[str, By]) -> Claim:
    least, unlimited = buffers[LEAST], buffers[UNLIMITED]
    gain = _mean(unlimited.values(), lambda m: m.f) / _mean(least.values(), lambda m: m.f) - 1
    real = _mean(unlimited.values(), lambda m: m.f_real) / _mean(least.values(), lambda m: m.f_real) - 1
    return Claim(
        "unlimited storage raises the F of least contribution by no more than 0.85 % on average",
        gain <= PAPER_GAIN,
        f"{gain:.2%} on average over w; against real positions {real:.2%}",
        "about 0.85 %",
    )


def _similar_precision(buffers: Mapping[str, By]) -> Claim:
    apart = [abs(m.precision - buffers[OLDEST][within].precision) for within, m in buffers[LEAST].items()]
    return Claim(
        "the precision of least contribution and of oldest is very similar (within 1 point)",
        max(apart) <= SAME,
        "precision by w: "
        + "; ".join(
            f"{name} {_listed(buffers[name], lambda m: m.precision)}" for name in (*POLICIES, UNLIMITED)
        ),
        "very similar",
    )


BUFFER_CLAIMS: Final = (_policies, _best_policy, _near_unlimited, _gain, _similar_precision)


def _constraint(by_name: Mapping[str, Measured]) -> Claim:
    free, general = by_name[UNCONSTRAINED], by_name[UNCONSTRAINED_GENERAL]
    constrained = [m for name, m in by_name.items() if name not in (UNCONSTRAINED, UNCONSTRAINED_GENERAL)]
    fewest = min(constrained, key=lambda m: m.answers)
    return Claim(
        f"a value constraint before the join cuts the processing time to {CONSTRAINED_TIME:.0%} of it",
        fewest.kernel_s <= CONSTRAINED_TIME * free.kernel_s,
        f"{free.objects:,} objects, seconds: no constraint {free.kernel_s:.3f} with {free.answers:,} answers; "
        + "; ".join(f"{m.constraint} of both {m.kernel_s:.3f} with {m.answers:,}" for m in constrained)
        + f". Pairs without a constraint are found in batches. The general search, which answers queries with one, takes {general.kernel_s:.3f} s "
        f"without it, of which {fewest.kernel_s / general.kernel_s:.0%} remain with {fewest.constraint}",
        "from 70 s to 20 s with 1,000 objects; the constraint is not named",
    )


def _delays(words: str, buffers: Mapping[str, By], delayed: Mapping[str, By]) -> Claim:
    changed = [
        f"{after.words} ({'holds' if after.holds else 'does not hold'}: {after.evidence})"
        for before, after in ((judge(buffers), judge(delayed)) for judge in BUFFER_CLAIMS)
        if before.holds != after.holds
    ]
    in_time, came = (_mean(of[UNLIMITED].values(), lambda m: m.updates) for of in (delayed, buffers))
    recall = {
        name: f"{_mean(of.values(), lambda m: m.recall):.4f} ({_mean(buffers[name].values(), lambda m: m.recall):.4f})"
        for name, of in delayed.items()
    }
    return Claim(
        f"{words}: no conclusion about buffers changes",
        not changed,
        f"{1 - in_time / came:.1%} of the updates come too late; mean recall over w (without delays): "
        + ", ".join(f"{name} {values}" for name, values in recall.items())
        + (f"; changed: {'; '.join(changed)}" if changed else ""),
        "similar conclusions",
    )


def _recorded(measured: Sequence[Measured]) -> Iterable[Claim]:
    parts = dict.fromkeys(m.part for m in measured if m.part in RECORDED)
    for part in parts:
        rows: dict[str, list[Measured]] = {}
        for m in measured:
            if m.part == part:
                rows.setdefault(m.predictor, []).append(m)
        found = {predictor: best(of) for predictor, of in rows.items()}
        reached = {predictor: m for predictor, m in found.items() if m}
        lines = [m.updates for predictor, m in reached.items() if predictor != WITHOUT]
        yield Claim(
            f"{part}: at F >= {TARGET_F} lines need fewer updates than last values",
            bool(lines) and (WITHOUT not in reached or min(lines) < reached[WITHOUT].updates),
            "; ".join(_saved(predictor, of) for predictor, of in found.items()),
            "not in the paper",
        )


def _saved(predictor: str, m: Measured | None) -> str:
    if m is None:
        return f"{predictor}: never reached"
    return f"{predictor}: {1 - m.sent:.1%} of {m.readings:,} readings saved with tolerance {m.tolerance:.3g} (F {m.f:.4f})"


def _lines(measured: Iterable[Measured], predictor: str, certainty: str) -> By:
    """By the number of objects."""
    return {
        m.objects: m
        for m in measured
        if m.part == OBJECTS and m.predictor == predictor and m.certainty == certainty
    }


def _buffers(measured: Iterable[Measured], part: str) -> dict[str, dict[int, Measured]]:
    """By policy and w."""
    found: dict[str, dict[int, Measured]] = {}
    for m in measured:
        if m.part == part:
            found.setdefault(m.buffer, {})[m.within_s] = m
    return found


def _mean(rows: Iterable[Measured], of: Callable[[Measured], float]) -> float:
    values = [of(m) for m in rows]
    return sum(values) / len(values)


def _range(rows: Iterable[Measured], of: Callable[[Measured], int]) -> str:
    values = [of(m) for m in rows]
    return f"{min(values):,} to {max(values):,}"


def _named(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())


def _listed(rows: By, of: Callable[[Measured], float]) -> str:
    return ", ".join(f"{at:,} {_number(of(m))}" for at, m in sorted(rows.items()))


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
