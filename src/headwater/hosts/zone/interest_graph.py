"""The graph of operators downstream of a FOLLOW: its input, its answers for some interests, and its saved states.

Rule 1  A query downstream of a FOLLOW reads that FOLLOW, or queries downstream of it. The rows that it reads have no stamps, because these are
        the same for all rows of an interest. Its answers have stamps.
Rule 2  Answers of an interest before `settled` were delivered for the previous interest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.hosts.zone.graph import Graph, waiting_for
from headwater.kernels.follow.question import InterestAnswers, InterestEvents, Lives, Whole, stamped
from headwater.model import (
    BEGINNING,
    END,
    INTEREST_SERIAL,
    Answers,
    Column,
    ColumnType,
    Instant,
    KeyedStore,
    Log,
    Rows,
    Saved,
    Step,
    keyed_store_from,
    run_from,
)
from headwater.model.codec import rows_tree, tree_rows
from headwater.model.row_log import log_from
from headwater.query.planning.groups import Group
from headwater.query.planning.interest_plan import InterestPlan
from headwater.query.planning.projections import column_of

States = Mapping[str, Any]
"""The states of a graph: of each group under its name, and the waiting rows."""


class Stream(NamedTuple):
    """Events of all interests as an entry reads them; those of interest n are `rows[bounds[n] : bounds[n + 1]]`.

    `texts` are columns of texts with a dictionary for each interest. Otherwise a state with some rows of one interest would contain,
    and be saved with, the names of all.
    """

    rows: Rows
    of: Whole
    bounds: Whole
    texts: Mapping[str, _Texts]

    def of_lives(self, chosen: Whole) -> Rows:
        """The rows of some interests, in order of interest and time."""
        is_chosen = np.zeros(len(self.bounds) - 1, np.bool_)
        is_chosen[chosen] = True
        return self.rows if is_chosen.all() else self.rows.take(is_chosen[self.of])

    def of_life(self, life: int) -> Rows:
        """The rows of one interest."""
        low, high = self.bounds[life : life + 2].tolist()
        place = slice(low, high)
        columns = {
            name: self.texts[name].of_life(life, place) if name in self.texts else column.take(place)
            for name, column in self.rows.columns.items()
        }
        return Rows(columns, high - low)


class _Texts(NamedTuple):
    """A column of texts by interest: `column.values` are codes into names of its own, for interest n `names[first[n] : first[n + 1]]`."""

    column: Column
    names: NDArray[Any]
    first: Whole

    @classmethod
    def by_life(cls, column: Column, of: Whole, lives: int) -> _Texts:
        """The texts of a column; rows are in order of their interests."""
        assert column.names is not None
        many = max(len(column.names), 1)
        valid = column.is_valid
        used, code = np.unique((of * many + column.values)[valid], return_inverse=True)
        first = np.searchsorted(used, np.arange(lives + 1) * many)
        values = np.zeros(len(column), np.int32)
        values[valid] = code - first[of[valid]]
        return cls(Column(column.type, values, column.valid), column.names[used % many], first)

    def of_life(self, life: int, place: slice) -> Column:
        """The column of one interest, whose rows are at a place."""
        low, high = self.first[life : life + 2].tolist()
        values, valid = self.column.values[place], self.column.valid
        return Column(self.column.type, values, None if valid is None else valid[place], self.names[low:high])


class InterestGraph:
    """The graph downstream of a FOLLOW."""

    def __init__(self, plan: InterestPlan) -> None:
        self.plan = plan
        self.graph = Graph(plan.groups, plan.read, plan.schemas, plan.merges, plan.by_interest)
        self._place = {group.name: number for number, group in enumerate(plan.groups)}

    @cached_property
    def empty(self) -> States:
        """The state of a new interest: one for all, because no step changes it."""
        return self.graph.start(BEGINNING)

    def streams(self, lives: Lives, events: Sequence[InterestEvents]) -> dict[str, Stream]:
        """The rows that each entry reads."""
        return {
            name: self._stream(self._as_read(rows, lives, of), of, len(lives.serial))
            for name, (rows, of) in zip(self.plan.needs, events, strict=True)
        }

    def step(
        self,
        states: States,
        entries: Mapping[str, Rows],
        until: Instant,
        lives: Lives,
        life_of: Callable[[Rows], Whole],
        settled: Whole,
        counts: Counter[str],
    ) -> tuple[States, list[InterestAnswers]]:
        """The states after a step, and the answers. `life_of` gives the place in `lives` of the interest of every answer;
        `settled` is int64[lives, groups].
        """
        found: list[InterestAnswers] = []

        def answered(group: Group, step: Step[Any]) -> list[Rows]:
            counts.update(step.counts)
            blocks = [
                _with_interests(answers, lives, life_of) for answers in step.answers if answers.rows.count
            ]
            if group.name not in self.plan.undelivered:
                found.extend(_unsettled(one, settled[:, self._place[group.name]]) for one in blocks)
            return [self._handed(one.answers) for one in blocks]

        rows = {name: (some, until) for name, some in entries.items()}
        states = self.graph.step(states, {}, answered, rows, self.plan.follow.name)
        return states, [block for block in found if len(block.of)]

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _handed(self, answers: Answers) -> Rows:
        block = self.plan.project(answers)
        return (
            block.having(**{INTEREST_SERIAL: answers.rows[INTEREST_SERIAL]})
            if self.plan.by_interest
            else block
        )

    def _stream(self, rows: Rows, of: Whole, lives: int) -> Stream:
        """A stream of events that are in order of their interests."""
        texts = {
            name: _Texts.by_life(column, of, lives)
            for name, column in rows.columns.items()
            if column.type is ColumnType.STRING and not self.plan.by_interest
        }
        return Stream(rows, of, np.searchsorted(of, np.arange(lives + 1)), texts)

    def _as_read(self, rows: Rows, lives: Lives, of: Whole) -> Rows:
        """Events as the downstream queries read them: with the selected columns, in the order of the FOLLOW's stream."""
        schema, events = self.plan.follow.schema, [name for name in rows.columns if name != "event_time"]
        if [name for name, _ in schema.columns] != ["event_time", *events]:
            seen = stamped(rows, lives, of)
            columns = {"event_time": rows["event_time"]}
            for name, expression, kind in self.plan.projection.columns:
                if name in schema.types:
                    columns[name] = column_of(expression, seen, kind)
            rows = Rows(columns, rows.count)
            rows = rows.take(np.lexsort([*(rows[name].ranks() for name in reversed(schema.order)), of]))
        if not self.plan.by_interest:
            return rows
        return rows.having(**{INTEREST_SERIAL: Column(ColumnType.BIGINT, lives.serial[of])})

    # --- states -------------------------------------------------------------------------------------------------------

    def next_due(self, states: States) -> Instant:
        """Up to which watermark a step without rows does nothing. Any step may release waiting rows."""
        if any(states[waiting_for(name)].chunks for name in self.graph.waits):
            return BEGINNING
        return min((group.kernel.next_due(states[group.name]) for group in self.plan.groups), default=END)

    def is_blank(self, states: States) -> bool:
        """Whether all states are empty."""
        return not any(states[waiting_for(name)].chunks for name in self.graph.waits) and all(
            group.kernel.is_blank(states[group.name]) for group in self.plan.groups
        )

    def saved(self, states: States) -> dict[str, Any]:
        """States as a tree."""
        return dict(self._saved(states))

    def loaded(self, tree: Mapping[str, Any], since: Instant) -> States:
        """Saved states; new groups begin at `since`."""
        return dict(self._loaded(tree, since))

    def _saved(self, states: States) -> Iterator[tuple[str, Any]]:
        for group in self.plan.groups:
            saved = group.kernel.save(states[group.name])
            logs = {name: _log_tree(log) for name, log in saved.logs.items()}
            stores = {name: _store_tree(store) for name, store in saved.stores.items()}
            yield group.name, {"values": saved.values, "logs": logs, "stores": stores}
        for name in self.graph.waits:
            yield waiting_for(name), _log_tree(states[waiting_for(name)])

    def _loaded(self, tree: Mapping[str, Any], since: Instant) -> Iterator[tuple[str, Any]]:
        for group in self.plan.groups:
            part = tree.get(group.name)
            if part is None:
                yield group.name, group.kernel.start(since)
                continue
            logs = {name: _tree_log(saved) for name, saved in part["logs"].items()}
            stores = {name: _tree_store(saved) for name, saved in part["stores"].items()}
            yield group.name, group.kernel.load(Saved(part["values"], logs, stores), since)
        for waiting in map(waiting_for, self.graph.waits):
            yield waiting, _tree_log(tree[waiting]) if waiting in tree else Log()


