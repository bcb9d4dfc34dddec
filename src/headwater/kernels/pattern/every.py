"""Which are all the matches? MATCH EVERY: every distinct assignment of rows to the elements of a pattern.

Rule 1  Every row may begin an attempt. All attempts move on together, the older first, and within an attempt in the order of
        preference; a row that may be taken or passed over splits a partial match in two.
Rule 2  A completed match is told at once (NO SKIP), or waits until no attempt with an older first row is open; being told,
        it drops the attempts and completed matches that AFTER MATCH SKIP leaves behind.
Rule 3  Time that runs out between two rows is dealt with before the later row, in the order of the deadlines.

Memory  Partial matches within WITHIN, at most LIMIT a partition; the oldest are given up above that, and counted.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.pattern.automaton import ABSENT, ACCEPT, ANY, AT_END, RELAXED, TAKE, Automaton
from headwater.kernels.pattern.machine import Memory, Programs, Stack, Table, remember
from headwater.kernels.pattern.runs import (
    AT,
    BEGAN,
    COMPLETE,
    COMPLETED_AT,
    COUNTED,
    FOUND_COLUMNS,
    GIVEN_UP,
    HASH,
    LAST_ROW,
    MATCH,
    MEMORY,
    NEVER,
    NEXT_ROW,
    NO_SUCH_ROW,
    NODE,
    NODE_COLUMNS,
    NODES,
    NONE,
    NOWHERE,
    NUMBER,
    PARENT,
    PAST_LAST_ROW,
    ROW,
    SEARCH,
    STATE,
    STEPS,
    TAKEN_IN,
    THREADS,
    TIMEOUT,
    TO_FIRST,
    WAITING,
    WAITING_COLUMNS,
    Numbers,
    Rules,
    Segments,
    compact,
    longest,
    room,
    satisfied,
    tell,
    told_line,
    vetoed,
    wider,
    without_ended_claims,
)


@njit(cache=True)
def watch(
    auto: Automaton,
    programs: Programs,
    memory: Memory,
    rules: Rules,
    table: Table,
    may_begin: NDArray[np.bool_],
    segments: Segments,
    open_: Numbers,
    open_threads: Numbers,
    open_doubles: NDArray[np.float64],
    open_nodes: Numbers,
    open_waiting: Numbers,
    watermark: int,
    ended: bool,
    stack: Stack,
) -> tuple[Numbers, Numbers, Numbers, Numbers, NDArray[np.float64], Numbers, Numbers, Numbers]:
    """Look at the rows of all partitions; arguments and results as those of `scan.scan`."""
    wholes, doubles = len(memory.whole), len(memory.double)
    remembers = wholes > 0 or doubles > 0
    most_following = 1 + longest(auto.follow_from)
    found, bound = np.zeros((rules.room, FOUND_COLUMNS), np.int64), np.zeros((rules.room, 2), np.int64)
    found_count = bound_count = 0
    counted = np.zeros(COUNTED, np.int64)

    now = open_.copy()
    kept_threads = np.zeros((rules.room, MEMORY + wholes), np.int64)
    kept_doubles = np.zeros((rules.room, doubles), np.float64)
    kept_nodes = np.zeros((rules.room, NODE_COLUMNS), np.int64)
    kept_waiting = np.zeros((rules.room, WAITING_COLUMNS), np.int64)
    kept_thread_count = kept_node_count = kept_waiting_count = 0

    # Partial matches before and after a row, in turn: `side` says which is which.
    threads = np.zeros((2, rules.room, MEMORY + wholes), np.int64)
    remembered = np.zeros((2, rules.room, doubles), np.float64)
    side = 0
    nodes = np.zeros((rules.room, NODE_COLUMNS), np.int64)
    waiting = np.zeros((rules.room, WAITING_COLUMNS), np.int64)
    expired = np.zeros((rules.room, 1), np.int64)
    whole, double = memory.whole.copy(), memory.double.copy()
    new_whole, new_double = memory.whole.copy(), memory.double.copy()
    trial_whole, trial_double = memory.whole.copy(), memory.double.copy()
    thread_from = node_from = waiting_from = 0

    for segment in range(len(segments.low)):
        low, high = segments.low[segment], segments.high[segment]
        offset = low - segments.base[segment]
        limit = high if ended else max(low, high - rules.next_rows)
        at, number = open_[segment, AT] + offset, open_[segment, NUMBER]
        count, node_count = open_[segment, THREADS], open_[segment, NODES]
        waiting_count = open_[segment, WAITING]
        if count > 0 or waiting_count > 0:
            if count > threads.shape[1]:
                threads, remembered = wider(threads, count), wider(remembered, count)
            nodes, waiting = room(nodes, node_count), room(waiting, waiting_count)
            threads[side, :count] = open_threads[thread_from : thread_from + count]
            remembered[side, :count] = open_doubles[thread_from : thread_from + count]
            nodes[:node_count] = open_nodes[node_from : node_from + node_count]
            waiting[:waiting_count] = open_waiting[waiting_from : waiting_from + waiting_count]
            thread_from += count
            node_from += node_count
            waiting_from += waiting_count

        while True:
            if count == 0 and waiting_count == 0:  # nothing is open: where can the next attempt begin?
                node_count = 0
                while at < limit and not may_begin[at]:
                    at += 1
            row_there = at < limit
            time = table.time[at] if row_there else watermark
            over = not row_there and ended
            # Time up to the next row, or up to the watermark when there is none. With rows still to be waited for (NEXT),
            # only the end of the input decides.
            while count > 0 and (row_there or ended or rules.next_rows == 0):
                deadline = _first_deadline(auto, threads[side], count, rules, table, nodes, offset)
                if deadline == NEVER or (deadline >= time and not over):
                    break
                expired = room(expired, count)
                found, waiting = room(found, found_count + count), room(waiting, waiting_count + count)
                found_count, bound, bound_count, count, waiting_count = _expire(
                    auto, rules, table, segment, offset, deadline, threads[side], remembered[side], count, nodes,
                    waiting, waiting_count, found, found_count, bound, bound_count, expired,
                )  # fmt: skip
                found, found_count, bound, bound_count, count, waiting_count, number = _release(
                    auto, rules, segment, offset, found, found_count, bound, bound_count, threads[side],
                    remembered[side], count, waiting, waiting_count, nodes, number, counted,
                )  # fmt: skip
            if not row_there:
                break

            # The row moves every partial match on, and may begin an attempt of its own.
            total = count + (len(auto.first) if may_begin[at] else 0)
            if total * most_following > threads.shape[1]:
                threads, remembered = (
                    wider(threads, total * most_following),
                    wider(remembered, total * most_following),
                )
            if node_count + total > len(nodes):
                nodes = room(nodes, node_count + total)
            if waiting_count + total > len(waiting):
                waiting = room(waiting, waiting_count + total)
            fresh, other = 0, 1 - side
            completed_before, nodes_before = waiting_count, node_count
            for thread in range(total):
                counted[STEPS] += 1
                begins = thread >= count
                if begins:
                    entry = thread - count
                    state, node, began = auto.first[entry], NONE, at - offset
                    if state == ACCEPT or auto.kind[state] != TAKE:
                        continue
                    if auto.first_at_edge[entry] and began != 0:
                        continue
                    whole[:] = memory.whole
                    double[:] = memory.double
                else:
                    state, node, began = (
                        threads[side, thread, STATE],
                        threads[side, thread, NODE],
                        threads[side, thread, BEGAN],
                    )
                    for slot in range(wholes):
                        whole[slot] = threads[side, thread, MEMORY + slot]
                    for slot in range(doubles):
                        double[slot] = remembered[side, thread, slot]
                if auto.ends_from[state + 1] > auto.ends_from[state]:
                    state = without_ended_claims(
                        auto, state, programs, memory, table, at, low, high, offset, whole, double, trial_whole,
                        trial_double, number + 1, stack,
                    )  # fmt: skip
                is_next = node >= 0 and nodes[node, ROW] + offset + 1 == at
                has_veto = auto.veto_from[state + 1] > auto.veto_from[state]
                takes = False
                if auto.kind[state] == TAKE:
                    condition = auto.condition[state]
                    if condition < 0:
                        takes = True
                    elif programs.bit[condition] >= 0:
                        takes = table.bits[programs.bit[condition], at]
                    else:
                        takes = satisfied(
                            condition, auto.variable[state], programs, memory, table, at, low, high, offset, whole,
                            double, trial_whole, trial_double, number + 1, stack,
                        )  # fmt: skip
                if takes and not (
                    has_veto
                    and vetoed(
                        auto, state, True, is_next, programs, memory, table, at, low, high, offset, whole, double,
                        trial_whole, trial_double, number + 1, stack,
                    )
                ):  # fmt: skip
                    if remembers:
                        new_whole[:] = whole
                        new_double[:] = double
                        remember(
                            memory,
                            table,
                            auto.variable[state],
                            at,
                            at - offset,
                            offset,
                            new_whole,
                            new_double,
                        )
                    new_node = node_count
                    nodes[new_node, ROW] = at - offset
                    nodes[new_node, TAKEN_IN] = state
                    nodes[new_node, PARENT] = node
                    before = nodes[node, HASH] if node >= 0 else 0
                    nodes[new_node, HASH] = _folded(before, at - offset, auto.variable[state])
                    nodes[new_node, COMPLETE] = auto.complete[state]
                    node_count += 1
                    for place in range(auto.follow_from[state], auto.follow_from[state + 1]):
                        target = auto.follow[place]
                        if target == ACCEPT:
                            if not rules.distinct or _is_new(
                                waiting, completed_before, waiting_count, nodes, new_node
                            ):
                                complete(waiting, waiting_count, nodes, began, new_node, time)
                                waiting_count += 1
                            continue
                        if rules.distinct and _same(threads[other], fresh, nodes, target, new_node):
                            continue
                        threads[other, fresh, STATE] = target
                        threads[other, fresh, NODE] = new_node
                        threads[other, fresh, BEGAN] = began
                        for slot in range(wholes):
                            threads[other, fresh, MEMORY + slot] = new_whole[slot]
                        for slot in range(doubles):
                            remembered[other, fresh, slot] = new_double[slot]
                        fresh += 1
                link = auto.link[state]
                if begins or not (link == ANY or (link == RELAXED and not takes)):
                    continue
                if has_veto and vetoed(
                    auto, state, False, is_next, programs, memory, table, at, low, high, offset, whole, double,
                    trial_whole, trial_double, number + 1, stack,
                ):  # fmt: skip
                    continue
                for column in range(MEMORY + wholes):
                    threads[other, fresh, column] = threads[side, thread, column]
                threads[other, fresh, STATE] = state
                for slot in range(doubles):
                    remembered[other, fresh, slot] = double[slot]
                fresh += 1
            if rules.distinct:
                _complete_alike(nodes, nodes_before, node_count)
            side, count = other, fresh
            at += 1
            if waiting_count > 0:
                found, found_count, bound, bound_count, count, waiting_count, number = _release(
                    auto, rules, segment, offset, found, found_count, bound, bound_count, threads[side],
                    remembered[side], count, waiting, waiting_count, nodes, number, counted,
                )  # fmt: skip
            if count > rules.limit:
                count = _give_up(threads[side], remembered[side], count, nodes, rules.limit, counted)
                found, found_count, bound, bound_count, count, waiting_count, number = _release(
                    auto, rules, segment, offset, found, found_count, bound, bound_count, threads[side],
                    remembered[side], count, waiting, waiting_count, nodes, number, counted,
                )  # fmt: skip
            if node_count > rules.many_nodes and node_count > 16 * (count + waiting_count):
                node_count = compact(nodes, node_count, threads[side], count, waiting, waiting_count, NONE)[0]

        if ended and (count > 0 or waiting_count > 0):
            # Partial matches without a deadline are dropped, but a pattern that ends with `$` is complete.
            waiting = room(waiting, waiting_count + count)
            completed_before = waiting_count
            for thread in range(count):
                node = threads[side, thread, NODE]
                if (
                    auto.kind[threads[side, thread, STATE]] == AT_END
                    and nodes[node, ROW] + offset == high - 1
                    and nodes[node, COMPLETE] == 0
                    and _is_new(waiting, completed_before, waiting_count, nodes, node)
                ):
                    complete(
                        waiting,
                        waiting_count,
                        nodes,
                        threads[side, thread, BEGAN],
                        node,
                        table.time[high - 1],
                    )
                    waiting_count += 1
            count = 0
            found, found_count, bound, bound_count, count, waiting_count, number = _release(
                auto, rules, segment, offset, found, found_count, bound, bound_count, threads[side],
                remembered[side], count, waiting, waiting_count, nodes, number, counted,
            )  # fmt: skip
        oldest = at - offset
        if count > 0 or waiting_count > 0:
            node_count = compact(nodes, node_count, threads[side], count, waiting, waiting_count, NONE)[0]
            oldest = _oldest(threads[side], count, waiting, waiting_count, oldest)
            kept_threads = room(kept_threads, kept_thread_count + count)
            kept_doubles = room(kept_doubles, kept_thread_count + count)
            kept_nodes = room(kept_nodes, kept_node_count + node_count)
            kept_waiting = room(kept_waiting, kept_waiting_count + waiting_count)
            kept_threads[kept_thread_count : kept_thread_count + count] = threads[side, :count]
            kept_doubles[kept_thread_count : kept_thread_count + count] = remembered[side, :count]
            kept_nodes[kept_node_count : kept_node_count + node_count] = nodes[:node_count]
            kept_waiting[kept_waiting_count : kept_waiting_count + waiting_count] = waiting[:waiting_count]
            kept_thread_count += count
            kept_node_count += node_count
            kept_waiting_count += waiting_count
        else:
            node_count = 0
        now[segment, SEARCH], now[segment, AT], now[segment, NUMBER] = oldest, at - offset, number
        now[segment, THREADS], now[segment, NODES], now[segment, WAITING] = count, node_count, waiting_count

    return (
        found[:found_count],
        bound[:bound_count],
        now,
        kept_threads[:kept_thread_count],
        kept_doubles[:kept_thread_count],
        kept_nodes[:kept_node_count],
        kept_waiting[:kept_waiting_count],
        counted,
    )


@njit(cache=True)
def _first_deadline(
    auto: Automaton, threads: Numbers, count: int, rules: Rules, table: Table, nodes: Numbers, offset: int
) -> int:
    """The first instant at which a partial match runs out of time."""
    first = NEVER
    for thread in range(count):
        first = min(first, _deadline(auto, threads[thread], rules, table, nodes, offset))
    return first


@njit(cache=True)
def _expire(
    auto: Automaton,
    rules: Rules,
    table: Table,
    segment: int,
    offset: int,
    deadline: int,
    threads: Numbers,
    remembered: NDArray[np.float64],
    count: int,
    nodes: Numbers,
    waiting: Numbers,
    waiting_count: int,
    found: Numbers,
    found_count: int,
    bound: Numbers,
    bound_count: int,
    expired: Numbers,
) -> tuple[int, Numbers, int, int, int]:
    """Take out the partial matches whose time runs out at `deadline`: absences are complete, the others may be told.

    What binds the same rows alike is told once, and not at all if it is a match.
    """
    expired_count = 0
    for thread in range(count):
        its = _deadline(auto, threads[thread], rules, table, nodes, offset)
        if its == deadline and auto.kind[threads[thread, STATE]] == ABSENT:
            expired[expired_count, 0] = nodes[threads[thread, NODE], HASH]
            expired_count += 1
    kept, before = 0, waiting_count
    for thread in range(count):
        its = _deadline(auto, threads[thread], rules, table, nodes, offset)
        node = threads[thread, NODE]
        if its > deadline:
            if kept != thread:
                threads[kept] = threads[thread]
                remembered[kept] = remembered[thread]
            kept += 1
        elif auto.kind[threads[thread, STATE]] == ABSENT:
            known = nodes[node, COMPLETE] != 0  # these rows were a match already when the last of them came
            if not known and (not rules.distinct or _is_new(waiting, before, waiting_count, nodes, node)):
                complete(waiting, waiting_count, nodes, threads[thread, BEGAN], node, its)
                waiting_count += 1
        elif (
            rules.timeouts
            and nodes[node, COMPLETE] == 0
            and not _is_told(expired, expired_count, nodes[node, HASH])
        ):
            expired[expired_count, 0] = nodes[node, HASH]
            expired_count += 1
            told_line(found, found_count, segment, TIMEOUT, its, threads[thread, BEGAN] + offset, 0)
            bound, bound_count = tell(found, found_count, bound, bound_count, nodes, node, offset)
            found_count += 1
    return found_count, bound, bound_count, kept, waiting_count


@njit(cache=True)
def _oldest(threads: Numbers, count: int, waiting: Numbers, waiting_count: int, oldest: int) -> int:
    """The number of the first row that something open began with."""
    for thread in range(count):
        oldest = min(oldest, threads[thread, BEGAN])
    for place in range(waiting_count):
        oldest = min(oldest, waiting[place, BEGAN])
    return oldest


@njit(cache=True)
def _deadline(
    auto: Automaton,
    thread: Numbers,
    rules: Rules,
    table: Table,
    nodes: Numbers,
    offset: int,
) -> int:
    """The last instant at which a partial match can go on; one that waits for the end of the rows has all it needs."""
    its = NEVER
    if auto.kind[thread[STATE]] == AT_END:
        return its
    if rules.within_us != NEVER:
        its = table.time[thread[BEGAN] + offset] + rules.within_us
    if rules.between_us != NEVER:
        its = min(its, table.time[nodes[thread[NODE], ROW] + offset] + rules.between_us)
    return its


@njit(cache=True)
def _folded(before: int, row: int, variable: int) -> int:
    mixed = (before ^ (row * 0x2545F4914F6CDD1D + variable + 1)) * 0x369DEA0F31A53F85
    return mixed ^ (mixed >> 31)


@njit(cache=True)
def _same(threads: Numbers, count: int, nodes: Numbers, state: int, node: int) -> bool:
    """Whether a partial match in this state that binds the same rows alike is there already."""
    for thread in range(count):
        other = threads[thread, NODE]
        if threads[thread, STATE] == state and nodes[other, HASH] == nodes[node, HASH]:
            return True
    return False


@njit(cache=True)
def _complete_alike(nodes: Numbers, begin: int, end: int) -> None:
    """What binds the same rows alike is complete if one of its ways is."""
    for node in range(begin, end):
        for other in range(begin, end):
            if nodes[other, COMPLETE] != 0 and nodes[other, HASH] == nodes[node, HASH]:
                nodes[node, COMPLETE] = 1


@njit(cache=True)
def _give_up(
    threads: Numbers,
    thread_doubles: NDArray[np.float64],
    count: int,
    nodes: Numbers,
    limit: int,
    counted: Numbers,
) -> int:
    """Keep so many; those with the same rows bound alike are one, whatever they wait for. The first are given up."""
    bindings = np.empty(count, np.int64)
    for thread in range(count):
        bindings[thread] = nodes[threads[thread, NODE], HASH]
    order = np.argsort(bindings, kind="mergesort")
    first = np.zeros(count, np.int64)  # of each thread, the first that binds the same
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
    kept = passed = 0
    gone = np.zeros(count, np.bool_)
    for thread in range(count):
        if first[thread] == thread:
            gone[thread] = passed < too_many
            passed += 1
        if not gone[first[thread]]:
            threads[kept] = threads[thread]
            thread_doubles[kept] = thread_doubles[thread]
            kept += 1
    return kept


@njit(cache=True)
def _is_told(told: Numbers, count: int, binding: int) -> bool:
    """Whether rows bound alike are among those told."""
    return bool(np.any(told[:count, 0] == binding))


@njit(cache=True)
def _is_new(waiting: Numbers, begin: int, end: int, nodes: Numbers, node: int) -> bool:
    """Whether no match completed at the same instant binds the same rows alike."""
    new = True
    for place in range(begin, end):
        new = new and nodes[waiting[place, NODE], HASH] != nodes[node, HASH]
    return new


@njit(cache=True)
def complete(waiting: Numbers, place: int, nodes: Numbers, began: int, node: int, time: int) -> None:
    """Note a completed match."""
    waiting[place, BEGAN] = began
    waiting[place, NODE] = node
    waiting[place, COMPLETED_AT] = time
    waiting[place, LAST_ROW] = nodes[node, ROW]


@njit(cache=True)
def _release(
    auto: Automaton,
    rules: Rules,
    segment: int,
    offset: int,
    found: Numbers,
    found_count: int,
    bound: Numbers,
    bound_count: int,
    threads: Numbers,
    thread_doubles: NDArray[np.float64],
    count: int,
    waiting: Numbers,
    waiting_count: int,
    nodes: Numbers,
    number: int,
    counted: Numbers,
) -> tuple[Numbers, int, Numbers, int, int, int, int]:
    """Tell the completed matches that need not wait, and drop what they leave behind."""
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
        found = room(found, found_count + 1)
        told_line(found, found_count, segment, MATCH, waiting[chosen, COMPLETED_AT], began + offset, number)
        bound, ends = tell(found, found_count, bound, bound_count, nodes, node, offset)
        found_count += 1
        border = NONE  # attempts that began before it are dropped
        if rules.skip == PAST_LAST_ROW:
            border = last + 1
        elif rules.skip == NEXT_ROW:
            border = began + 1
        elif rules.skip != NOWHERE:
            for place in range(bound_count, ends):
                if rules.skip_to[auto.variable[bound[place, 1]]]:
                    border = bound[place, 0] - offset
                    if rules.skip == TO_FIRST:
                        break
            if border == NONE:
                counted[NO_SUCH_ROW] += 1
                border = began + 1
        bound_count = ends
        kept = 0
        for place in range(waiting_count):
            if place != chosen and waiting[place, BEGAN] >= border:
                waiting[kept] = waiting[place]
                kept += 1
        waiting_count = kept
        kept = 0
        for thread in range(count):
            if threads[thread, BEGAN] >= border:
                if kept != thread:
                    threads[kept] = threads[thread]
                    thread_doubles[kept] = thread_doubles[thread]
                kept += 1
        count = kept
    return found, found_count, bound, bound_count, count, waiting_count, number
