"""Which is the preferred match at each row where one can begin? SQL's row patterns, and event patterns without EVERY.

Rule 1  One attempt at a time: it begins at a row, and its partial matches are kept in the order of preference. A row either
        moves each of them on, lets it wait, or ends it.
Rule 2  When a partial match is complete, all that come behind it are dropped. The attempt is decided when none is left; the
        last one completed is its match.
Rule 3  Two partial matches of an attempt in the same state that remember the same are one: the preferred.
Rule 4  Where the next attempt begins is said by AFTER MATCH SKIP; without a match, at the next row.

Memory  The rows from the beginning of the open attempt on, for as long as WITHIN or LIMIT lets it last.
Source  the preference order of SQL:2016 row pattern recognition, found by moving all ways on at once instead of trying one
        after the other: cost per row is bounded by the number of states.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.pattern.automaton import ABSENT, ACCEPT, ANY, AT_END, RELAXED, TAKE, Automaton
from headwater.kernels.pattern.machine import Memory, Programs, Stack, Table, remember
from headwater.kernels.pattern.runs import (
    AT,
    BEGAN,
    BEST,
    BEST_TIME,
    COUNTED,
    EMPTY,
    END_OF_LAST,
    EVENT_TIME,
    FIRST_ROW,
    FOUND_COLUMNS,
    GIVEN_UP,
    KIND,
    MATCH,
    MATCH_NUMBER,
    MEMORY,
    NEVER,
    NO_SUCH_ROW,
    NODE,
    NODE_COLUMNS,
    NODES,
    NONE,
    NUMBER,
    PARENT,
    PARTITION,
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
    Rules,
    Segments,
    compact,
    room,
    satisfied,
    tell,
    vetoed,
)

EMPTY_MATCH: Final = -2
MANY_NODES: Final = 65536


@njit(cache=True)
def scan(
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
    waiting: NDArray[np.int64],
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
    """Look at the rows of all partitions; `open_` has one line a segment, in the order of the segments.

    Gives what was found, the rows bound in it, and the state of every segment as it is now; and what is counted.
    """
    # `waiting` is for MATCH EVERY: here nothing waits.
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
    kept_thread_count = kept_node_count = 0

    threads = np.zeros((16, MEMORY + wholes), np.int64)
    further = np.zeros((16, MEMORY + wholes), np.int64)
    thread_doubles = np.zeros((16, doubles), np.float64)
    further_doubles = np.zeros((16, doubles), np.float64)
    nodes = np.zeros((64, NODE_COLUMNS), np.int64)
    no_waiting = np.zeros((0, 3), np.int64)
    stamp = np.zeros(len(auto.kind) + 1, np.int64)
    stamps = 0
    trial_whole = memory.whole.copy()
    trial_double = memory.double.copy()
    new_whole = memory.whole.copy()
    new_double = memory.double.copy()
    whole = memory.whole.copy()
    double = memory.double.copy()
    timed_out_at = 0
    thread_from = node_from = 0

    for segment in range(len(segments.low)):
        low, high = segments.low[segment], segments.high[segment]
        offset = low - segments.base[segment]
        limit = high if ended else max(low, high - rules.next_rows)
        search = open_[segment, SEARCH] + offset
        at = open_[segment, AT] + offset
        best, best_time = open_[segment, BEST], open_[segment, BEST_TIME]
        end_of_last = open_[segment, END_OF_LAST]
        number = open_[segment, NUMBER]
        count, node_count = open_[segment, THREADS], open_[segment, NODES]
        threads = room(threads, count)
        further = room(further, count)
        thread_doubles = room(thread_doubles, count)
        further_doubles = room(further_doubles, count)
        nodes = room(nodes, node_count)
        threads[:count] = open_threads[thread_from : thread_from + count]
        thread_doubles[:count] = open_doubles[thread_from : thread_from + count]
        nodes[:node_count] = open_nodes[node_from : node_from + node_count]
        thread_from += count
        node_from += node_count

        while True:
            timed_out = NONE
            if count == 0:  # no attempt is open: where can the next one begin?
                if not rules.unmatched:
                    while search < limit and not may_begin[search]:
                        search += 1
                if search >= limit:
                    at = search
                    best = NONE
                    node_count = 0
                    break
                at = search
                best, best_time = NONE, 0
                node_count = 0
                for place in range(len(auto.first)):
                    target = auto.first[place]
                    if auto.first_at_edge[place] and search - offset != 0:
                        continue
                    if target == ACCEPT:
                        best, best_time = EMPTY_MATCH, table.time[search]
                        break
                    if auto.kind[target] != TAKE:  # `$` before any row: there is one
                        continue
                    threads = room(threads, count + 1)
                    further = room(further, count + 1)
                    thread_doubles = room(thread_doubles, count + 1)
                    further_doubles = room(further_doubles, count + 1)
                    threads[count, STATE] = target
                    threads[count, NODE] = NONE
                    threads[count, BEGAN] = search - offset
                    for slot in range(wholes):
                        threads[count, MEMORY + slot] = memory.whole[slot]
                    for slot in range(doubles):
                        thread_doubles[count, slot] = memory.double[slot]
                    count += 1
            began_at = table.time[search]
            deadline = NEVER if rules.within_us == NEVER else began_at + rules.within_us

            while count > 0 and at < limit:
                time = table.time[at]
                # A partial match that is out of time before this row.
                late = time > deadline
                if late or rules.between_us != NEVER:
                    kept = 0
                    for thread in range(count):
                        node = threads[thread, NODE]
                        its = deadline
                        if rules.between_us != NEVER and node >= 0:
                            last = table.time[nodes[node, ROW] + offset] + rules.between_us
                            its = min(its, last)
                        if auto.kind[threads[thread, STATE]] == AT_END:
                            its = NEVER  # it has all it needs
                        if time <= its:
                            if kept != thread:
                                threads[kept] = threads[thread]
                                thread_doubles[kept] = thread_doubles[thread]
                            kept += 1
                        elif auto.kind[threads[thread, STATE]] == ABSENT:
                            best, best_time = node, its
                            timed_out = NONE
                            break
                        elif timed_out == NONE and node >= 0:
                            timed_out = node
                            timed_out_at = its
                    count = kept
                    if count == 0:
                        break
                    timed_out = NONE
                if at - search + 1 > rules.limit:
                    counted[GIVEN_UP] += 1
                    count = 0
                    break
                stamps += 1
                fresh = 0
                cut = False
                for thread in range(count):
                    counted[STEPS] += 1
                    state = threads[thread, STATE]
                    node = threads[thread, NODE]
                    for slot in range(wholes):
                        whole[slot] = threads[thread, MEMORY + slot]
                    for slot in range(doubles):
                        double[slot] = thread_doubles[thread, slot]
                    is_next = node >= 0 and nodes[node, ROW] + offset + 1 == at
                    takes = False
                    if auto.kind[state] == TAKE:
                        takes = satisfied(
                            auto.condition[state],
                            auto.variable[state],
                            programs,
                            memory,
                            table,
                            at,
                            low,
                            high,
                            offset,
                            whole,
                            double,
                            trial_whole,
                            trial_double,
                            number + 1,
                            stack,
                        )
                    has_veto = auto.veto_from[state + 1] > auto.veto_from[state]
                    if takes and not (
                        has_veto
                        and vetoed(
                            auto,
                            state,
                            True,
                            is_next,
                            programs,
                            memory,
                            table,
                            at,
                            low,
                            high,
                            offset,
                            whole,
                            double,
                            trial_whole,
                            trial_double,
                            number + 1,
                            stack,
                        )
                    ):
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
                        if node_count >= len(nodes):
                            nodes = room(nodes, node_count + 1)
                        nodes[node_count, ROW] = at - offset
                        nodes[node_count, TAKEN_IN] = state
                        nodes[node_count, PARENT] = node
                        new_node = node_count
                        node_count += 1
                        for place in range(auto.follow_from[state], auto.follow_from[state + 1]):
                            target = auto.follow[place]
                            if target == ACCEPT:
                                best, best_time = new_node, time
                                cut = True
                                break
                            if not rules.merges:
                                pass
                            elif wholes or doubles or rules.keeps_last:
                                if _known(
                                    further, further_doubles, fresh, target, new_node, new_whole, new_double, nodes,
                                    rules.keeps_last,
                                ):  # fmt: skip
                                    continue
                            else:
                                if stamp[target] == stamps:
                                    continue
                                stamp[target] = stamps
                            if fresh >= len(further):
                                threads = room(threads, fresh + 1)
                                further = room(further, fresh + 1)
                                thread_doubles = room(thread_doubles, fresh + 1)
                                further_doubles = room(further_doubles, fresh + 1)
                            further[fresh, STATE] = target
                            further[fresh, NODE] = new_node
                            further[fresh, BEGAN] = search - offset
                            for slot in range(wholes):
                                further[fresh, MEMORY + slot] = new_whole[slot]
                            for slot in range(doubles):
                                further_doubles[fresh, slot] = new_double[slot]
                            fresh += 1
                        if cut:
                            break
                    link = auto.link[state]
                    if node >= 0 and (link == ANY or (link == RELAXED and not takes)):
                        if has_veto and vetoed(
                            auto,
                            state,
                            False,
                            is_next,
                            programs,
                            memory,
                            table,
                            at,
                            low,
                            high,
                            offset,
                            whole,
                            double,
                            trial_whole,
                            trial_double,
                            number + 1,
                            stack,
                        ):
                            continue
                        if not rules.merges:
                            pass
                        elif wholes or doubles or rules.keeps_last:
                            if _known(
                                further,
                                further_doubles,
                                fresh,
                                state,
                                node,
                                whole,
                                double,
                                nodes,
                                rules.keeps_last,
                            ):
                                continue
                        else:
                            if stamp[state] == stamps:
                                continue
                            stamp[state] = stamps
                        if fresh >= len(further):
                            threads = room(threads, fresh + 1)
                            further = room(further, fresh + 1)
                            thread_doubles = room(thread_doubles, fresh + 1)
                            further_doubles = room(further_doubles, fresh + 1)
                        further[fresh] = threads[thread]
                        further_doubles[fresh] = thread_doubles[thread]
                        fresh += 1
                threads, further = further, threads
                thread_doubles, further_doubles = further_doubles, thread_doubles
                count = fresh
                at += 1
                if node_count > MANY_NODES and node_count > 8 * (at - search):
                    node_count, best = (
                        compact(nodes, node_count, threads, count, no_waiting, 0, best)
                        if best >= 0
                        else (
                            compact(nodes, node_count, threads, count, no_waiting, 0, -1)[0],
                            best,
                        )
                    )

            if count > 0:  # all rows are seen: has time decided it?
                kept = 0
                for thread in range(count):
                    node = threads[thread, NODE]
                    its = deadline
                    if rules.between_us != NEVER and node >= 0:
                        last = table.time[nodes[node, ROW] + offset] + rules.between_us
                        its = min(its, last)
                    kind = auto.kind[threads[thread, STATE]]
                    # With rows still to be waited for (NEXT), only the end of the input decides.
                    over = ended or (its < watermark and rules.next_rows == 0 and kind != AT_END)
                    if not over:
                        if kept != thread:
                            threads[kept] = threads[thread]
                            thread_doubles[kept] = thread_doubles[thread]
                        kept += 1
                    elif kind == ABSENT and its != NEVER:
                        best, best_time = node, its
                        timed_out = NONE
                        break
                    elif kind == AT_END and ended:
                        best, best_time = node, table.time[nodes[node, ROW] + offset]
                        timed_out = NONE
                        break
                    elif timed_out == NONE and node >= 0 and its != NEVER:
                        timed_out = node
                        timed_out_at = its
                count = kept
                if count > 0:
                    break

            # The attempt is decided.
            if best != NONE:
                number += 1
                found = room(found, found_count + 1)
                found[found_count, PARTITION] = segment
                found[found_count, KIND] = EMPTY if best == EMPTY_MATCH else MATCH
                found[found_count, EVENT_TIME] = best_time
                found[found_count, FIRST_ROW] = search
                found[found_count, MATCH_NUMBER] = number
                found[found_count, 5] = 0
                following = search + 1
                if best >= 0:
                    bound, ends = tell(found, found_count, bound, bound_count, nodes, best, offset)
                    last_row = bound[ends - 1, 0]
                    end_of_last = max(end_of_last, last_row - offset)
                    if rules.skip == PAST_LAST_ROW:
                        following = last_row + 1
                    elif rules.skip == TO_FIRST or rules.skip == TO_LAST:
                        following = NONE
                        for place in range(bound_count, ends):
                            if rules.skip_to[auto.variable[bound[place, 1]]]:
                                following = bound[place, 0]
                                if rules.skip == TO_FIRST:
                                    break
                        if following <= search:
                            counted[NO_SUCH_ROW] += 1
                            following = search + 1
                    bound_count = ends
                found_count += 1
                search = following
            else:
                if timed_out != NONE and rules.timeouts:
                    found = room(found, found_count + 1)
                    found[found_count, PARTITION] = segment
                    found[found_count, KIND] = TIMEOUT
                    found[found_count, EVENT_TIME] = timed_out_at
                    found[found_count, FIRST_ROW] = search
                    found[found_count, MATCH_NUMBER] = 0
                    bound, bound_count = tell(
                        found, found_count, bound, bound_count, nodes, timed_out, offset
                    )
                    found_count += 1
                if rules.unmatched and search - offset > end_of_last:
                    found = room(found, found_count + 1)
                    found[found_count, PARTITION] = segment
                    found[found_count, KIND] = UNMATCHED
                    found[found_count, EVENT_TIME] = table.time[search]
                    found[found_count, FIRST_ROW] = search
                    found[found_count, MATCH_NUMBER] = 0
                    found[found_count, 5] = 0
                    found_count += 1
                search += 1
            best = NONE
            count = 0
            node_count = 0

        if count > 0 and node_count > 64 and node_count > 2 * (at - search):
            if best >= 0:
                node_count, best = compact(nodes, node_count, threads, count, no_waiting, 0, best)
            else:
                node_count = compact(nodes, node_count, threads, count, no_waiting, 0, -1)[0]
        now[segment, SEARCH] = search - offset
        now[segment, AT] = at - offset
        now[segment, BEST] = best
        now[segment, BEST_TIME] = best_time
        now[segment, END_OF_LAST] = end_of_last
        now[segment, NUMBER] = number
        now[segment, THREADS] = count
        now[segment, NODES] = node_count
        kept_threads = room(kept_threads, kept_thread_count + count)
        kept_doubles = room(kept_doubles, kept_thread_count + count)
        kept_nodes = room(kept_nodes, kept_node_count + node_count)
        kept_threads[kept_thread_count : kept_thread_count + count] = threads[:count]
        kept_doubles[kept_thread_count : kept_thread_count + count] = thread_doubles[:count]
        kept_nodes[kept_node_count : kept_node_count + node_count] = nodes[:node_count]
        kept_thread_count += count
        kept_node_count += node_count

    return (
        found[:found_count],
        bound[:bound_count],
        now,
        kept_threads[:kept_thread_count],
        kept_doubles[:kept_thread_count],
        kept_nodes[:kept_node_count],
        waiting,
        counted,
    )


@njit(cache=True)
def _known(
    threads: NDArray[np.int64],
    doubles: NDArray[np.float64],
    count: int,
    state: int,
    node: int,
    whole: NDArray[np.int64],
    double: NDArray[np.float64],
    nodes: NDArray[np.int64],
    keeps_last: bool,
) -> bool:
    """Whether a partial match in this state that remembers the same is there already."""
    for thread in range(count):
        if threads[thread, STATE] != state:
            continue
        if keeps_last and nodes[threads[thread, NODE], ROW] != nodes[node, ROW]:
            continue
        same = True
        for slot in range(len(whole)):
            same = same and threads[thread, MEMORY + slot] == whole[slot]
        for slot in range(len(double)):
            same = same and doubles[thread, slot] == double[slot]
        if same:
            return True
    return False
