"""Partial matches in arrays, and the functions that both scans share.

A partial match is one line of `threads`: the state it waits in, its last node, the number of its first row, then what it
remembers (whole numbers); doubles it remembers are in the same line of a second array. A node is one bound row: its number
in the partition, the state that took it, the previous node. Partial matches with a common beginning share its nodes.

Memory  Nodes that no partial match reaches any more are removed when `compact` is called: at the end of each step, and in between
        whenever there are many.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.automaton import ANY_ROW, NEXT, PASSED, TAKEN, Automaton
from headwater.kernels.pattern.machine import Look, Memory, Programs, Stack, Table, holds, remember

Numbers = NDArray[np.int64]

STATE: Final = 0
NODE: Final = 1
BEGAN: Final = 2
MEMORY: Final = 3

ROW: Final = 0
TAKEN_IN: Final = 1
PARENT: Final = 2
HASH: Final = 3  # of the rows and variables up to here
COMPLETE: Final = 4  # whether these rows, bound so, are a match
NODE_COLUMNS: Final = 5

# What is found in a partition, and the columns of `found`.
MATCH: Final = 0
TIMEOUT: Final = 1
EMPTY: Final = 2
UNMATCHED: Final = 3

PARTITION: Final = 0
KIND: Final = 1
EVENT_TIME: Final = 2
FIRST_ROW: Final = 3
MATCH_NUMBER: Final = 4
BOUND: Final = 5  # how many rows
FOUND_COLUMNS: Final = 6

# What is counted.
GIVEN_UP: Final = 0
NO_SUCH_ROW: Final = 1
STEPS: Final = 2
ROWS_GIVEN_UP: Final = 3
COUNTED: Final = 4

# An open attempt, or the open attempts of MATCH EVERY: one line a partition.
OPEN_PARTITION: Final = 0
SEARCH: Final = 1  # the number of the row at which the attempt begins, or the search continues
AT: Final = 2  # the number of the next row to process
BEST: Final = 3  # the node of the match found so far; -1 none, -2 the empty one
BEST_TIME: Final = 4
END_OF_LAST: Final = 5  # the number of the last row of all matches so far
NUMBER: Final = 6  # matches so far
THREADS: Final = 7
NODES: Final = 8
WAITING: Final = 9
OPEN_COLUMNS: Final = 10

# A completed match that waits for older attempts: when it was completed, its node, its first row; then
COMPLETED_AT: Final = 3  # its event time
LAST_ROW: Final = 4
WAITING_COLUMNS: Final = 5

PAST_LAST_ROW: Final = 0
NEXT_ROW: Final = 1
TO_FIRST: Final = 2
TO_LAST: Final = 3
NOWHERE: Final = 4

NONE: Final = -1
NEVER: Final = np.iinfo(np.int64).max


ROOM: Final = 64
"""Lines that each array of a step has room for at first; the room grows."""
MANY_NODES: Final = 65536
"""From so many bound rows of an attempt on, those that nothing leads to any more are dropped; with MATCH EVERY it is sooner."""
MANY_NODES_OF_EVERY: Final = 4096


class Rules(NamedTuple):
    """The choices of a query, as numbers the scans can read."""

    within_us: int  # NEVER: no bound
    between_us: int
    limit: int
    skip: int
    skip_to: NDArray[np.bool_]  # [variables]
    timeouts: bool
    unmatched: bool
    merges: bool  # partial matches that cannot differ any more become one
    keeps_last: bool  # partial matches that differ in their last row are different
    distinct: bool  # two partial matches may bind the same rows to the same variables
    next_rows: int  # rows that must be known after the present one
    room: int  # lines that each array of a step has room for at first
    many_nodes: int  # from so many bound rows on those are dropped that nothing leads to any more


class Pattern(NamedTuple):
    """A pattern as the scans run it: states, programs of conditions, what a partial match remembers, and the choices of its query."""

    auto: Automaton
    programs: Programs
    memory: Memory
    rules: Rules


class Scratch(NamedTuple):
    """Room that a scan uses for one partial match after the other: what it remembers, what it would remember, and a stack."""

    whole: NDArray[np.int64]
    double: NDArray[np.float64]
    trial_whole: NDArray[np.int64]
    trial_double: NDArray[np.float64]
    stack: Stack


class MatchOutput(NamedTuple):
    """What was found so far: `size` lines of `found`, and `ends` rows bound in them."""

    found: Numbers
    size: int
    bound: Numbers
    ends: int


class Partial(NamedTuple):
    """Partial matches of an attempt or of all: `size` lines of `threads`, the doubles they remember, and their nodes."""

    threads: Numbers
    doubles: NDArray[np.float64]
    size: int
    nodes: Numbers


class Segments(NamedTuple):
    """The partitions of a step: rows [low, high) of the table, and the number of the row at `low`."""

    partition: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    base: NDArray[np.int64]
    fresh: NDArray[np.int64]  # the number of the first new row


class Runs(NamedTuple):
    """The open attempts of one query: a line for each partition, and their partial matches and nodes, one after the other."""

    open: NDArray[np.int64]
    threads: NDArray[np.int64]
    doubles: NDArray[np.float64]
    nodes: NDArray[np.int64]
    waiting: NDArray[np.int64]


@loop
def room(lines: NDArray[Any], count: int) -> NDArray[Any]:
    """The array, or a longer copy of it."""
    if count <= lines.shape[0]:
        return lines
    longer = np.zeros((max(count, 2 * lines.shape[0]), lines.shape[1]), lines.dtype)
    longer[: lines.shape[0]] = lines
    return longer


@loop
def appended(lines: NDArray[Any], count: int, more: NDArray[Any]) -> NDArray[Any]:
    """The first `count` lines, and more after them."""
    lines = room(lines, count + len(more))
    lines[count : count + len(more)] = more
    return lines


@loop
def satisfied(
    programs: Programs,
    memory: Memory,
    condition: int,
    variable: int,
    table: Table,
    look: Look,
    scratch: Scratch,
) -> bool:
    """Whether a row satisfies a condition; with `variable` as though it were bound to it already (-1: not bound).

    The trial arrays then contain what would be remembered.
    """
    row, offset = look.row, look.offset
    whole, double, trial_whole, trial_double, stack = scratch
    if condition < 0:
        return True
    if programs.bit[condition] >= 0:
        return table.bits[programs.bit[condition], row]
    trial_whole[:] = whole
    trial_double[:] = double
    if variable >= 0:
        remember(memory, table, variable, row, row - offset, offset, trial_whole, trial_double)
    return holds(programs, condition, table, look, trial_whole, trial_double, stack)


@loop
def vetoed(
    pattern: Pattern, state: int, takes: bool, is_next: bool, table: Table, look: Look, scratch: Scratch
) -> bool:
    """Whether a row that is taken (or passed over) by a partial match in `state` is forbidden by a veto."""
    auto = pattern.auto
    for at in range(auto.veto_from[state], auto.veto_from[state + 1]):
        kind = auto.veto[at, 0]
        applies = (
            kind == ANY_ROW
            or (kind == NEXT and is_next)
            or (kind == PASSED and not takes)
            or (kind == TAKEN and takes)
        )
        if applies and satisfied(
            pattern.programs, pattern.memory, auto.veto[at, 1], auto.veto[at, 2], table, look, scratch
        ):
            return True
    return False


@loop
def without_ended_claims(pattern: Pattern, state: int, table: Table, look: Look, scratch: Scratch) -> int:
    """The state in which a partial match processes a row: without the claims of greedy loops whose UNTIL the row meets."""
    auto = pattern.auto
    at = auto.ends_from[state]
    while at < auto.ends_from[state + 1]:
        met = satisfied(pattern.programs, pattern.memory, auto.ends[at, 0], -1, table, look, scratch)
        if met:
            state = auto.ends[at, 1]
            at = auto.ends_from[state]
        else:
            at += 1
    return state


@loop
def compact(
    nodes: NDArray[np.int64],
    count: int,
    threads: NDArray[np.int64],
    thread_count: int,
    waiting: NDArray[np.int64],
    waiting_count: int,
    best: int,
) -> tuple[int, int]:
    """Keep the nodes that partial matches (and completed ones that wait) reach; returns the new count, and where `best` is now."""
    new = np.full(count + 1, -1, np.int64)
    for thread in range(thread_count):
        node = threads[thread, NODE]
        while node >= 0 and new[node] < 0:
            new[node] = 0
            node = nodes[node, PARENT]
    for place in range(waiting_count):
        node = waiting[place, NODE]
        while node >= 0 and new[node] < 0:
            new[node] = 0
            node = nodes[node, PARENT]
    node = best
    while node >= 0 and new[node] < 0:
        new[node] = 0
        node = nodes[node, PARENT]
    remaining = 0
    for node in range(count):
        if new[node] == 0:
            new[node] = remaining
            nodes[remaining, ROW] = nodes[node, ROW]
            nodes[remaining, TAKEN_IN] = nodes[node, TAKEN_IN]
            nodes[remaining, HASH] = nodes[node, HASH]
            nodes[remaining, COMPLETE] = nodes[node, COMPLETE]
            nodes[remaining, PARENT] = new[
                nodes[node, PARENT]
            ]  # a parent comes before; the last place represents none
            remaining += 1
    for thread in range(thread_count):
        threads[thread, NODE] = new[threads[thread, NODE]]
    for place in range(waiting_count):
        waiting[place, NODE] = new[waiting[place, NODE]]
    return remaining, new[best]


@loop
def emit_line(
    output: MatchOutput, segment: int, kind: int, time: int, first_row: int, number: int
) -> MatchOutput:
    """The output with one more line; the rows bound in it, if any, are written by `emit_bound`."""
    place = output.size
    found = room(output.found, place + 1)
    found[place, PARTITION] = segment
    found[place, KIND] = kind
    found[place, EVENT_TIME] = time
    found[place, FIRST_ROW] = first_row
    found[place, MATCH_NUMBER] = number
    found[place, BOUND] = 0
    return MatchOutput(found, place + 1, output.bound, output.ends)


@loop
def emit_bound(output: MatchOutput, nodes: Numbers, node: int, offset: int) -> MatchOutput:
    """The output with the rows that lead to a node, bound in the last line: place in the table, and the state that took each."""
    length = 0
    at = node
    while at >= 0:
        length += 1
        at = nodes[at, PARENT]
    ends = output.ends + length
    bound = room(output.bound, ends)
    at = node
    for place in range(ends - 1, output.ends - 1, -1):
        bound[place, 0] = nodes[at, ROW] + offset
        bound[place, 1] = nodes[at, TAKEN_IN]
        at = nodes[at, PARENT]
    output.found[output.size - 1, BOUND] = length
    return MatchOutput(output.found, output.size, bound, ends)


@loop
def wider(lines: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Both sides with room for so many partial matches."""
    wider = np.zeros((2, max(count, 2 * lines.shape[1]), lines.shape[2]), lines.dtype)
    wider[:, : lines.shape[1]] = lines
    return wider


@loop
def longest(pointers: Numbers) -> int:
    """The length of the longest list."""
    most = 0
    for place in range(len(pointers) - 1):
        most = max(most, pointers[place + 1] - pointers[place])
    return most
