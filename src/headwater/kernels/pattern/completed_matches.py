"""Completed matches of MATCH EVERY: which are complete, wait for older attempts, run out of time, or are given up.

This happens once for each match or deadline, not once for each row: see `all_matches`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.automaton import ABSENT, AT_END, Automaton
from headwater.kernels.pattern.machine import Table
from headwater.kernels.pattern.runs import (
    BEGAN,
    COMPLETE,
    COMPLETED_AT,
    GIVEN_UP,
    HASH,
    LAST_ROW,
    MATCH,
    NEVER,
    NEXT_ROW,
    NO_SUCH_ROW,
    NODE,
    NONE,
    NOWHERE,
    PAST_LAST_ROW,
    ROW,
    STATE,
    TIMEOUT,
    TO_FIRST,
    MatchOutput,
    Numbers,
    Partial,
    Pattern,
    Rules,
    emit_bound,
    emit_line,
)


class Completed(NamedTuple):
    """Completed matches that wait for older attempts: so many lines."""

    waiting: Numbers
    size: int


@loop
def complete(waiting: Numbers, place: int, nodes: Numbers, began: int, node: int, time: int) -> None:
    """Note a completed match."""
    waiting[place, BEGAN] = began
    waiting[place, NODE] = node
    waiting[place, COMPLETED_AT] = time
    waiting[place, LAST_ROW] = nodes[node, ROW]


@loop
def is_new(waiting: Numbers, begin: int, end: int, nodes: Numbers, node: int) -> bool:
    """Whether no match completed at the same instant binds the same rows to the same variables."""
    new = True
    for place in range(begin, end):
        new = new and nodes[waiting[place, NODE], HASH] != nodes[node, HASH]
    return new


@loop
def first_deadline(
    auto: Automaton, threads: Numbers, count: int, rules: Rules, table: Table, nodes: Numbers, offset: int
) -> int:
    """The first instant at which a partial match runs out of time."""
    first = NEVER
    for thread in range(count):
        first = min(first, _deadline(auto, threads[thread], rules, table, nodes, offset))
    return first


@loop
def expire(
    pattern: Pattern,
    table: Table,
    segment: int,
    offset: int,
    deadline: int,
    partial: Partial,
    completed: Completed,
    output: MatchOutput,
) -> tuple[MatchOutput, Completed, int]:
    """Remove the partial matches whose time runs out at `deadline`: absences are complete, the others may be reported.

    Those with the same bindings are reported once, and not at all if they are a match. Also returns how many partial matches remain.
    """
    auto, _, _, rules = pattern
    threads, remembered, count, nodes = partial
    waiting, waiting_count = completed
    expired, expired_count = np.empty(count, np.int64), 0
    for thread in range(count):
        its = _deadline(auto, threads[thread], rules, table, nodes, offset)
        if its == deadline and auto.kind[threads[thread, STATE]] == ABSENT:
            expired[expired_count] = nodes[threads[thread, NODE], HASH]
            expired_count += 1
    remaining, before = 0, waiting_count
    for thread in range(count):
        its = _deadline(auto, threads[thread], rules, table, nodes, offset)
        node = threads[thread, NODE]
        if its > deadline:
            if remaining != thread:
                threads[remaining] = threads[thread]
                remembered[remaining] = remembered[thread]
            remaining += 1
        elif auto.kind[threads[thread, STATE]] == ABSENT:
            known = nodes[node, COMPLETE] != 0  # these rows were a match already when the last of them came
            if not known and (not rules.distinct or is_new(waiting, before, waiting_count, nodes, node)):
                complete(waiting, waiting_count, nodes, threads[thread, BEGAN], node, its)
                waiting_count += 1
        elif (
            rules.timeouts
            and nodes[node, COMPLETE] == 0
            and not _is_among(expired, expired_count, nodes[node, HASH])
        ):
            expired[expired_count] = nodes[node, HASH]
            expired_count += 1
            output = emit_line(output, segment, TIMEOUT, its, threads[thread, BEGAN] + offset, 0)
            output = emit_bound(output, nodes, node, offset)
    return output, Completed(waiting, waiting_count), remaining


@loop
def _deadline(
    auto: Automaton,
    thread: Numbers,
    rules: Rules,
    table: Table,
    nodes: Numbers,
    offset: int,
) -> int:
    """The last instant at which a partial match can continue; one that waits for the end of the rows needs nothing else."""
    its = NEVER
    if auto.kind[thread[STATE]] == AT_END:
        return its
    if rules.within_us != NEVER:
        its = table.time[thread[BEGAN] + offset] + rules.within_us
    if rules.between_us != NEVER:
        its = min(its, table.time[nodes[thread[NODE], ROW] + offset] + rules.between_us)
    return its


@loop
def _is_among(bindings: Numbers, count: int, binding: int) -> bool:
    """Whether the same bindings are among those reported."""
    return bool(np.any(bindings[:count] == binding))


@loop
def release(
    pattern: Pattern,
    segment: int,
    offset: int,
    partial: Partial,
    completed: Completed,
    output: MatchOutput,
    number: int,
    counted: Numbers,
) -> tuple[MatchOutput, int, int, int]:
    """Emit the completed matches that need not wait, and drop what AFTER MATCH SKIP leaves out.

    Also returns how many partial matches and completed ones remain, and the number of the last match.
    """
    auto, _, _, rules = pattern
    threads, thread_doubles, count, nodes = partial
    waiting, waiting_count = completed
    while waiting_count > 0:
        chosen = 0
        if rules.skip != NOWHERE:
            for place in range(1, waiting_count):
                if waiting[place, BEGAN] < waiting[chosen, BEGAN]:
                    chosen = place
            blocked = False
            for thread in range(count):
                blocked = blocked or threads[thread, BEGAN] < waiting[chosen, BEGAN]
            if blocked:
                break
        began, last, node = waiting[chosen, BEGAN], waiting[chosen, LAST_ROW], waiting[chosen, NODE]
        number += 1
        first_bound = output.ends
        output = emit_line(output, segment, MATCH, waiting[chosen, COMPLETED_AT], began + offset, number)
        output = emit_bound(output, nodes, node, offset)
        border = NONE  # attempts that began before it are dropped
        if rules.skip == PAST_LAST_ROW:
            border = last + 1
        elif rules.skip == NEXT_ROW:
            border = began + 1
        elif rules.skip != NOWHERE:
            for place in range(first_bound, output.ends):
                if rules.skip_to[auto.variable[output.bound[place, 1]]]:
                    border = output.bound[place, 0] - offset
                    if rules.skip == TO_FIRST:
                        break
            if border == NONE:
                counted[NO_SUCH_ROW] += 1
                border = began + 1
        remaining = 0
        for place in range(waiting_count):
            if place != chosen and waiting[place, BEGAN] >= border:
                waiting[remaining] = waiting[place]
                remaining += 1
        waiting_count = remaining
        remaining = 0
        for thread in range(count):
            if threads[thread, BEGAN] >= border:
                if remaining != thread:
                    threads[remaining] = threads[thread]
                    thread_doubles[remaining] = thread_doubles[thread]
                remaining += 1
        count = remaining
    return output, count, waiting_count, number


@loop
def give_up(
    threads: Numbers,
    thread_doubles: NDArray[np.float64],
    count: int,
    nodes: Numbers,
    limit: int,
    counted: Numbers,
) -> int:
    """Limit the number of partial matches; those with the same bindings count once, whatever they wait for. The first are given up."""
    bindings = np.empty(count, np.int64)
    for thread in range(count):
        bindings[thread] = nodes[threads[thread, NODE], HASH]
    order = np.argsort(bindings, kind="mergesort")
    first = np.zeros(count, np.int64)  # of each thread, the first with the same bindings
    different = 0
    for place in range(count):
        thread = order[place]
        if place > 0 and bindings[thread] == bindings[order[place - 1]]:
            first[thread] = first[order[place - 1]]
        else:
            first[thread] = thread
            different += 1
    too_many = different - limit
    if too_many <= 0:
        return count
    counted[GIVEN_UP] += too_many
    remaining = passed = 0
    gone = np.zeros(count, np.bool_)
    for thread in range(count):
        if first[thread] == thread:
            gone[thread] = passed < too_many
            passed += 1
        if not gone[first[thread]]:
            threads[remaining] = threads[thread]
            thread_doubles[remaining] = thread_doubles[thread]
            remaining += 1
    return remaining
