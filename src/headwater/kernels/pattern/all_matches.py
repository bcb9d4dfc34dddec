"""Which are all the matches? MATCH EVERY: every distinct assignment of rows to the elements of a pattern.

Rule 1  Every row may begin an attempt. All attempts advance together, the older first, and within an attempt in the order of
        preference; a row that may be taken or passed over splits a partial match in two.
Rule 2  A completed match is emitted at once (NO SKIP), or waits until no attempt with an older first row is open; then it
        drops the attempts and completed matches that AFTER MATCH SKIP leaves out.
Rule 3  A deadline between two rows takes effect before the later row, in the order of the deadlines.

Memory  Partial matches within WITHIN, at most LIMIT a partition; the oldest are given up above that, and counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.automaton import ACCEPT, ANY, AT_END, RELAXED, TAKE
from headwater.kernels.pattern.completed_matches import (
    Completed,
    complete,
    expire,
    first_deadline,
    give_up,
    is_new,
    release,
)
from headwater.kernels.pattern.machine import Look, Stack, Table, remember
from headwater.kernels.pattern.runs import (
    AT,
    BEGAN,
    COMPLETE,
    COUNTED,
    FOUND_COLUMNS,
    HASH,
    MEMORY,
    NEVER,
    NODE,
    NODE_COLUMNS,
    NODES,
    NONE,
    NUMBER,
    PARENT,
    ROW,
    SEARCH,
    STATE,
    STEPS,
    TAKEN_IN,
    THREADS,
    WAITING,
    WAITING_COLUMNS,
    MatchOutput,
    Numbers,
    Partial,
    Pattern,
    Runs,
    Scratch,
    Segments,
    appended,
    compact,
    longest,
    room,
    satisfied,
    vetoed,
    wider,
    without_ended_claims,
)


@loop
def find_all(
    pattern: Pattern,
    table: Table,
    may_begin: NDArray[np.bool_],
    segments: Segments,
    runs: Runs,
    watermark: int,
    ended: bool,
    stack: Stack,
) -> tuple[MatchOutput, Runs, Numbers]:
    """Process the rows of all partitions; arguments and results as those of `preferred_match.find_preferred`."""
    auto, programs, memory, rules = pattern
    open_, open_threads, open_doubles, open_nodes, open_waiting = runs
    wholes, doubles = len(memory.whole), len(memory.double)
    remembers = wholes > 0 or doubles > 0
    most_successors = 1 + longest(auto.follow_from)
    output = MatchOutput(
        np.zeros((rules.room, FOUND_COLUMNS), np.int64), 0, np.zeros((rules.room, 2), np.int64), 0
    )
    counted = np.zeros(COUNTED, np.int64)

    now = open_.copy()
    stored_threads = np.zeros((rules.room, MEMORY + wholes), np.int64)
    stored_doubles = np.zeros((rules.room, doubles), np.float64)
    stored_nodes = np.zeros((rules.room, NODE_COLUMNS), np.int64)
    stored_waiting = np.zeros((rules.room, WAITING_COLUMNS), np.int64)
    stored_thread_count = stored_node_count = stored_waiting_count = 0

    # Partial matches before and after a row alternate: `side` says which is which.
    threads = np.zeros((2, rules.room, MEMORY + wholes), np.int64)
    remembered = np.zeros((2, rules.room, doubles), np.float64)
    side = 0
    nodes = np.zeros((rules.room, NODE_COLUMNS), np.int64)
    waiting = np.zeros((rules.room, WAITING_COLUMNS), np.int64)
    whole, double = memory.whole.copy(), memory.double.copy()
    new_whole, new_double = memory.whole.copy(), memory.double.copy()
    scratch = Scratch(whole, double, memory.whole.copy(), memory.double.copy(), stack)
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
            # Time up to the next row, or up to the watermark if there is none. If rows are still needed (NEXT),
            # only the end of the input decides.
            while count > 0 and (row_there or ended or rules.next_rows == 0):
                deadline = first_deadline(auto, threads[side], count, rules, table, nodes, offset)
                if deadline == NEVER or (deadline >= time and not over):
                    break
                partial = Partial(threads[side], remembered[side], count, nodes)
                completed = Completed(room(waiting, waiting_count + count), waiting_count)
                output, completed, count = expire(
                    pattern, table, segment, offset, deadline, partial, completed, output
                )
                waiting, waiting_count = completed
                output, count, waiting_count, number = release(
                    pattern,
                    segment,
                    offset,
                    Partial(threads[side], remembered[side], count, nodes),
                    Completed(waiting, waiting_count),
                    output,
                    number,
                    counted,
                )
            if not row_there:
                break

            # The row advances every partial match, and may begin an attempt of its own.
            total = count + (len(auto.first) if may_begin[at] else 0)
            if total * most_successors > threads.shape[1]:
                threads, remembered = (
                    wider(threads, total * most_successors),
                    wider(remembered, total * most_successors),
                )
            if node_count + total > len(nodes):
                nodes = room(nodes, node_count + total)
            if waiting_count + total > len(waiting):
                waiting = room(waiting, waiting_count + total)
            look = Look(at, low, high, offset, number + 1)
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
                    state = without_ended_claims(pattern, state, table, look, scratch)
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
                            programs, memory, condition, auto.variable[state], table, look, scratch
                        )
                if takes and not (has_veto and vetoed(pattern, state, True, is_next, table, look, scratch)):
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
                            if not rules.distinct or is_new(
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
                if has_veto and vetoed(pattern, state, False, is_next, table, look, scratch):
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
                output, count, waiting_count, number = release(
                    pattern,
                    segment,
                    offset,
                    Partial(threads[side], remembered[side], count, nodes),
                    Completed(waiting, waiting_count),
                    output,
                    number,
                    counted,
                )
            if count > rules.limit:
                count = give_up(threads[side], remembered[side], count, nodes, rules.limit, counted)
                output, count, waiting_count, number = release(
                    pattern,
                    segment,
                    offset,
                    Partial(threads[side], remembered[side], count, nodes),
                    Completed(waiting, waiting_count),
                    output,
                    number,
                    counted,
                )
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
                    and is_new(waiting, completed_before, waiting_count, nodes, node)
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
            output, count, waiting_count, number = release(
                pattern,
                segment,
                offset,
                Partial(threads[side], remembered[side], count, nodes),
                Completed(waiting, waiting_count),
                output,
                number,
                counted,
            )
        oldest = at - offset
        if count > 0 or waiting_count > 0:
            node_count = compact(nodes, node_count, threads[side], count, waiting, waiting_count, NONE)[0]
            oldest = _oldest(threads[side], count, waiting, waiting_count, oldest)
            stored_threads = appended(stored_threads, stored_thread_count, threads[side, :count])
            stored_doubles = appended(stored_doubles, stored_thread_count, remembered[side, :count])
            stored_nodes = appended(stored_nodes, stored_node_count, nodes[:node_count])
            stored_waiting = appended(stored_waiting, stored_waiting_count, waiting[:waiting_count])
            stored_thread_count += count
            stored_node_count += node_count
            stored_waiting_count += waiting_count
        else:
            node_count = 0
        now[segment, SEARCH], now[segment, AT], now[segment, NUMBER] = oldest, at - offset, number
        now[segment, THREADS], now[segment, NODES], now[segment, WAITING] = count, node_count, waiting_count

    after = Runs(
        now,
        stored_threads[:stored_thread_count],
        stored_doubles[:stored_thread_count],
        stored_nodes[:stored_node_count],
        stored_waiting[:stored_waiting_count],
    )
    return output, after, counted


@loop
def _oldest(threads: Numbers, count: int, waiting: Numbers, waiting_count: int, oldest: int) -> int:
    """The number of the first row of anything that is open."""
    for thread in range(count):
        oldest = min(oldest, threads[thread, BEGAN])
    for place in range(waiting_count):
        oldest = min(oldest, waiting[place, BEGAN])
    return oldest


@loop
def _folded(before: int, row: int, variable: int) -> int:
    mixed = (before ^ (row * 0x2545F4914F6CDD1D + variable + 1)) * 0x369DEA0F31A53F85
    return mixed ^ (mixed >> 31)


@loop
def _same(threads: Numbers, count: int, nodes: Numbers, state: int, node: int) -> bool:
    """Whether a partial match in this state that binds the same rows to the same variables exists already."""
    for thread in range(count):
        other = threads[thread, NODE]
        if threads[thread, STATE] == state and nodes[other, HASH] == nodes[node, HASH]:
            return True
    return False


@loop
def _complete_alike(nodes: Numbers, begin: int, end: int) -> None:
    """Of partial matches with the same bindings, one that is complete makes all complete."""
    for node in range(begin, end):
        for other in range(begin, end):
            if nodes[other, COMPLETE] != 0 and nodes[other, HASH] == nodes[node, HASH]:
                nodes[node, COMPLETE] = 1