def _with_interests(answers: Answers, lives: Lives, life_of: Callable[[Rows], Whole]) -> InterestAnswers:
    """Answers with their stamps."""
    of = life_of(answers.rows)
    return InterestAnswers(Answers(answers.shape, stamped(answers.rows, lives, of)), of)


def _unsettled(block: InterestAnswers, settled: Whole) -> InterestAnswers:
    """The answers without those before a time for each interest, which were delivered for the previous interest."""
    rows = block.answers.rows
    new = rows["event_time"].values >= settled[block.of]
    return (
        block if new.all() else InterestAnswers(Answers(block.answers.shape, rows.take(new)), block.of[new])
    )


def _log_tree(log: Log) -> dict[str, Any]:
    return {
        "outline": log.outline(),
        "chunks": {str(chunk.number): rows_tree(chunk.rows) for chunk in log.chunks},
    }


def _tree_log(tree: dict[str, Any]) -> Log:
    chunks = {int(number): tree_rows(rows) for number, rows in tree["chunks"].items()}
    return log_from(tree["outline"], chunks)


def _store_tree(store: KeyedStore) -> dict[str, Any]:
    return {"outline": store.outline(), "runs": {str(run.number): run.trees() for run in store.runs}}


def _tree_store(tree: dict[str, Any]) -> KeyedStore:
    runs = {int(number): run_from(int(number), trees) for number, trees in tree["runs"].items()}
    return keyed_store_from(tree["outline"], runs)
