"""PREDICT built in Python: the same tree that a text gives.

    meeting = predict("meeting", updates, "ABS(a.x - b.x) <= 400", pairs=("a", "b"), within="3 SECONDS", certainty="MUST")
    hot = predict("hot", "rooms", "temperature > 50", probability=0.9,
                  suppress=suppressing("temperature", tolerance=0.5, heartbeat="10 MINUTES", using="LEAST SQUARES 5"))

`predict` reads updates that somebody else made, or with `suppress` makes them first, in one query. What is true of the
builders in `headwater.query.build` is true here: pieces that cannot be read raise QueriesRefused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater.kernels.predict.choices import Certainty, GiveUp
from headwater.query.language.build_pieces import (
    Duration,
    Number,
    Source,
    duration,
    plain_number,
    query_of,
    read,
    refused,
    source_name,
    text_of,
    whole,
)
from headwater.query.language.parse import parse_expression
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import CreateQuery, Operator
from headwater.query.language.tree.operator_node import OperatorNode
from headwater.query.operators.predict.tree import Alias, Predict


def predict(  # noqa: PLR0913 one keyword for each clause
    name: str,
    source: Source | Sequence[Source],
    condition: str,
    *,
    pairs: Sequence[str] = (),
    within: Duration | None = None,
    certainty: str | Certainty | None = None,
    probability: Number | None = None,
    tentative: bool | None = None,
    ahead: Duration | None = None,
    every: Duration | None = None,
    buffer: int | None = None,
    give_up: str | GiveUp | None = None,
    seed: int | None = None,
    suppress: Operator | None = None,
    columns: str = "*",
    where: str | None = None,
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source, … [SUPPRESS (…)] PREDICT ([PAIRS pairs WHERE] condition …)`.

    A source is the name of a stream or query, or the stream or query itself. `pairs` are aliases: then `within` says how far
    apart in time two values may be. `certainty` is "MAY" or "MUST"; `probability` says how likely an answer must be instead.
    `tentative` True emits answers as soon as they are predicted, False is VALIDATED. `give_up` is "LEAST", "NEWEST", "OLDEST"
    or "RANDOM", which takes a `seed`.

    ```python
    lines = hw.suppress("lines", cars, "x", "y", tolerance="10 METERS", heartbeat="30 SECONDS")
    west = hw.predict("west", lines, "x < 300", columns="key, begins, ends")
    print(hw.run([cars, lines, west], {"cars": positions})["west"])
    ```

    ```output
    answers["west"]: 3 rows
    event_time            key   begins                ends
    ────────────────────  ────  ────────────────────  ────────────────────
    2026-01-31T06:00:10Z  red   2026-01-31T06:00:00Z  2026-01-31T06:00:10Z
    2026-01-31T06:00:30Z  red   2026-01-31T06:00:10Z  2026-01-31T06:00:30Z
    2026-01-31T06:01:10Z  blue  2026-01-31T06:00:40Z  2026-01-31T06:01:10Z
    ```
    """
    operator = Predict(
        _aliases(pairs),
        read(
            parse_expression,
            condition,
            "condition",
            "'temperature > 50', or 'ABS(a.x - b.x) <= 400' with pairs",
        ),
        None if within is None else duration(within),
        _certainty(certainty, probability),
        None if probability is None else plain_number(probability, "give it as in probability=0.9"),
        _yes_or_no(tentative),
        None if ahead is None else duration(ahead),
        None if every is None else duration(every),
        whole(buffer, "buffer"),
        *_given_up(give_up, seed),
    )
    if suppress is not None and not (isinstance(suppress, OperatorNode) and suppress.makes_updates):
        raise refused(
            f"suppress takes the result of hw.suppressing, not {suppress!r}",
            "as in suppress=hw.suppressing('x', tolerance=1, heartbeat='30 SECONDS')",
        )
    first, *further = _sources(source)
    query = query_of(name, first, columns, where, operator)
    chain = () if suppress is None else (suppress,)
    return replace(query, select=replace(query.select, chain=chain, further_sources=tuple(further)))


def _sources(one_or_more: Source | Sequence[Source]) -> list[str]:
    if isinstance(one_or_more, Source) or not isinstance(one_or_more, Sequence):
        return [source_name(one_or_more)]
    if not one_or_more:
        raise refused("predict needs a source", "give the name of a stream of updates")
    return list(map(source_name, one_or_more))


def _aliases(pairs: Sequence[str]) -> tuple[Alias, ...]:
    if not isinstance(pairs, Sequence) or not all(isinstance(name, str) for name in pairs):
        raise refused(f"pairs takes the names of aliases, not {pairs!r}", "as in pairs=('a', 'b')")
    return tuple(map(Alias, [pairs] if isinstance(pairs, str) else pairs))


def _yes_or_no(tentative: bool | None) -> bool | None:
    if tentative is None or isinstance(tentative, bool):
        return tentative
    raise refused(f"tentative takes True or False, not {tentative!r}", "False means VALIDATED")


def _certainty(word: str | Certainty | None, probability: Number | None) -> Certainty | None:
    if probability is not None:
        if word not in (None, Certainty.PROBABILITY):
            raise refused("certainty and probability contradict each other", "remove one of the two")
        return Certainty.PROBABILITY
    if word is None or word is Certainty.LINE:
        return None
    names = ["MAY", "MUST"]
    said = (
        word.name if isinstance(word, Certainty) else text_of(word, "certainty", "certainty='MUST'").upper()
    )
    if said not in names:
        raise refused(
            f"'{said}' is not a certainty", *suggest(said, names, "words"), "or give probability=0.9"
        )
    return Certainty[said]


def _given_up(word: str | GiveUp | None, seed: int | None) -> tuple[GiveUp | None, int | None]:
    if word is None:
        if seed is not None:
            raise refused("seed can only be used with give_up='RANDOM'", "leave it out")
        return None, None
    names = [policy.name for policy in GiveUp]
    said = word.name if isinstance(word, GiveUp) else text_of(word, "give_up", "give_up='LEAST'").upper()
    if said not in names:
        raise refused(f"'{said}' cannot be given up", *suggest(said, names, "words"))
    if (GiveUp[said] is GiveUp.RANDOM) != (seed is not None):
        raise refused("give_up='RANDOM' and seed need each other", "give both, or neither")
    return GiveUp[said], whole(seed, "seed")
