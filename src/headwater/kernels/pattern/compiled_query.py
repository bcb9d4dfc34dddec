"""A pattern query as its kernel runs it: the automaton, the programs and the row tests, made once, and one call over many partitions.

Row tests are computed for whole columns, and rows at which no attempt can begin are skipped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.pattern.all_matches import find_all
from headwater.kernels.pattern.automaton import ACCEPT, TAKE, Automaton, create
from headwater.kernels.pattern.choices import RowsPerMatch, SkipTo
from headwater.kernels.pattern.deadlines import first_deadlines
from headwater.kernels.pattern.machine import Programs, Table, make_stack
from headwater.kernels.pattern.match_answers import Found
from headwater.kernels.pattern.node_runs import NodeQuery
from headwater.kernels.pattern.partitioned_rows import (
    Arranged,
)
from headwater.kernels.pattern.preferred_match import find_preferred
from headwater.kernels.pattern.question import PatternQuery, RowTest
from headwater.kernels.pattern.runs import (
    AT,
    BEST,
    END_OF_LAST,
    MANY_NODES,
    MANY_NODES_OF_EVERY,
    MEMORY,
    NEVER,
    NODE_COLUMNS,
    NUMBER,
    OPEN_COLUMNS,
    OPEN_PARTITION,
    ROOM,
    SEARCH,
    THREADS,
    WAITING,
    WAITING_COLUMNS,
    Pattern,
    Rules,
    Runs,
    Segments,
)
from headwater.kernels.pattern.shape import Chain, Loop, One
from headwater.model import (
    END,
    Instant,
)

Numbers = NDArray[np.int64]

_SKIPS = (SkipTo.PAST_LAST_ROW, SkipTo.NEXT_ROW, SkipTo.FIRST, SkipTo.LAST, SkipTo.NOWHERE)


def compile_query(query: PatternQuery, *, shortcuts: bool) -> CompiledQuery | NodeQuery:
    """A query that can process rows; one with MODE has other rules."""
    if query.node is None:
        return CompiledQuery(query, shortcuts)
    parts = query.shape.parts if isinstance(query.shape, Chain) else (query.shape,)
    ones = tuple(part.part if isinstance(part, Loop) else part for part in parts)
    return NodeQuery(query, tuple(one for one in ones if isinstance(one, One)), query.node)


class CompiledQuery:
    """A query and what is computed from it once; without `shortcuts` no row is skipped and nothing is merged."""

    def __init__(self, query: PatternQuery, shortcuts: bool) -> None:
        self.query = query
        self.auto: Automaton = create(query.shape)
        self.row_tests = [test for test in query.tests if isinstance(test, RowTest)]
        self.programs = _programs(query)
        self.rules = _rules(query, self.auto, merges=shortcuts)
        self.begin_bits = self._begin_bits() if shortcuts else None
        self._stack = make_stack()

    def none(self) -> Runs:
        """Empty runs."""
        memory = self.query.recall.memory
        return Runs(
            np.zeros((0, OPEN_COLUMNS), np.int64),
            np.zeros((0, MEMORY + len(memory.whole)), np.int64),
            np.zeros((0, len(memory.double))),
            np.zeros((0, NODE_COLUMNS), np.int64),
            np.zeros((0, WAITING_COLUMNS), np.int64),
        )

    def run(
        self, table: Arranged, segments: Segments, old: Runs, watermark: Instant
    ) -> tuple[Found, Runs, Numbers]:
        """Advance the query over all segments."""
        ended = watermark >= END
        programs, columns = self.columns_of(table)
        pattern = Pattern(self.auto, programs, self.query.recall.memory, self.rules)
        lines = old._replace(open=self._lines(old, segments))
        search = find_all if self.query.every else find_preferred
        output, after, counted = search(
            pattern, columns, self.may_begin(columns), segments, lines, watermark, ended, self._stack
        )
        now, bound = after.open, output.bound[: output.ends]
        keep = (now[:, THREADS] > 0) | (now[:, WAITING] > 0) | (now[:, SEARCH] < self._ends(segments))
        if self.query.is_numbered:
            keep |= now[:, NUMBER] > 0
        if self.rules.unmatched:
            keep |= now[:, END_OF_LAST] >= now[:, SEARCH]
        if ended:
            keep[:] = False
        runs = after._replace(open=now[keep])
        rows, states = np.ascontiguousarray(bound[:, 0]), np.ascontiguousarray(bound[:, 1])
        return Found(output.found[: output.size], rows, states), runs, counted

    def deadlines(self, runs: Runs, segments: Segments, time: Numbers) -> Numbers:
        """For each open line the time at which time alone changes something."""
        return first_deadlines(self.auto.kind, self.rules, runs, segments, time)

    def _ends(self, segments: Segments) -> Numbers:
        return segments.base + segments.high - segments.low

    def _lines(self, old: Runs, segments: Segments) -> Numbers:
        """One line for each segment; where nothing was open, the search continues with the first new row."""
        lines = np.zeros((len(segments.low), OPEN_COLUMNS), np.int64)
        lines[:, OPEN_PARTITION] = segments.partition
        lines[:, BEST] = -1
        lines[:, END_OF_LAST] = -1
        place = np.searchsorted(segments.partition, old.open[:, OPEN_PARTITION])
        lines[:, SEARCH] = lines[:, AT] = segments.fresh
        lines[place] = old.open
        return lines

    def columns_of(self, table: Arranged) -> tuple[Programs, Table]:
        """The rows in the form of the loops, and the programs with the codes of their texts in these rows."""
        count = table.rows.count
        bits = np.zeros((len(self.row_tests), count), np.bool_)
        for place, test in enumerate(self.row_tests):
            bits[place] = table.test(test)
        recall = self.query.recall
        whole, whole_valid, programs = self._whole_columns(table)
        double = np.zeros((len(recall.double), count))
        double_valid = np.zeros((len(recall.double), count), np.bool_)
        for place, value in enumerate(recall.double):
            column = table.value(value)
            double[place], double_valid[place] = column.values, column.is_valid
        return programs, Table(table.time, bits, whole, whole_valid, double, double_valid)

    def _whole_columns(self, table: Arranged) -> tuple[Numbers, NDArray[np.bool_], Programs]:
        recall = self.query.recall
        columns = [table.value(value) for value in recall.whole]
        whole = np.zeros((len(columns), table.rows.count), np.int64)
        valid = np.zeros((len(columns), table.rows.count), np.bool_)
        dictionaries = [column.names for column in columns if column.names is not None]
        texts = [text for _, text in recall.texts]
        names = np.unique(np.concatenate([*dictionaries, np.array([*texts, ""], object)]))
        for place, column in enumerate(columns):
            valid[place] = column.is_valid
            if column.names is None:
                whole[place] = column.values
            elif len(column.names):
                whole[place] = np.searchsorted(names, column.names)[column.values]
        programs = self.programs
        if recall.texts:
            constants = programs.whole.copy()
            for place, text in recall.texts:
                constants[place] = np.searchsorted(names, text)
            programs = programs._replace(whole=constants)
        return whole, valid, programs

    def _begin_bits(self) -> list[int] | None:
        """Row tests, one of which must hold where an attempt begins; None: it may begin anywhere."""
        found = []
        for target in self.auto.first.tolist():
            if target == ACCEPT:
                return None
            if self.auto.kind[target] != TAKE:
                continue
            condition = int(self.auto.condition[target])
            if condition < 0 or self.programs.bit[condition] < 0:
                return None
            found.append(int(self.programs.bit[condition]))
        return sorted(set(found))

    def may_begin(self, columns: Table) -> NDArray[np.bool_]:
        """Which rows an attempt may begin at."""
        if self.begin_bits is None:
            return np.ones(len(columns.time), np.bool_)
        if len(self.begin_bits) == 1:
            return np.ascontiguousarray(columns.bits[self.begin_bits[0]])
        return (
            np.logical_or.reduce(columns.bits[self.begin_bits])
            if self.begin_bits
            else np.zeros(len(columns.time), np.bool_)
        )


def _programs(query: PatternQuery) -> Programs:
    bit, begin, end = [], [], []
    code: list[tuple[int, int, int, int]] = []
    bits = 0
    for test in query.tests:
        if isinstance(test, RowTest):
            bit.append(bits)
            begin.append(0)
            end.append(0)
            bits += 1
        else:
            bit.append(-1)
            begin.append(len(code))
            code += test.code
            end.append(len(code))
    return Programs(
        np.array(bit, np.int64),
        np.array(begin, np.int64),
        np.array(end, np.int64),
        np.array(code, np.int64).reshape(-1, 4),
        np.array(query.recall.whole_constants, np.int64),
        np.array(query.recall.double_constants, np.float64),
    )


def _rules(query: PatternQuery, auto: Automaton, *, merges: bool) -> Rules:
    skip_to = np.zeros(max(len(query.variables), 1), np.bool_)
    skip_to[list(query.skip_to)] = True
    waits = bool((auto.link > 0).any())
    by_last = query.between_us is not None or bool((auto.veto[:, 0] == 1).any())
    return Rules(
        within_us=NEVER if query.within_us is None else query.within_us,
        between_us=NEVER if query.between_us is None else query.between_us,
        limit=NEVER if query.limit is None else query.limit,
        skip=_SKIPS.index(query.skip),
        skip_to=skip_to,
        timeouts=query.timeouts,
        unmatched=query.rows is RowsPerMatch.ALL_WITH_UNMATCHED,
        merges=merges,
        keeps_last=waits and by_last,
        distinct=_ambiguous(auto),
        next_rows=max(query.shifts[1], 0),
        room=ROOM,
        many_nodes=MANY_NODES_OF_EVERY if query.every else MANY_NODES,
    )


def _ambiguous(auto: Automaton) -> bool:
    """Whether the same rows may be bound to the same variables in two ways: some list of followers has a variable twice."""
    lists = [auto.first, *np.split(auto.follow, auto.follow_from[1:-1])]
    for targets in lists:
        variables = auto.variable[targets[targets >= 0]].tolist()
        if len(set(variables)) < len(variables):
            return True
    return False
