"""Which is the preferred match at each row where one can begin? SQL's row patterns, and event patterns without EVERY.

Rule 1  One attempt at a time: it begins at a row, and its partial matches are stored in the order of preference. A row
        advances each of them, lets it wait, or ends it.
Rule 2  When a partial match is complete, all that come after it are dropped. The attempt is decided when none is left; the
        last one completed is its match.
Rule 3  Two partial matches of an attempt in the same state that remember the same are one: the preferred.
Rule 4  A way that a failed attempt has taken cannot match: a later attempt that reaches the same state at the same row is
        not followed further, if the result depends on nothing but the row and the state. So the work for rows at which
        attempts fail again and again is bounded by rows times states, too.
Rule 5  AFTER MATCH SKIP says where the next attempt begins; without a match, at the next row.

Memory  The rows from the beginning of the open attempt on, for as long as WITHIN or LIMIT lets it last; and its partial
        matches, at most one a state, or MOST_WAYS where conditions read other rows of the match.
Source  the preference order of SQL:2016 row pattern recognition, found by advancing all ways at once instead of trying one
        after the other: cost per row is bounded by the number of states.

The loop over rows is one function, and its arrays stay local while it runs: passing them from function to
function for every row would cost more than the work itself. What happens once an attempt is below.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.automaton import ABSENT, ACCEPT, ANY, AT_END, RELAXED, TAKE, Automaton
from headwater.kernels.pattern.machine import Look, Stack, Table, remember
from headwater.kernels.pattern.runs import (
    AT,
    BEGAN,
    BEST,
    BEST_TIME,
    COUNTED,
    EMPTY,
    END_OF_LAST,
    FOUND_COLUMNS,
    GIVEN_UP,
    MATCH,
    MEMORY,
    NEVER,
    NO_SUCH_ROW,
    NODE,
    NODE_COLUMNS,
    NODES,
    NONE,
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
    TO_LAST,
    UNMATCHED,
    MatchOutput,
    Numbers,
    Partial,
    Pattern,
    Rules,
    Runs,
    Scratch,
    Segments,
    appended,
    compact,
    emit_bound,
    emit_line,
    longest,
    room,
    satisfied,
    vetoed,
    wider,
)

EMPTY_MATCH: Final = -2
MOST_WAYS: Final = 1000
"""Partial matches of one attempt that remember different things; above that the least preferred are given up, and counted."""
MOST_FAILED: Final = 1 << 26
"""Rows times states of a step up to which failures are remembered (rule 4): a byte each."""

# The state of the attempt while its rows are processed.
COUNT: Final = 0  # partial matches
TIMED_OUT: Final = 1  # the node of the preferred one of those that ran out of time last
TIMED_OUT_AT: Final = 2
FOUND: Final = 3  # the node of the match found so far; NONE, EMPTY_MATCH
FOUND_AT: Final = 4


@loop
def find_preferred(
    pattern: Pattern,
    table: Table,
    may_begin: NDArray[np.bool_],
    segments: Segments,
    runs: Runs,
    watermark: int,
    ended: bool,
    stack: Stack,
) -> tuple[MatchOutput, Runs, Numbers]:
    """Process the rows of all partitions; `runs.open` has one line a segment, in the order of the segments.

    Returns what was found, the runs of every segment afterwards (here nothing waits, as with MATCH EVERY), and the counts.
    """
    auto, programs, memory, rules = pattern
    open_, open_threads, open_doubles, open_nodes, waiting = runs
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
    stored_thread_count = stored_node_count = 0

    # Partial matches before and after a row alternate: `side` says which is which.
    threads = np.zeros((2, rules.room, MEMORY + wholes), np.int64)
    remembered = np.zeros((2, rules.room, doubles), np.float64)
    nodes = np.zeros((rules.room, NODE_COLUMNS), np.int64)
    side = 0
    stamp = np.zeros(len(auto.kind) + 1, np.int64)
    stamps = 0
    # Rule 4. Time and LIMIT count from an attempt's first row, so with them a later attempt may get further.
    without_bounds = rules.within_us == NEVER and rules.between_us == NEVER and rules.limit == NEVER
    states = len(auto.kind)
    learns = without_bounds and rules.merges and not rules.keeps_last and len(programs.code) == 0
    learns = learns and len(table.time) * states <= MOST_FAILED
    failed = np.zeros((len(table.time) + 1, states) if learns else (0, 0), np.bool_)
    been = np.zeros((rules.room, 2), np.int64)
    been_count = 0
    whole, double = memory.whole.copy(), memory.double.copy()
    new_whole, new_double = memory.whole.copy(), memory.double.copy()
    scratch = Scratch(whole, double, memory.whole.copy(), memory.double.copy(), stack)
    known = np.zeros(5, np.int64)
    thread_from = node_from = 0

    for segment in range(len(segments.low)):
        low, high = segments.low[segment], segments.high[segment]
        offset = low - segments.base[segment]
        limit = high if ended else max(low, high - rules.next_rows)
        search, at = open_[segment, SEARCH] + offset, open_[segment, AT] + offset
        best, best_time = open_[segment, BEST], open_[segment, BEST_TIME]
        end_of_last, number = open_[segment, END_OF_LAST], open_[segment, NUMBER]
        count, node_count = open_[segment, THREADS], open_[segment, NODES]
        if count > 0:
            if count > threads.shape[1]:
                threads, remembered = wider(threads, count), wider(remembered, count)
            nodes = room(nodes, node_count)
            threads[side, :count] = open_threads[thread_from : thread_from + count]
            remembered[side, :count] = open_doubles[thread_from : thread_from + count]
            nodes[:node_count] = open_nodes[node_from : node_from + node_count]
            thread_from += count
            node_from += node_count

        been_count = 0
        while True:
            timed_out, timed_out_at = NONE, 0
            if count == 0:  # no attempt is open: where can the next one begin?
                if not rules.unmatched:
                    while search < limit and not may_begin[search]:
                        search += 1
                at, best, best_time, node_count = search, NONE, 0, 0
                if search >= limit:
                    break
                for place in range(len(auto.first)):
                    target = auto.first[place]
                    if auto.first_at_edge[place] and search - offset != 0:
                        continue
                    if target == ACCEPT:
                        best, best_time = EMPTY_MATCH, table.time[search]
                        break
                    if auto.kind[target] != TAKE:  # `$` before any row: there is one
                        continue
                    if count >= threads.shape[1]:
                        threads, remembered = wider(threads, count + 1), wider(remembered, count + 1)
                    threads[side, count, STATE] = target
                    threads[side, count, NODE] = NONE
                    threads[side, count, BEGAN] = search - offset
                    for slot in range(wholes):
                        threads[side, count, MEMORY + slot] = memory.whole[slot]
                    for slot in range(doubles):
                        remembered[side, count, slot] = memory.double[slot]
                    count += 1
            deadline = NEVER if rules.within_us == NEVER else table.time[search] + rules.within_us

            while count > 0 and at < limit:
                time = table.time[at]
                if time > deadline or rules.between_us != NEVER:
                    known[:] = (count, NONE, 0, best, best_time)
                    partial = Partial(threads[side], remembered[side], count, nodes)
                    _expire(pattern, table, partial, known, offset, deadline, time)
                    count, best, best_time = known[COUNT], known[FOUND], known[FOUND_AT]
                    if count == 0:
                        timed_out, timed_out_at = known[TIMED_OUT], known[TIMED_OUT_AT]
                        break
                if at - search + 1 > rules.limit:
                    counted[GIVEN_UP] += 1
                    count = 0
                    break
                if count * most_successors > threads.shape[1]:
                    threads = wider(threads, count * most_successors)
                    remembered = wider(remembered, count * most_successors)
                if node_count + count > len(nodes):
                    nodes = room(nodes, node_count + count)
                stamps += 1
                look = Look(at, low, high, offset, number + 1)
                fresh = 0
                other = 1 - side
                for thread in range(count):
                    counted[STEPS] += 1
                    state, node = threads[side, thread, STATE], threads[side, thread, NODE]
                    for slot in range(wholes):
                        whole[slot] = threads[side, thread, MEMORY + slot]
                    for slot in range(doubles):
                        double[slot] = remembered[side, thread, slot]
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
                    if takes and not (
                        has_veto and vetoed(pattern, state, True, is_next, table, look, scratch)
                    ):
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
                        nodes[node_count, ROW] = at - offset
                        nodes[node_count, TAKEN_IN] = state
                        nodes[node_count, PARENT] = node
                        node_count += 1
                        complete = False
                        for place in range(auto.follow_from[state], auto.follow_from[state + 1]):
                            target = auto.follow[place]
                            if target == ACCEPT:
                                best, best_time = node_count - 1, time
                                complete = True
                                break
                            if rules.merges:
                                if remembers or rules.keeps_last:
                                    there = Partial(threads[other], remembered[other], fresh, nodes)
                                    if _is_known(
                                        there, target, at - offset, new_whole, new_double, rules.keeps_last
                                    ):
                                        continue
                                elif stamp[target] == stamps or (learns and failed[at + 1, target]):
                                    continue
                                stamp[target] = stamps
                            threads[other, fresh, STATE] = target
                            threads[other, fresh, NODE] = node_count - 1
                            threads[other, fresh, BEGAN] = search - offset
                            for slot in range(wholes):
                                threads[other, fresh, MEMORY + slot] = new_whole[slot]
                            for slot in range(doubles):
                                remembered[other, fresh, slot] = new_double[slot]
                            fresh += 1
                        if complete:
                            break  # what comes after is not preferred to this match
                    link = auto.link[state]
                    if node < 0 or not (link == ANY or (link == RELAXED and not takes)):
                        continue
                    if has_veto and vetoed(pattern, state, False, is_next, table, look, scratch):
                        continue
                    if rules.merges:
                        if remembers or rules.keeps_last:
                            there = Partial(threads[other], remembered[other], fresh, nodes)
                            if _is_known(there, state, nodes[node, ROW], whole, double, rules.keeps_last):
                                continue
                        elif stamp[state] == stamps or (learns and failed[at + 1, state]):
                            continue
                        stamp[state] = stamps
                    for column in range(MEMORY + wholes):
                        threads[other, fresh, column] = threads[side, thread, column]
                    for slot in range(doubles):
                        remembered[other, fresh, slot] = double[slot]
                    fresh += 1
                side, count = other, fresh
                at += 1
                if remembers and count > MOST_WAYS:
                    counted[GIVEN_UP] += count - MOST_WAYS
                    count = MOST_WAYS
                if learns:
                    been = room(been, been_count + count)
                    for thread in range(count):
                        been[been_count, 0], been[been_count, 1] = at, threads[side, thread, STATE]
                        been_count += 1
                if node_count > rules.many_nodes and node_count > 8 * (at - search):
                    node_count, best = _compacted(nodes, node_count, threads[side], count, best)

            if count > 0:  # all rows are processed: has time decided it?
                known[:] = (count, NONE, 0, best, best_time)
                # If rows are still needed (NEXT), only the end of the input decides.
                until = NEVER if ended else (watermark if rules.next_rows == 0 else table.time[search])
                partial = Partial(threads[side], remembered[side], count, nodes)
                _expire(pattern, table, partial, known, offset, deadline, until)
                count, best, best_time = known[COUNT], known[FOUND], known[FOUND_AT]
                if ended and count > 0:
                    best, best_time = _at_the_end(
                        auto, table, threads[side], count, nodes, offset, best, best_time
                    )
                    count = 0
                if count > 0:
                    break
                timed_out, timed_out_at = known[TIMED_OUT], known[TIMED_OUT_AT]

            # The attempt is decided.
            if best == NONE:
                for place in range(been_count):
                    failed[been[place, 0], been[place, 1]] = True
            been_count = 0
            if best != NONE:
                number += 1
                kind = EMPTY if best == EMPTY_MATCH else MATCH
                output = emit_line(output, segment, kind, best_time, search, number)
                next_search = search + 1
                if best >= 0:
                    begin = output.ends
                    output = emit_bound(output, nodes, best, offset)
                    end_of_last = max(end_of_last, output.bound[output.ends - 1, 0] - offset)
                    next_search = _next_search(auto, rules, output.bound, begin, output.ends, search, counted)
                search = next_search
            else:
                if timed_out != NONE and rules.timeouts:
                    output = emit_line(output, segment, TIMEOUT, timed_out_at, search, 0)
                    output = emit_bound(output, nodes, timed_out, offset)
                if rules.unmatched and search - offset > end_of_last:
                    output = emit_line(output, segment, UNMATCHED, table.time[search], search, 0)
                search += 1
            best, count, node_count = NONE, 0, 0

        if count > 0 and node_count > 64 and node_count > 2 * (at - search):
            node_count, best = _compacted(nodes, node_count, threads[side], count, best)
        now[segment, SEARCH], now[segment, AT] = search - offset, at - offset
        now[segment, BEST], now[segment, BEST_TIME] = best, best_time
        now[segment, END_OF_LAST], now[segment, NUMBER] = end_of_last, number
        now[segment, THREADS], now[segment, NODES] = count, node_count
        if count > 0:
            stored_threads = appended(stored_threads, stored_thread_count, threads[side, :count])
            stored_doubles = appended(stored_doubles, stored_thread_count, remembered[side, :count])
            stored_nodes = appended(stored_nodes, stored_node_count, nodes[:node_count])
            stored_thread_count += count
            stored_node_count += node_count

    after = Runs(
        now,
        stored_threads[:stored_thread_count],
        stored_doubles[:stored_thread_count],
        stored_nodes[:stored_node_count],
        waiting,
    )
    return output, after, counted


@loop
def _expire(
    pattern: Pattern, table: Table, partial: Partial, known: Numbers, offset: int, deadline: int, until: int
) -> None:
    """Remove the partial matches whose last instant is before `until`; an absence among them is a match.

    If none is left, `known` says which one is reported as out of time: the preferred of those that lasted longest. One that waits
    for the end of the rows has no such instant, and one without any bound is not out of time either when the input ends.
    """
    auto, _, _, rules = pattern
    threads, remembered, _, nodes = partial
    remaining = 0
    for thread in range(known[COUNT]):
        node = threads[thread, NODE]
        its = deadline
        if rules.between_us != NEVER and node >= 0:
            its = min(its, table.time[nodes[node, ROW] + offset] + rules.between_us)
        kind = auto.kind[threads[thread, STATE]]
        if kind == AT_END or its >= until:
            if remaining != thread:
                threads[remaining] = threads[thread]
                remembered[remaining] = remembered[thread]
            remaining += 1
        elif kind == ABSENT:
            known[FOUND], known[FOUND_AT] = node, its
            known[TIMED_OUT] = NONE
            break
        elif node >= 0 and (known[TIMED_OUT] == NONE or its > known[TIMED_OUT_AT]):
            known[TIMED_OUT], known[TIMED_OUT_AT] = node, its
    known[COUNT] = remaining


@loop
def _at_the_end(
    auto: Automaton,
    table: Table,
    threads: Numbers,
    count: int,
    nodes: Numbers,
    offset: int,
    best: int,
    best_time: int,
) -> tuple[int, int]:
    """The match of an attempt that the end of the input decides: the preferred of those that end with `$`, if any."""
    for thread in range(count):
        if auto.kind[threads[thread, STATE]] == AT_END:
            node = threads[thread, NODE]
            return node, table.time[nodes[node, ROW] + offset]
    return best, best_time


@loop
def _next_search(
    auto: Automaton, rules: Rules, bound: Numbers, begin: int, end: int, search: int, counted: Numbers
) -> int:
    """The row at which the next attempt begins after a match."""
    if rules.skip == PAST_LAST_ROW:
        return bound[end - 1, 0] + 1
    if rules.skip not in (TO_FIRST, TO_LAST):
        return search + 1
    next_search = NONE
    for place in range(begin, end):
        if rules.skip_to[auto.variable[bound[place, 1]]]:
            next_search = bound[place, 0]
            if rules.skip == TO_FIRST:
                break
    if next_search <= search:
        counted[NO_SUCH_ROW] += 1
        return search + 1
    return next_search


@loop
def _is_known(
    partial: Partial,
    state: int,
    last_row: int,
    whole: Numbers,
    double: NDArray[np.float64],
    keeps_last: bool,
) -> bool:
    """Whether a partial match in this state that remembers the same exists already."""
    threads, remembered, count, nodes = partial
    for thread in range(count):
        if threads[thread, STATE] != state:
            continue
        if keeps_last and nodes[threads[thread, NODE], ROW] != last_row:
            continue
        same = True
        for slot in range(len(whole)):
            same = same and threads[thread, MEMORY + slot] == whole[slot]
        for slot in range(len(double)):
            same = same and remembered[thread, slot] == double[slot]
        if same:
            return True
    return False


@loop
def _compacted(nodes: Numbers, node_count: int, threads: Numbers, count: int, best: int) -> tuple[int, int]:
    """The nodes that are still reached, and where the best match is among them."""
    nothing = np.zeros((0, MEMORY), np.int64)
    remaining, moved = compact(nodes, node_count, threads, count, nothing, 0, max(best, NONE))
    return remaining, moved if best >= 0 else best
