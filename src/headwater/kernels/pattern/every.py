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
    Rules,
    Segments,
    compact,
    room,
    satisfied,
    tell,
    told_line,
    vetoed,
)

MANY_NODES = 4096


@njit(cache=True)
def watch(
    auto: Automaton,
    programs: Programs,
    memory: Memory,
    rules: Rules,
    table: Table,
    may_begin: NDArray[np.bool_],
    segments: Segments,
    open_: NDArray[np.int64],
    open_threads: NDArray[np.int64],
    open_doubles: NDArray[np.float64],
    open_nodes: NDArray[np.int64],
    open_waiting: NDArray[np.int64],
    watermark: int,
    ended: bool,
    stack: Stack,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
]:
    """Look at the rows of all partitions; arguments and results as those of `scan.scan`."""
    wholes, doubles = len(memory.whole), len(memory.double)
    found = np.zeros((64, FOUND_COLUMNS), np.int64)
    found_count = 0
    bound = np.zeros((256, 2), np.int64)
    bound_count = 0
    counted = np.zeros(COUNTED, np.int64)

    now = open_.copy()
    kept_threads = np.zeros((16, MEMORY + wholes), np.int64)
    kept_doubles = np.zeros((16, doubles), np.float64)
    kept_nodes = np.zeros((16, NODE_COLUMNS), np.int64)
    kept_waiting = np.zeros((16, WAITING_COLUMNS), np.int64)
    kept_thread_count = kept_node_count = kept_waiting_count = 0

    threads = np.zeros((16, MEMORY + wholes), np.int64)
    further = np.zeros((16, MEMORY + wholes), np.int64)
    thread_doubles = np.zeros((16, doubles), np.float64)
    further_doubles = np.zeros((16, doubles), np.float64)
    nodes = np.zeros((64, NODE_COLUMNS), np.int64)
    waiting = np.zeros((16, WAITING_COLUMNS), np.int64)
    trial_whole, trial_double = memory.whole.copy(), memory.double.copy()
    new_whole, new_double = memory.whole.copy(), memory.double.copy()
    whole, double = memory.whole.copy(), memory.double.copy()
    expired = np.zeros((16, 1), np.int64)  # what was told as out of time at one instant
    thread_from = node_from = waiting_from = 0

    for segment in range(len(segments.low)):
        low, high = segments.low[segment], segments.high[segment]
        offset = low - segments.base[segment]
        limit = high if ended else max(low, high - rules.next_rows)
        at = open_[segment, AT] + offset
        number = open_[segment, NUMBER]
        count, node_count = open_[segment, THREADS], open_[segment, NODES]
        waiting_count = open_[segment, WAITING]
        threads, further = room(threads, count), room(further, count)
        thread_doubles, further_doubles = room(thread_doubles, count), room(further_doubles, count)
        nodes, waiting = room(nodes, node_count), room(waiting, waiting_count)
        threads[:count] = open_threads[thread_from : thread_from + count]
        thread_doubles[:count] = open_doubles[thread_from : thread_from + count]
        nodes[:node_count] = open_nodes[node_from : node_from + node_count]
        waiting[:waiting_count] = open_waiting[waiting_from : waiting_from + waiting_count]
        thread_from += count
        node_from += node_count
        waiting_from += waiting_count

        while True:
            # Time up to the next row, or up to the watermark when there is none.
            row_there = at < limit
            time = table.time[at] if row_there else watermark
            over = not row_there and ended
            while count > 0 and (row_there or rules.next_rows == 0 or ended):
                first_deadline = NEVER
                for thread in range(count):
                    its = _deadline(auto, threads[thread], rules, table, nodes, offset)
                    first_deadline = min(first_deadline, its)
                if first_deadline == NEVER or (first_deadline >= time and not over):
                    break
                kept = expired_count = 0
                for thread in range(
                    count
                ):  # an absence that is complete now: what binds the same is no timeout
                    its = _deadline(auto, threads[thread], rules, table, nodes, offset)
                    if auto.kind[threads[thread, STATE]] == ABSENT and its == first_deadline:
                        expired = room(expired, expired_count + 1)
                        expired[expired_count, 0] = nodes[threads[thread, NODE], HASH]
                        expired_count += 1
                for thread in range(count):
                    its = _deadline(auto, threads[thread], rules, table, nodes, offset)
                    state, node = threads[thread, STATE], threads[thread, NODE]
                    if its > first_deadline:
                        if kept != thread:
                            threads[kept] = threads[thread]
                            thread_doubles[kept] = thread_doubles[thread]
                        kept += 1
                    elif auto.kind[state] == ABSENT:
                        if _new_ending(waiting, waiting_count, nodes, node, its, rules.distinct):
                            waiting = room(waiting, waiting_count + 1)
                            _complete(waiting, waiting_count, nodes, threads[thread], node, its)
                            waiting_count += 1
                    elif (
                        rules.timeouts
                        and nodes[node, COMPLETE] == 0
                        and _first_told(expired, expired_count, nodes[node, HASH])
                    ):
                        expired = room(expired, expired_count + 1)
                        expired[expired_count, 0] = nodes[node, HASH]
                        expired_count += 1
                        found = room(found, found_count + 1)
                        told_line(
                            found, found_count, segment, TIMEOUT, its, threads[thread, BEGAN] + offset, 0
                        )
                        bound, bound_count = tell(found, found_count, bound, bound_count, nodes, node, offset)
                        found_count += 1
                count = kept
                found, found_count, bound, bound_count, count, waiting_count, number = _release(
                    auto, rules, segment, offset, found, found_count, bound, bound_count, threads, thread_doubles,
                    count, waiting, waiting_count, nodes, number, counted,
                )  # fmt: skip
            if not row_there:
                break

            # The row moves every partial match on, and may begin an attempt of its own.
            fresh = 0
            before, nodes_before = waiting_count, node_count
            total = count + (len(auto.first) if may_begin[at] else 0)
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
                    state, node, began = threads[thread, STATE], threads[thread, NODE], threads[thread, BEGAN]
                    for slot in range(wholes):
                        whole[slot] = threads[thread, MEMORY + slot]
                    for slot in range(doubles):
                        double[slot] = thread_doubles[thread, slot]
                is_next = node >= 0 and nodes[node, ROW] + offset + 1 == at
                has_veto = auto.veto_from[state + 1] > auto.veto_from[state]
                takes = auto.kind[state] == TAKE and satisfied(
                    auto.condition[state], auto.variable[state], programs, memory, table, at, low, high, offset,
                    whole, double, trial_whole, trial_double, number + 1, stack,
                )  # fmt: skip
                if takes and not (
                    has_veto
                    and vetoed(
                        auto, state, True, is_next, programs, memory, table, at, low, high, offset, whole, double,
                        trial_whole, trial_double, number + 1, stack,
                    )
                ):  # fmt: skip
                    if wholes or doubles:
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
                    nodes = room(nodes, node_count + 1)
                    nodes[node_count, ROW] = at - offset
                    nodes[node_count, TAKEN_IN] = state
                    nodes[node_count, PARENT] = node
                    nodes[node_count, HASH] = _folded(
                        nodes[node, HASH] if node >= 0 else 0, at - offset, auto.variable[state]
                    )
                    nodes[node_count, COMPLETE] = auto.complete[state]
                    new_node = node_count
                    node_count += 1
                    for place in range(auto.follow_from[state], auto.follow_from[state + 1]):
                        target = auto.follow[place]
                        if target == ACCEPT:
                            if _new_ending(
                                waiting[before:],
                                waiting_count - before,
                                nodes,
                                new_node,
                                table.time[at],
                                rules.distinct,
                            ):
                                waiting = room(waiting, waiting_count + 1)
                                waiting[waiting_count, BEGAN] = began
                                _finish(waiting, waiting_count, nodes, new_node, table.time[at])
                                waiting_count += 1
                            continue
                        if rules.distinct and _same(further, fresh, nodes, target, new_node):
                            continue
                        further, further_doubles = room(further, fresh + 1), room(further_doubles, fresh + 1)
                        further[fresh, STATE] = target
                        further[fresh, NODE] = new_node
                        further[fresh, BEGAN] = began
                        for slot in range(wholes):
                            further[fresh, MEMORY + slot] = new_whole[slot]
                        for slot in range(doubles):
                            further_doubles[fresh, slot] = new_double[slot]
                        fresh += 1
                link = auto.link[state]
                if begins or not (link == ANY or (link == RELAXED and not takes)):
                    continue
                if has_veto and vetoed(
                    auto, state, False, is_next, programs, memory, table, at, low, high, offset, whole, double,
                    trial_whole, trial_double, number + 1, stack,
                ):  # fmt: skip
                    continue
                further, further_doubles = room(further, fresh + 1), room(further_doubles, fresh + 1)
                further[fresh] = threads[thread]
                further_doubles[fresh] = thread_doubles[thread]
                fresh += 1
            if rules.distinct:
                _complete_alike(nodes, nodes_before, node_count)
            threads, further = further, threads
            thread_doubles, further_doubles = further_doubles, thread_doubles
            count = fresh
            at += 1
            found, found_count, bound, bound_count, count, waiting_count, number = _release(
                auto, rules, segment, offset, found, found_count, bound, bound_count, threads, thread_doubles,
                count, waiting, waiting_count, nodes, number, counted,
            )  # fmt: skip
            if count > rules.limit:
                count = _give_up(threads, thread_doubles, count, nodes, rules.limit, counted)
                found, found_count, bound, bound_count, count, waiting_count, number = _release(
                    auto, rules, segment, offset, found, found_count, bound, bound_count, threads, thread_doubles,
                    count, waiting, waiting_count, nodes, number, counted,
                )  # fmt: skip
            if count == 0 and waiting_count == 0:
                node_count = 0
            elif node_count > MANY_NODES and node_count > 16 * (count + waiting_count):
                node_count = compact(nodes, node_count, threads, count, waiting, waiting_count, -1)[0]

        if ended:
            # Partial matches without a deadline are dropped, but a pattern that ends with `$` is complete.
            for thread in range(count):
                if auto.kind[threads[thread, STATE]] == AT_END:
                    node = threads[thread, NODE]
                    if nodes[node, ROW] + offset == high - 1:
                        waiting = room(waiting, waiting_count + 1)
                        _complete(
                            waiting,
                            waiting_count,
                            nodes,
                            threads[thread],
                            node,
                            table.time[nodes[node, ROW] + offset],
                        )
                        waiting_count += 1
            count = 0
            found, found_count, bound, bound_count, count, waiting_count, number = _release(
                auto, rules, segment, offset, found, found_count, bound, bound_count, threads, thread_doubles,
                count, waiting, waiting_count, nodes, number, counted,
            )  # fmt: skip
        if count > 0 or waiting_count > 0:
            node_count = compact(nodes, node_count, threads, count, waiting, waiting_count, -1)[0]
        else:
            node_count = 0
        oldest = at - offset
        for thread in range(count):
            oldest = min(oldest, threads[thread, BEGAN])
        for place in range(waiting_count):
            oldest = min(oldest, waiting[place, BEGAN])
        now[segment, SEARCH] = oldest
        now[segment, AT] = at - offset
        now[segment, NUMBER] = number
        now[segment, THREADS] = count
        now[segment, NODES] = node_count
        now[segment, WAITING] = waiting_count
        kept_threads = room(kept_threads, kept_thread_count + count)
        kept_doubles = room(kept_doubles, kept_thread_count + count)
        kept_nodes = room(kept_nodes, kept_node_count + node_count)
        kept_waiting = room(kept_waiting, kept_waiting_count + waiting_count)
        kept_threads[kept_thread_count : kept_thread_count + count] = threads[:count]
        kept_doubles[kept_thread_count : kept_thread_count + count] = thread_doubles[:count]
        kept_nodes[kept_node_count : kept_node_count + node_count] = nodes[:node_count]
        kept_waiting[kept_waiting_count : kept_waiting_count + waiting_count] = waiting[:waiting_count]
        kept_thread_count += count
        kept_node_count += node_count
        kept_waiting_count += waiting_count

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
def _deadline(
    auto: Automaton,
    thread: NDArray[np.int64],
    rules: Rules,
    table: Table,
    nodes: NDArray[np.int64],
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
def _same(threads: NDArray[np.int64], count: int, nodes: NDArray[np.int64], state: int, node: int) -> bool:
    """Whether a partial match in this state that binds the same rows alike is there already."""
    for thread in range(count):
        other = threads[thread, NODE]
        if threads[thread, STATE] == state and nodes[other, HASH] == nodes[node, HASH]:
            return True
    return False


@njit(cache=True)
def _complete_alike(nodes: NDArray[np.int64], begin: int, end: int) -> None:
    """What binds the same rows alike is complete if one of its ways is."""
    for node in range(begin, end):
        for other in range(begin, end):
            if nodes[other, COMPLETE] != 0 and nodes[other, HASH] == nodes[node, HASH]:
                nodes[node, COMPLETE] = 1


@njit(cache=True)
def _give_up(
    threads: NDArray[np.int64],
    thread_doubles: NDArray[np.float64],
    count: int,
    nodes: NDArray[np.int64],
    limit: int,
    counted: NDArray[np.int64],
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
def _first_told(told: NDArray[np.int64], count: int, binding: int) -> bool:
    """Several partial matches may wait for different things with the same rows: they are told once."""
    return not np.any(told[:count, 0] == binding)


@njit(cache=True)
def _new_ending(
    waiting: NDArray[np.int64], count: int, nodes: NDArray[np.int64], node: int, time: int, distinct: bool
) -> bool:
    """Whether no match was completed at this time with the same rows bound alike."""
    if distinct:
        for place in range(count):
            if (
                waiting[place, COMPLETED_AT] == time
                and nodes[waiting[place, NODE], HASH] == nodes[node, HASH]
            ):
                return False
    return True


@njit(cache=True)
def _complete(
    waiting: NDArray[np.int64],
    place: int,
    nodes: NDArray[np.int64],
    thread: NDArray[np.int64],
    node: int,
    time: int,
) -> None:
    waiting[place, BEGAN] = thread[BEGAN]
    _finish(waiting, place, nodes, node, time)


@njit(cache=True)
def _finish(waiting: NDArray[np.int64], place: int, nodes: NDArray[np.int64], node: int, time: int) -> None:
    waiting[place, NODE] = node
    waiting[place, COMPLETED_AT] = time
    waiting[place, LAST_ROW] = nodes[node, ROW]


@njit(cache=True)
def _release(
    auto: Automaton,
    rules: Rules,
    segment: int,
    offset: int,
    found: NDArray[np.int64],
    found_count: int,
    bound: NDArray[np.int64],
    bound_count: int,
    threads: NDArray[np.int64],
    thread_doubles: NDArray[np.float64],
    count: int,
    waiting: NDArray[np.int64],
    waiting_count: int,
    nodes: NDArray[np.int64],
    number: int,
    counted: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int, NDArray[np.int64], int, int, int, int]:
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
