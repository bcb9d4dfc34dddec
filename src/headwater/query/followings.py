"""From a checked FOLLOW to what its kernel is asked; and what stands behind it, run once for each interest.

Rule 1  A query behind a FOLLOW reads that FOLLOW, or queries behind it. Each interest has kernels' states of its own for all of them.
Rule 2  Rows that operators behind a FOLLOW see have no stamps: within an interest these are the same for all. Answers have them.
Rule 3  An interest whose events have not begun has no state. Kernels that can keep rows apart answer for many interests at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.follow.question import (
    BY_ITSELF,
    Events,
    Focals,
    FollowQuery,
    Given,
    Lives,
    Need,
    Told,
    Whole,
    stamped,
)
from headwater.kernels.follow.words import Saving
from headwater.model import (
    APART,
    BEGINNING,
    END,
    Answers,
    Column,
    ColumnType,
    Instant,
    KeyedStore,
    Log,
    Rows,
    Saved,
    StreamSchema,
    keyed_store_from,
    run_from,
)
from headwater.model.codec import rows_tree, tree_rows
from headwater.model.row_log import log_from
from headwater.query.checking.merges import Merge
from headwater.query.expressions import condition
from headwater.query.operators.follow.check import events_schema
from headwater.query.operators.union import FollowOperator
from headwater.query.planning.chaining import as_stream, hand_on, read_together
from headwater.query.planning.needs import needs_behind, parts_of, weak_in
from headwater.query.planning.projections import Projection, column_of

if TYPE_CHECKING:
    from headwater.query.planning.groups import Group
    from headwater.query.planning.query_plan import QueryPlan


def events_of(query: QueryPlan, sources: Sequence[StreamSchema]) -> Events:
    """What a FOLLOW looks at, given its sources of events."""
    schema = events_schema(sources)
    # A condition by its written form: as values, 1, 1.0 and TRUE would be equal.
    identity = repr(([source.name for source in sources], schema.columns, query.where))
    return Events(tuple(sources), schema, condition(query.where) if query.where else None, identity)


def make_follow_query(
    query: QueryPlan,
    focals: StreamSchema,
    events: Events,
    *,
    share: tuple[int, int] | None,
    operators: Behind | None,
) -> FollowQuery:
    """What the kernel of FOLLOW is asked."""
    asked = query.operator
    assert isinstance(asked, FollowOperator)
    assert focals.key is not None and focals.place is not None
    needs = list(operators.needs.values()) if operators else []
    if not query.hidden or not needs:
        needs.append(
            Need(1 + max((need.part for need in needs), default=-1), 0, None, BY_ITSELF, is_free=True)
        )
    is_whole = asked.interests or asked.best_effort is not None
    return FollowQuery(
        name=query.name,
        fingerprint=query.fingerprint,
        shape=query.shape,
        events=events,
        focals=Focals(
            condition(asked.where) if asked.where else None,
            focals.key,
            focals.types[focals.key],
            focals.place.x,
            focals.place.y,
            focals.types[focals.place.x],
            focals.types[focals.place.y],
            asked.shape,
        ),
        geographic=focals.place.geographic,
        radius_m=asked.radius_m,
        box_m=asked.box_m,
        last_us=asked.last_us,
        before_us=query.before_us,
        update=asked.update,
        every_us=asked.every_us,
        moved_m=asked.moved_m,
        precision=asked.precision,
        recall=asked.recall,
        over_us=asked.over_us,
        forget_us=asked.forget_us,
        each=asked.each,
        best_effort=asked.best_effort,
        share=share,
        interests=asked.interests,
        needs=tuple(needs),
        savings=frozenset() if is_whole else frozenset(Saving) - query.left_off,
        tells=not query.hidden,
        operators=operators,
    )


def can_stay_apart(queries: Sequence[QueryPlan]) -> bool:
    """Whether queries behind a FOLLOW can be answered for many interests at once: their kernels keep the rows of each apart."""
    return all(query.operator.can_stay_apart and ", " not in query.reads for query in queries)


class _Cohort(NamedTuple):
    """Interests that began together and are answered together: their serials, and a state for each group and each thing that waits.

    `settled` int64[interests, groups]: answers before were told already.
    """

    serials: Whole
    settled: Whole
    states: Mapping[str, Any]


class _Stream(NamedTuple):
    """Events of all interests as an entry reads them; those of interest n are `rows[bounds[n] : bounds[n + 1]]`.

    `texts` are columns of texts with a dictionary for each interest. A state that holds some rows of one interest would otherwise hold,
    and be saved with, the names of all.
    """

    rows: Rows
    of: Whole
    bounds: Whole
    texts: Mapping[str, _Texts]

    def of_lives(self, chosen: Whole) -> Rows:
        """The rows of some interests."""
        if len(chosen) == 1:
            return self._of_life(int(chosen[0]))
        wanted = np.zeros(len(self.bounds) - 1, np.bool_)
        wanted[chosen] = True
        return self.rows if wanted.all() else self.rows.take(wanted[self.of])

    def _of_life(self, life: int) -> Rows:
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
        """The same texts; rows are in order of their interests."""
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


class Behind:
    """The operators behind a FOLLOW. `groups` come after what they read.

    `apart`: one state answers for all interests that began in the same step, whose rows come with APART; otherwise each interest
    has a state of its own. When some of a cohort are over and others not, it is run twice: once to the end for those that are over,
    and once as far as time has come for the others.
    """

    def __init__(
        self,
        follow: QueryPlan,
        projection: Projection,
        groups: Sequence[Group],
        queries: Mapping[str, QueryPlan],
        apart: bool,
        schemas: Mapping[str, StreamSchema],
        merges: Mapping[str, Merge],
        project: Callable[[Answers], Rows],
    ) -> None:
        self.follow = follow
        self.projection = projection
        self.groups = tuple(groups)
        self.apart = apart
        self.schemas = schemas
        self.merges = merges
        self.project = project
        self.read = {name for group in groups for name in self._sources(group.reads)}
        self.needs = needs_behind(follow, projection, groups, queries, self._sources)
        self.weak = tuple(name for group in groups for name in weak_in(group, queries))
        # Their answers are nobody's but the operators' behind them: not delivered, so not remembered either.
        self.unheard = {group.name for group in groups if all(queries[name].hidden for name in group.queries)}
        parts = parts_of(groups, self._sources)
        self.parts = [parts[group.name] for group in groups]

    def start(self) -> tuple[_Cohort, ...]:
        """No interest yet."""
        return ()

    def step(
        self,
        state: tuple[_Cohort, ...],
        lives: Lives,
        given: Sequence[Given],
        settled: Whole,
        watermark: Instant,
    ) -> tuple[tuple[_Cohort, ...], Sequence[Told], Mapping[str, int]]:
        """Run every operator on the new events of every interest."""
        counts: Counter[str] = Counter()
        streams = {
            name: self._stream(self._as_read(rows, lives, of), of, len(lives.serial))
            for name, (rows, of) in zip(self.needs, given, strict=True)
        }
        left: list[_Cohort] = []
        told: list[Told] = []
        for cohort in (*state, *self._begun(state, lives, streams.values(), settled)):
            life = _places(lives, cohort.serials)
            for is_over, until in ((True, END), (False, watermark)):
                some = lives.is_over[life] == is_over
                if not some.any():
                    continue
                chosen, later = life[some], cohort.settled[some]
                entries = {name: stream.of_lives(chosen) for name, stream in streams.items()}
                states, answers = self._run(cohort.states, entries, until, lives, chosen, later, counts)
                told += answers
                if not is_over:
                    left.append(_Cohort(lives.serial[chosen], later, states))
        return tuple(left), told, counts

    def save(self, state: tuple[_Cohort, ...]) -> dict[str, Any]:
        """The states of all cohorts."""
        return {
            "apart": self.apart,
            "cohorts": [
                {
                    "serials": cohort.serials,
                    "settled": {group.name: cohort.settled[:, n] for n, group in enumerate(self.groups)},
                    "states": dict(self._saved(cohort.states)),
                }
                for cohort in state
            ],
        }

    def load(self, values: dict[str, Any], since: Instant) -> tuple[_Cohort, ...]:
        """As saved. Where interests were answered together and no longer are, or the other way, all operators begin anew."""
        if values["apart"] != self.apart:
            return ()
        return tuple(
            _Cohort(
                np.array(kept["serials"]),
                self._settled(kept["settled"], len(kept["serials"])),
                dict(self._loaded(kept["states"], since)),
            )
            for kept in values["cohorts"]
        )

    # --- one cohort ---------------------------------------------------------------------------------------------------

    def _begun(
        self, state: Sequence[_Cohort], lives: Lives, streams: Iterable[_Stream], settled: Whole
    ) -> Iterator[_Cohort]:
        """Interests whose first events have come: those that are over already, and the others."""
        known = np.concatenate([np.zeros(0, np.int64), *(cohort.serials for cohort in state)])
        has_events = np.logical_or.reduce([stream.bounds[1:] > stream.bounds[:-1] for stream in streams])
        begun = np.flatnonzero(has_events & ~np.isin(lives.serial, known))
        for is_over in (True, False):
            chosen = begun[lives.is_over[begun] == is_over]
            size = max(len(chosen), 1) if self.apart else 1
            for first in range(0, len(chosen), size):
                some = chosen[first : first + size]
                yield _Cohort(lives.serial[some], settled[some][:, self.parts], self._empty)

    def _run(
        self,
        before: Mapping[str, Any],
        entries: Mapping[str, Rows],
        until: Instant,
        lives: Lives,
        chosen: Whole,
        settled: Whole,
        counts: Counter[str],
    ) -> tuple[dict[str, Any], list[Told]]:
        """Step all groups of a cohort with events of some of its interests; what is answered for these."""
        states = dict(before)
        streams: dict[str, tuple[Rows, Instant]] = {}
        found: list[Told] = []
        for number, group in enumerate(self.groups):
            if (together := self.merges.get(group.reads)) and together.name not in streams:
                waits = states[_waiting(together.name)]
                own = {self.follow.name: (entries[together.name], until)} if together.name in entries else {}
                streams[together.name], states[_waiting(together.name)] = read_together(
                    together, waits, streams | own
                )
            given = (entries[group.name], until) if group.name in entries else streams[group.reads]
            step = group.kernel.step(states[group.name], *given)
            states[group.name] = step.state
            counts.update(step.counts)
            told = [_told(answers, lives, chosen) for answers in step.answers if answers.rows.count]
            if group.name not in self.unheard:
                found += [_unsettled(one, chosen, settled[:, number]) for one in told]
            for name in (name for name in group.queries if name in self.read):
                handed = self._handed(name, told)
                ready, states[_waiting(name)] = hand_on(
                    self.schemas[name], states[_waiting(name)], handed, step.complete_until
                )
                streams[name] = ready, step.complete_until
        return states, [told for told in found if len(told.of)]

    def _handed(self, name: str, told: Sequence[Told]) -> Rows:
        """The answers of a query as rows for those that read it."""
        blocks = []
        for answers, _ in told:
            block = self.project(answers)
            blocks.append(block.having(**{APART: answers.rows[APART]}) if self.apart else block)
        rows = as_stream(self.schemas[name], blocks)
        return (
            rows if rows.count or not self.apart else rows.having(**{APART: Column.of(ColumnType.BIGINT, ())})
        )

    def _stream(self, rows: Rows, of: Whole, lives: int) -> _Stream:
        """Events that are in order of their interests."""
        texts = {} if self.apart else _texts_of(rows, of, lives)
        return _Stream(rows, of, np.searchsorted(of, np.arange(lives + 1)), texts)

    def _as_read(self, rows: Rows, lives: Lives, of: Whole) -> Rows:
        """Events as those behind FOLLOW read them: what is selected of them, in its order."""
        schema, events = self.follow.schema, [name for name in rows.columns if name != "event_time"]
        if [name for name, _ in schema.columns] != ["event_time", *events]:
            seen = stamped(rows, lives, of)
            columns = {"event_time": rows["event_time"]}
            for name, expression, kind in self.projection.columns:
                if name in schema.types:
                    columns[name] = column_of(expression, seen, kind)
            rows = Rows(columns, rows.count)
            rows = rows.take(np.lexsort([*(rows[name].ranks() for name in reversed(schema.order)), of]))
        return rows.having(**{APART: Column(ColumnType.BIGINT, lives.serial[of])}) if self.apart else rows

    # --- states -------------------------------------------------------------------------------------------------------

    @cached_property
    def _empty(self) -> Mapping[str, Any]:
        """The state of a cohort that begins: one for all, because no step changes it."""
        state: dict[str, Any] = {group.name: group.kernel.start(BEGINNING) for group in self.groups}
        return state | {_waiting(name): Log() for name in self._waits()}

    def _settled(self, kept: dict[str, Any], interests: int) -> Whole:
        """As saved, for the groups that there are now."""
        settled = np.full((interests, len(self.groups)), BEGINNING)
        for number, group in enumerate(self.groups):
            settled[:, number] = kept.get(group.name, BEGINNING)
        return settled

    def _waits(self) -> list[str]:
        together = [group.reads for group in self.groups if group.reads in self.merges]
        return [*dict.fromkeys(together), *sorted(self.read - {self.follow.name})]

    def _saved(self, state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for group in self.groups:
            saved = group.kernel.save(state[group.name])
            logs = {name: _log_tree(log) for name, log in saved.logs.items()}
            stores = {name: _store_tree(store) for name, store in saved.stores.items()}
            yield group.name, {"values": saved.values, "logs": logs, "stores": stores}
        for name in self._waits():
            yield _waiting(name), _log_tree(state[_waiting(name)])

    def _loaded(self, kept: dict[str, Any], since: Instant) -> Iterator[tuple[str, Any]]:
        for group in self.groups:
            part = kept.get(group.name)
            if part is None:
                yield group.name, group.kernel.start(since)
                continue
            logs = {name: _tree_log(tree) for name, tree in part["logs"].items()}
            stores = {name: _tree_store(tree) for name, tree in part["stores"].items()}
            yield group.name, group.kernel.load(Saved(part["values"], logs, stores), since)
        for name in self._waits():
            yield _waiting(name), _tree_log(kept[_waiting(name)]) if _waiting(name) in kept else Log()

    def _sources(self, name: str) -> tuple[str, ...]:
        together = self.merges.get(name)
        return tuple(member.name for member in together.members) if together else (name,)


def _texts_of(rows: Rows, of: Whole, lives: int) -> dict[str, _Texts]:
    """The columns of texts by interest."""
    return {
        name: _Texts.by_life(column, of, lives)
        for name, column in rows.columns.items()
        if column.type is ColumnType.STRING
    }


def _places(lives: Lives, serials: Whole) -> Whole:
    """Where interests that are there stand among all, which are in the order of their serials."""
    return np.searchsorted(lives.serial, serials)


def _told(answers: Answers, lives: Lives, chosen: Whole) -> Told:
    """Answers for some interests with their stamps; others than those are left out."""
    rows = answers.rows
    if APART not in rows:
        of = np.full(rows.count, chosen[0])
    else:
        serial = rows[APART].values
        of = np.minimum(np.searchsorted(lives.serial, serial), len(lives.serial) - 1)
        wanted = np.zeros(len(lives.serial), np.bool_)
        wanted[chosen] = True
        kept = np.flatnonzero((lives.serial[of] == serial) & wanted[of])
        rows, of = rows.take(kept), of[kept]
    return Told(Answers(answers.shape, stamped(rows, lives, of)), of)


def _unsettled(told: Told, chosen: Whole, settled: Whole) -> Told:
    """Without answers of some interests from before a time for each, which were told for the interest before."""
    rows = told.answers.rows
    new = rows["event_time"].values >= settled[np.searchsorted(chosen, told.of)]
    return told if new.all() else Told(Answers(told.answers.shape, rows.take(new)), told.of[new])


def _waiting(name: str) -> str:
    return f"waiting:{name}"


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
