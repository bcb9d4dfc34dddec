"""For how long may a FOLLOW store events?

A future interest looks back over LAST and the longest sum of downstream windows, or over OVER of QUALITY if that is longer.
All events of that time are stored, in every zone. Their number is unknown before they come, but the time is known, and a user
who writes days instead of seconds should notice before the memory is full. So there is a bound, by default a day, and
a query that needs more is refused before the run.
"""

from __future__ import annotations

from typing import Final

from headwater.model import UNITS, QueriesRefused, format_duration
from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.lookback import downstream_windows_us
from headwater.query.checking.streams import duration_us
from headwater.query.language.build_pieces import Duration, duration
from headwater.query.language.words import history_in_words, without_microseconds

MOST_HISTORY_US: Final = UNITS["DAYS"]


def most_history_us(bound: Duration | None) -> int:
    """The user's bound, or the default; raises QueriesRefused if it is not a duration."""
    if bound is None:
        return MOST_HISTORY_US
    complaints = Complaints()
    found = duration_us(duration(bound), "most_history", complaints)
    if found is not None and found < 0:
        complaints.refuse("negative-duration", "most_history is negative", None, "write it like '7 DAYS'")
    if found is None or complaints.errors:
        raise QueriesRefused(complaints.errors, str(bound), "most_history")
    return found


def check_history(catalogue: Catalogue, most_us: int, complaints: Complaints) -> None:
    """No FOLLOW needs events for longer than `most_us`."""
    for name, query in catalogue.queries.items():
        if not query.operator.stored_sources:
            continue
        windows_us = downstream_windows_us(catalogue, name)
        needed_us = without_microseconds(query.operator.history_us(windows_us))
        if needed_us > most_us:
            _refuse(query, needed_us, windows_us, most_us, complaints)


def _refuse(
    query: CheckedQuery, needed_us: int, windows_us: int, most_us: int, complaints: Complaints
) -> None:
    node = query.tree.select.operator
    assert node is not None, "a plain SELECT stores no events"
    word, reason = query.operator.history_reason(windows_us)
    enough = format_duration(needed_us)
    complaints.refuse(
        "history-too-long",
        f"events of the last {history_in_words(needed_us)} must be stored, but a run stores those of {history_in_words(most_us)} at most",
        node.place_of(word),
        f"{reason}: use shorter times",
        f"or allow a longer history, if there is enough memory: headwater run --most-history '{enough}', hw.run(…, most_history='{enough}')",
    )
