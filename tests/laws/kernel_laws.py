"""What is always true of a kernel, whatever it answers. Every kernel's tests apply all of LAWS to worlds of their own.

A *world* is some queries, some rows and a cut of the rows into steps, drawn by Hypothesis. The laws are those of the
architecture: (1) equal to the oracle, (2) any split, (3) any arrival order, (4) saving and restoring, also with other
queries, (5) inputs untouched, (6) state below its bound, (7) optimisations change nothing, (8) what a kernel says of its states to a
host that leaves out steps and states (`next_due`, `is_blank`) is true.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from headwater.model import (
    BEGINNING,
    END,
    Instant,
    Kernel,
    Rows,
    Saved,
    Step,
    StreamSchema,
    decode,
    encode,
    keyed_store_from,
    log_from,
    order_of,
    run_from,
)
from tests.laws.quiet_kernels import BegunAnewWhereBlank, SteppedWhileNothingIsDue

_LONGEST: Final = 8

Row = dict[str, Any]
Answers = dict[str, list[Row]]  # the answers of every query, in order


class World(Protocol):
    """Queries by name over the rows of one stream."""

    schema: StreamSchema
    rows: Rows
    watermarks: Sequence[Instant]
    seed: int
    holds_back: bool  # answers may come later than their time, as the kernel then says
    shares_ids: bool  # several rows of an answer may have one identity

    @property
    def queries(self) -> Sequence[str]:
        """The queries that run."""

    @property
    def changed(self) -> Sequence[str]:
        """The queries that run after a change: of the same name is the same query, unless it is in `replaced`."""

    @property
    def replaced(self) -> Sequence[str]:
        """Queries of `changed` that have the name of an old one and another meaning."""

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> Kernel[Any]:
        """The kernel of all queries; `fast` off: without the index or whatever else makes it fast."""

    def oracle(self, since: Instant, *, after_change: bool = False) -> Answers:
        """What every query has to answer, counting rows from `since` on, without match_id."""

    def oracle_counts(self) -> Mapping[str, int]:
        """What the steps have to count, all together."""

    def stored(self, state: Any) -> int:
        """How many rows a state holds."""

    def bound(self, watermark: Instant) -> int:
        """How many rows it may hold, having seen all rows before the watermark."""


@dataclass(frozen=True)
class Run:
    """What a run of steps gave."""

    emitted: Answers
    state: Any
    counts: dict[str, int]
    complete: Instant  # how far the answers are complete


def run(
    world: World,
    watermarks: Sequence[Instant],
    *,
    kernel: Kernel[Any] | None = None,
    state: Any = None,
    after: Instant = BEGINNING,
    complete: Instant = BEGINNING,
    between: Callable[[Kernel[Any], Any], Any] = lambda kernel, state: state,
) -> Run:
    """Step through the rows from `after` on, with `between` applied to the state after every step."""
    kernel = kernel or world.kernel()
    state = kernel.start(BEGINNING) if state is None else state
    emitted: Answers = {name: [] for name in {*world.queries, *world.changed}}
    counts: dict[str, int] = {}
    for watermark in watermarks:
        step = kernel.step(state, between_times(world, after, watermark), watermark)
        assert complete <= step.complete_until <= watermark
        assert world.holds_back or step.complete_until == watermark
        _collect(world, step, emitted, counts, complete, watermark)
        complete = step.complete_until
        state, after = between(kernel, step.state), watermark
    return Run(in_order(world, emitted), state, counts, complete)


def in_order(world: World, emitted: Answers) -> Answers:
    """Answers as they are compared: when some come later than their time, by time and content."""
    if not world.holds_back:
        return emitted
    return {name: sorted(rows, key=_by_time_and_content) for name, rows in emitted.items()}


def _by_time_and_content(row: Row) -> tuple[Instant, str, str]:
    content = {key: value for key, value in row.items() if key != "match_id"}
    return row["event_time"], repr(content), row.get("match_id", "")


def between_times(world: World, start: Instant, stop: Instant) -> Rows:
    """The rows from `start` on and before `stop`."""
    times = world.rows[world.schema.time].values
    return world.rows.take(slice(int(np.searchsorted(times, start)), int(np.searchsorted(times, stop))))


def restored(
    kernel: Kernel[Any], state: Any, into: Kernel[Any] | None = None, since: Instant = BEGINNING
) -> Any:
    """The state after a trip through bytes."""
    saved = kernel.save(state)
    values = decode(encode(saved.values))
    logs = {}
    for name, log in saved.logs.items():
        outline = decode(encode(log.outline()))
        logs[name] = log_from(outline, {c.number: decode(encode(c.trees()[0])) for c in log.chunks})
    stores = {}
    for name, store in saved.stores.items():
        outline = decode(encode(store.outline()))
        runs = [run_from(run.number, [decode(encode(tree)) for tree in run.trees()]) for run in store.runs]
        stores[name] = keyed_store_from(outline, {run.number: run for run in runs})
    return (into or kernel).load(Saved(values, logs, stores), since)


def equals_the_oracle(world: World) -> None:
    """Law 1."""
    done = run(world, [END])
    assert without_ids(done.emitted) == in_order(world, world.oracle(BEGINNING))
    assert done.counts == world.oracle_counts()


def any_split_gives_the_same_answers(world: World) -> None:
    """Law 2, identities included."""
    assert run(world, [*world.watermarks, END]).emitted == run(world, [END]).emitted


def any_arrival_order_gives_the_same_answers(world: World) -> None:
    """Law 3: the host sorts, so rows that are equal in all columns are all that may be swapped."""
    shuffled = list(range(world.rows.count))
    random.Random(world.seed).shuffle(shuffled)
    rows = world.rows.take(np.array(shuffled, np.int64))
    again = rows.take(order_of(rows, world.schema.order))
    kernel = world.kernel()
    step = kernel.step(kernel.start(BEGINNING), again, END)
    emitted: Answers = {name: [] for name in {*world.queries, *world.changed}}
    _collect(world, step, emitted, {}, BEGINNING, END)
    assert in_order(world, emitted) == run(world, [END]).emitted


def restoring_changes_nothing(world: World) -> None:
    """Law 4."""
    there_and_back = run(world, [*world.watermarks, END], between=restored)
    assert there_and_back.emitted == run(world, [END]).emitted


def queries_come_and_go_unnoticed(world: World) -> None:
    """Law 4 with other queries: those that stay answer as if nothing had happened."""
    undisturbed = run(world, [END]).emitted
    for change in world.watermarks:
        before, after = _changed_at(world, change)
        for name in world.changed:
            if name in world.queries and name not in world.replaced:
                both = in_order(world, {name: before[name] + after[name]})
                assert both[name] == undisturbed[name]


def new_queries_see_what_comes(world: World) -> None:
    """Law 4 with other queries: new and replaced ones begin with the rows that come after the change."""
    for change in world.watermarks:
        _, after = _changed_at(world, change)
        fresh = in_order(world, world.oracle(change, after_change=True))
        for name in world.changed:
            if name not in world.queries or name in world.replaced:
                assert without_ids(after)[name] == fresh[name]


def inputs_are_not_modified(world: World) -> None:
    """Law 5: rows cannot be written to; a step from an old state gives again what it gave, whatever came in between."""
    _lock(world.rows)
    kernel = world.kernel()
    state, after, steps = kernel.start(BEGINNING), BEGINNING, []
    for watermark in [*world.watermarks, END]:
        rows = between_times(world, after, watermark)
        step = kernel.step(state, rows, watermark)
        kernel.step(
            state, rows.take(slice(1, None)), watermark
        )  # another way on from here, which must not matter
        steps.append((state, rows, watermark, _plain(step)))
        state, after = step.state, watermark
    assert [gave for *_, gave in steps] == _each_step(world)
    for old, rows, watermark, gave in [*reversed(steps), *steps]:
        assert _plain(kernel.step(old, rows, watermark)) == gave


def state_stays_below_its_bound(world: World) -> None:
    """Law 6."""
    kernel = world.kernel()
    state, after = kernel.start(BEGINNING), BEGINNING
    for watermark in [*world.watermarks, END]:
        state = kernel.step(state, between_times(world, after, watermark), watermark).state
        after = watermark
        assert world.stored(state) <= world.bound(watermark)
        assert world.stored(restored(kernel, state)) <= world.bound(watermark)


def optimisations_change_nothing(world: World) -> None:
    """Law 7."""
    assert run(world, [END], kernel=world.kernel(fast=False)).emitted == run(world, [END]).emitted


def steps_before_anything_is_due_change_nothing(world: World) -> None:
    """Law 8: steps without rows up to `next_due` emit nothing, and later steps emit the same with and without them."""
    kernel = SteppedWhileNothingIsDue(world.kernel(), world.schema.time)
    assert _each_step(world, kernel) == _each_step(world)


def blank_states_go_on_as_the_empty_one(world: World) -> None:
    """Law 8, with a step before each of the longest times without rows is over: then states are blank if ever."""
    times = np.unique(world.rows[world.schema.time].values)
    longest = np.argsort(np.diff(times), kind="stable")[-_LONGEST:] + 1
    watermarks = sorted({*world.watermarks, *times[longest].tolist()})
    begun_anew = run(world, [*watermarks, END], kernel=BegunAnewWhereBlank(world.kernel()))
    undisturbed = run(world, [*watermarks, END])
    assert (begun_anew.emitted, begun_anew.counts) == (undisturbed.emitted, undisturbed.counts)


LAWS = (
    equals_the_oracle,
    any_split_gives_the_same_answers,
    any_arrival_order_gives_the_same_answers,
    restoring_changes_nothing,
    queries_come_and_go_unnoticed,
    new_queries_see_what_comes,
    inputs_are_not_modified,
    state_stays_below_its_bound,
    optimisations_change_nothing,
    steps_before_anything_is_due_change_nothing,
    blank_states_go_on_as_the_empty_one,
)


def without_ids(emitted: Answers) -> Answers:
    """Answers without their identities, which oracles do not know."""
    return {
        name: [{key: value for key, value in row.items() if key != "match_id"} for row in rows]
        for name, rows in emitted.items()
    }


def _changed_at(world: World, change: Instant) -> tuple[Answers, Answers]:
    """The answers before and after the queries are changed."""
    before = run(world, [w for w in world.watermarks if w <= change])
    kernel = world.kernel(after_change=True)
    state = restored(world.kernel(), before.state, kernel, since=change)
    rest = [*(w for w in world.watermarks if w > change), END]
    later = run(world, rest, kernel=kernel, state=state, after=change, complete=before.complete)
    return before.emitted, later.emitted


def _collect(
    world: World,
    step: Step[Any],
    emitted: Answers,
    counts: dict[str, int],
    after: Instant,
    watermark: Instant,
) -> None:
    for block in step.answers:
        assert list(block.rows.columns)[:3] == ["query", "event_time", "match_id"]
        listed = block.rows.tolist()
        assert world.shares_ids or len({row["match_id"] for row in listed}) == len(listed)
        times = [row["event_time"] for row in listed]
        assert world.holds_back or times == sorted(times)
        assert all(after <= time < watermark for time in times)
        for row in listed:
            emitted[row["query"]].append(row)
    for name, count in step.counts.items():
        counts[name] = counts.get(name, 0) + count


def _lock(rows: Rows) -> None:
    for column in rows.columns.values():
        for array in (column.values, column.valid, column.names):
            if array is not None:
                array.flags.writeable = False


def _each_step(world: World, kernel: Kernel[Any] | None = None) -> list[Any]:
    """What the steps of a run give."""
    kernel = kernel or world.kernel()
    state, after, gave = kernel.start(BEGINNING), BEGINNING, []
    for watermark in [*world.watermarks, END]:
        step = kernel.step(state, between_times(world, after, watermark), watermark)
        state, after = step.state, watermark
        gave.append(_plain(step))
    return gave


def _plain(step: Step[Any]) -> Any:
    return [(block.shape, block.rows.tolist()) for block in step.answers], dict(step.counts)
