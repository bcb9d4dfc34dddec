"""What a restart says about queries that are others than before."""

from __future__ import annotations

from headwater.apps.cli.restarts import changes_in_words
from headwater.hosts.spark.checkpoint_notes import Notes, QueryNote
from headwater.hosts.spark.query_changes import Changes, changes_between
from headwater.hosts.spark.state_notes import StateNotes, are_intact, read_state_notes
from headwater.hosts.zone import StateSize
from headwater.query.language.words import size_in_words


def notes(streams: str, **queries: QueryNote) -> Notes:
    return Notes("r", "0.1.0", 4, 2, {}, streams.split(), queries)


def words(earlier: Notes | None, now: Notes) -> list[str]:
    return list(changes_in_words(changes_between(earlier, now)))


PATTERN = QueryNote("pattern", "s", "1")
OTHER_PATTERN = QueryNote("pattern", "s", "2")
SELECT = QueryNote("select", "s", "3")
HIDDEN = QueryNote("suppress", "s", "4", hidden=True)


def test_nothing_is_reported_at_the_first_start_or_when_all_is_as_it_was() -> None:
    assert words(None, notes("s", a=PATTERN)) == []
    assert words(notes("s", a=PATTERN), notes("s", a=PATTERN)) == []


def test_queries_that_went_on_are_new_replaced_or_gone_are_named() -> None:
    earlier = notes("s", a=PATTERN, b=PATTERN, c=SELECT, d=SELECT, link=HIDDEN)
    now = notes("s", a=PATTERN, b=OTHER_PATTERN, d=OTHER_PATTERN, e=SELECT)
    assert words(earlier, now) == [
        "restart   continued: a; new: e; replaced, and start again: b, d; gone: c",
        "dropped   the state of b",
    ]


def test_rows_that_waited_in_a_stream_that_is_gone_are_dropped() -> None:
    assert words(notes("s t", a=PATTERN, b=SELECT), notes("s", a=PATTERN)) == [
        "restart   continued: a; gone: b",
        "dropped   the state of waiting rows of t",
    ]


def test_many_names_are_counted() -> None:
    many = Changes(new=tuple(f"q{n}" for n in range(1010)))
    assert list(changes_in_words(many)) == ["restart   new: q0, q1, q2, q3, q4, q5, q6, q7 and 1,002 more"]


def test_dropped_state_is_reported_with_its_size_and_with_whom_it_was_shared() -> None:
    earlier = notes("s", a=PATTERN, b=PATTERN, c=QueryNote("fence", "s", "5"))
    now = notes("s", a=PATTERN, b=OTHER_PATTERN)
    remembered = {
        "a, b": StateSize(123_456, keys=40),
        "c": StateSize(2_000),
        "waiting rows of s": StateSize(99),
    }
    assert list(changes_in_words(changes_between(earlier, now, remembered))) == [
        "restart   continued: a; replaced, and start again: b; gone: c",
        f"dropped   the state of b ({size_in_words(123_456)}, 40 keys, shared with a); of c ({size_in_words(2_000)})",
    ]


def test_the_state_of_a_link_of_a_chain_is_that_of_its_query() -> None:
    link = QueryNote("suppress", "s", "4", hidden=True)
    earlier = notes("s", **{"a/SUPPRESS": link, "a": QueryNote("predict", "a/SUPPRESS", "6")})
    remembered = {"a/SUPPRESS": StateSize(5_000, keys=1)}
    lines = list(changes_in_words(changes_between(earlier, notes("s", b=PATTERN), remembered)))
    assert lines[1] == f"dropped   the state of a ({size_in_words(5_000)}, 1 key)"


def test_sizes_are_noted_when_a_run_ends_and_damaged_ones_are_not_reported(tmp_path) -> None:
    (tmp_path / "headwater").mkdir()
    assert read_state_notes(tmp_path) == {}
    noted = StateNotes(tmp_path)
    noted.take({"a": StateSize(10, 3, 2, 0)})
    assert read_state_notes(tmp_path) == {}
    noted.write()
    assert read_state_notes(tmp_path) == {"a": StateSize(10, keys=2)}
    path = tmp_path / "headwater" / "state.notes"
    path.write_bytes(path.read_bytes().replace(b"10", b"11"))
    assert read_state_notes(tmp_path) == {} and not are_intact(path)
