"""What a restart says about queries that are others than before."""

from __future__ import annotations

from headwater.apps.cli.restarts import changes_in_words
from headwater.hosts.spark.changes import Changes, changes_between
from headwater.hosts.spark.notes import Notes, QueryNote


def notes(streams: str, **queries: QueryNote) -> Notes:
    return Notes("r", "0.1.0", 4, 2, {}, streams.split(), queries)


def words(earlier: Notes | None, now: Notes) -> list[str]:
    return list(changes_in_words(changes_between(earlier, now)))


PATTERN = QueryNote("pattern", "s", "1")
OTHER_PATTERN = QueryNote("pattern", "s", "2")
SELECT = QueryNote("select", "s", "3")
HIDDEN = QueryNote("suppress", "s", "4", hidden=True)


def test_nothing_is_said_at_the_first_start_or_when_all_is_as_it_was() -> None:
    assert words(None, notes("s", a=PATTERN)) == []
    assert words(notes("s", a=PATTERN), notes("s", a=PATTERN)) == []


def test_queries_that_went_on_are_new_replaced_or_gone_are_named() -> None:
    earlier = notes("s", a=PATTERN, b=PATTERN, c=SELECT, d=SELECT, link=HIDDEN)
    now = notes("s", a=PATTERN, b=OTHER_PATTERN, d=OTHER_PATTERN, e=SELECT)
    assert words(earlier, now) == [
        "restart   went on: a; new: e; replaced, and begin anew: b, d; gone: c",
        "dropped   the state of b",
    ]


def test_rows_that_waited_in_a_stream_that_is_gone_are_dropped() -> None:
    assert words(notes("s t", a=PATTERN, b=SELECT), notes("s", a=PATTERN)) == [
        "restart   went on: a; gone: b",
        "dropped   the state of rows that waited in t",
    ]


def test_many_names_are_counted() -> None:
    many = Changes(new=tuple(f"q{n}" for n in range(1010)))
    assert list(changes_in_words(many)) == ["restart   new: q0, q1, q2, q3, q4, q5, q6, q7 and 1,002 more"]
