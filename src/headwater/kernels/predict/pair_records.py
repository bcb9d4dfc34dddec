"""Lines and answers of several lines as records by key, and the state of a few keys from their records.

Rule 1  A record has all lines of its key, one list for each source, the oldest first. Lines of a key are numbered in order of arrival; the record has the
        number of its first one. Lines are removed in the same order, so numbers have no gaps.
Rule 2  An answer is in the record of its first line's key. It refers to its lines by their keys and numbers.
Rule 3  If a partner's record is not among the opened ones, the answer is set aside: it does not change.
Rule 4  A record is due when one of its lines is over, and when one of its answers may have rows to emit.

Memory  48 bytes a record and the key; for a line 32, 16 for each dimension and 9 for each query, with tiles of zones 32 more; for an
        answer of two lines 80, for each further one 24.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.keys import column_of
from headwater.kernels.predict import answers as answer
from headwater.kernels.predict import pairs as pairing
from headwater.kernels.predict.across_keys import WholePredict, WholeState, codes_in_use
from headwater.kernels.predict.geometry.shapes import Lines, Whole
from headwater.kernels.predict.line_grid import AXES
from headwater.kernels.predict.neighbours import Owned
from headwater.kernels.predict.pair_queries import PairStanding
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.standing_queries import Standing
from headwater.model import BEGINNING, END, Column, Ids, Instant, Ragged, Records, key_ids
from headwater.model.keyed_records import Values

Mask = NDArray[np.bool_]

_KEY: Final = "key"
_NO_IDS: Final[Ids] = np.zeros((0, 2), np.uint64)
_NONE: Final[Whole] = np.zeros(0, np.int64)


class Part(NamedTuple):
    """A query: its place among the kernel's, its number in records, from when it reads rows, and the numbers of its sources."""

    place: int
    number: int
    since: Instant
    sources: tuple[int, ...]


class Frame(NamedTuple):
    """The part of the state outside records: from when each source reads rows, and the queries."""

    since: tuple[Instant, ...]
    parts: tuple[Part, ...]

    @property
    def sources(self) -> list[tuple[int, ...]]:
        """The numbers of every query's sources."""
        return [part.sources for part in self.parts]


class Aside(NamedTuple):
    """Answers of a query whose partners are elsewhere: the key of each, and its columns."""

    owner: Ids
    columns: dict[str, Any]


class Opened(NamedTuple):
    """The state of the keys of some records. By source, `first`: int64[codes], the number of each key's first line; `key`: int64[lines], the code
    of each former line. By query, `aside`. `changes` bool[records]: it has an answer with a touched key."""

    state: WholeState
    first: tuple[Whole, ...]
    key: tuple[Whole, ...]
    aside: tuple[Aside, ...]
    changes: Mask


class Closed(NamedTuple):
    """Records of all keys that have lines; `changes` as in `Opened`."""

    records: Records
    changes: Mask


class PairRecords:
    """Records for the queries of a kernel that has all keys in memory."""

    def __init__(self, few: WholePredict) -> None:
        self.few = few

    def frame(self, state: WholeState) -> Frame:
        """The part of a state outside records."""
        parts = [
            Part(n, n, query_state.since, query_state.sources) for n, query_state in enumerate(state.queries)
        ]
        return Frame(tuple(source.since for source in state.sources), tuple(parts))

    def like(self, frame: Frame) -> Records:
        """Records without keys."""
        offsets, lists = np.zeros(1, np.int64), dict[str, Ragged]()
        table: dict[str, Values] = {_KEY: Column.of(self.few.key_type, ())}
        for part in frame.parts:
            standing = self.few.standing[part.place]
            for spring, source in zip(self.few.springs[part.place], part.sources, strict=True):
                many = len(spring.alias.values)
                none = Lines(_NONE, _NONE, _NONE, np.zeros((0, many)), np.zeros((0, many)), np.zeros(0))
                known: Any = lists[_lines(source)].lines if _lines(source) in lists else none._asdict()
                lists[_lines(source)] = Ragged(offsets, {**known, **_nothing_by_line(standing, part)})
                table[_first(source)] = _NONE
            lists[_answers(part)] = Ragged(offsets, _no_answers(standing))
        return Records(_NO_IDS, _NONE, _NONE, table, lists)

    def lines(self, frame: Frame, records: Records) -> list[Owned]:
        """The lines of records, by source."""
        found = []
        for source in range(len(frame.since)):
            ragged: Any = records.lists[_lines(source)]
            lines = Lines(*(ragged.lines[name] for name in Lines._fields))
            found.append(Owned(lines, np.repeat(records.ids, np.diff(ragged.offsets), axis=0)))
        return found

    def partners(self, frame: Frame, records: Records) -> Ids:
        """The keys of all lines that share an answer with lines of these records."""
        found: list[Any] = [records.lists[_answers(part)].lines["partner"] for part in frame.parts]
        return np.concatenate([_NO_IDS, *(ids.reshape(-1, 2) for ids in found)])

    # --- the state of some keys from their records ----------------------------------------------------------------------

    def opened(
        self,
        frame: Frame,
        records: Records,
        watermark: Instant,
        touched: Mask,
        since: Instant = BEGINNING,
    ) -> Opened:
        """The state of some keys, as if there were no others. `touched` by record; queries that are not in the frame begin at `since`."""
        table: Any = records.table
        sensors, code = Sensors.none(self.few.key_type).codes(column_of(table[_KEY]))
        sources: list[Any] = [None] * len(frame.since)
        first, key = [_NONE] * len(sources), [_NONE] * len(sources)
        for source in {source for part in frame.parts for source in part.sources}:
            ragged = records.lists[_lines(source)]
            saved = _saved_lines(ragged, code)
            sources[source] = {"since": frame.since[source], "lines": saved}
            first[source], key[source] = np.empty(len(code), np.int64), saved["key"]
            first[source][code] = table[_first(source)]
        queries, aside, changes = [], [], np.zeros(len(records), np.bool_)
        for part in frame.parts:
            pending, away = self._opened_answers(part, records, touched, changes)
            aside.append(away)
            query = self.few.queries[part.place]
            queries.append(
                {
                    "name": query.name,
                    "fingerprint": query.fingerprint,
                    "since": part.since,
                    "sources": list(part.sources),
                    "pending": pending,
                }
            )
        values = {"watermark": watermark, "sources": sources, "queries": queries}
        state = self.few.state(values, sensors, since)
        return Opened(state, tuple(first), tuple(key), tuple(aside), changes)

    def _opened_answers(
        self, part: Part, records: Records, touched: Mask, changes: Mask
    ) -> tuple[dict[str, Any], Aside]:
        """A query's answers in its saved form, and those that are set aside. `changes` becomes true for records that share answers with `touched` ones."""
        standing, listed = self.few.standing[part.place], records.lists[_answers(part)]
        columns: Any = listed.lines
        owner = np.repeat(np.arange(len(records)), np.diff(listed.offsets))
        partners = [_places_of(ids, records.ids) for ids in columns["partner"].swapaxes(0, 1)]
        who = np.column_stack([owner, *partners])
        is_here = (who >= 0).all(axis=1)
        away = {name: of[~is_here] for name, of in columns.items()}
        aside = Aside(records.ids[owner[~is_here]], away)
        changes[owner[is_here & touched[who].any(axis=1)]] = True
        lines, is_there = np.empty_like(columns["number"]), is_here.copy()
        for column, place in enumerate(_positions(standing)):
            source, of = part.sources[place], who[:, column]
            offsets, first = records.lists[_lines(source)].offsets, np.asarray(records.table[_first(source)])
            at = offsets[of] + columns["number"][:, column] - first[of]
            is_there &= (at >= offsets[of]) & (at < offsets[of + 1])
            lines[:, column] = at * len(part.sources) + place
        saved = _saved_answers(standing, lines[is_there], columns["rows"][is_there], columns["due"][is_there])
        return {**saved, **_saved_by_line(standing, part, records)}, aside

    # --- records from a state --------------------------------------------------------------------------------------------

    def closed(self, state: WholeState, opened: Opened | None, touched: Ids, watermark: Instant) -> Closed:
        """The records of the keys that have a state; `opened`: the records that the state was made from, if any."""
        codes = codes_in_use(state)
        many, values = len(codes), self.few.values(state, codes)
        keys = state.sensors.only(codes).column(np.arange(many))
        ids = key_ids([keys], many)
        is_touched, changes = _places_of(ids, touched) >= 0, np.zeros(many, np.bool_)
        due, lists = np.full(many, END), dict[str, Ragged]()
        table: dict[str, Values] = {_KEY: keys}
        listed = []
        for source, of in enumerate(state.sources):
            first = _first_numbers(state, source, opened, codes)
            some = _Listed.of(values["sources"][source]["lines"], first, many)
            np.minimum.at(due, some.key, some.end + of.spring.within_us)
            table[_first(source)], lists[_lines(source)] = first, some.ragged()
            listed.append(some)
        for part in self.frame(state).parts:
            standing, saved = self.few.standing[part.place], values["queries"][part.place]["pending"]
            for place, source in enumerate(part.sources):
                more = _by_line(standing, part, saved, place, listed[source])
                ragged = lists[_lines(source)]
                lists[_lines(source)] = Ragged(ragged.offsets, {**ragged.lines, **more})
            mine = [listed[source] for source in part.sources]
            away = Aside(_NO_IDS, _no_answers(standing)) if opened is None else opened.aside[part.place]
            lists[_answers(part)], owner = _list_of_answers(standing, saved, mine, ids, away, due, is_touched)
            changes[owner] = True
        due = np.clip(due, watermark, END)
        return Closed(Records(ids, due, np.full(many, END), table, lists), changes)


class _Listed(NamedTuple):
    """Lines as a source saves them: the key of each, its end and its number; the order in which they are listed, and where each key's begin."""

    saved: dict[str, Any]
    key: Whole
    end: Whole
    number: Whole
    order: Whole
    offsets: Whole

    @classmethod
    def of(cls, saved: dict[str, Any], first: Whole, many: int) -> _Listed:
        """The oldest of a key first; of those of one time its last line last."""
        key = saved["key"]
        is_last = saved["last"][key] == np.arange(len(key))
        order = np.lexsort([is_last, saved["t0"], key])
        offsets = np.searchsorted(key[order], np.arange(many + 1))
        number = np.empty(len(key), np.int64)
        number[order] = np.arange(len(key)) + np.repeat(first - offsets[:-1], np.diff(offsets))
        return cls(saved, key, saved["end"], number, order, offsets)

    def ragged(self) -> Ragged:
        return Ragged(self.offsets, {name: self.saved[name][self.order] for name in Lines._fields})


def _first_numbers(state: WholeState, source: int, opened: Opened | None, codes: Whole) -> Whole:
    """The number of the first line of every key, after removed ones."""
    found = np.zeros(len(state.sensors.rank), np.int64)
    if opened is not None:
        known, key = opened.first[source], opened.key[source]
        found[: len(known)] = known
        gone = ~state.sources[source].lines.stored[: len(key)]
        found += np.bincount(key[gone], minlength=len(found))
    return found[codes]


def _list_of_answers(
    standing: Standing | PairStanding,
    saved: dict[str, Any],
    mine: Sequence[_Listed],
    ids: Ids,
    away: Aside,
    due: Whole,
    is_touched: Mask,
) -> tuple[Ragged, Whole]:
    """The answers of so many keys, and the keys that have some with `is_touched`. `due` becomes that of answers."""
    lines, rows, due_of_all = _answers_in(standing, saved, [some.end for some in mine])
    keys, numbers = np.empty_like(lines), np.empty_like(lines)
    for column, place in enumerate(_positions(standing)):
        at = lines[:, column] // len(mine)
        keys[:, column], numbers[:, column] = mine[place].key[at], mine[place].number[at]
    owner = _places_of(away.owner, ids)
    owner, is_there = np.concatenate([keys[:, 0], owner[owner >= 0]]), owner >= 0
    columns = {
        "rows": np.concatenate([rows, away.columns["rows"][is_there]]),
        "number": np.concatenate([numbers, away.columns["number"][is_there]]),
        "partner": np.concatenate([ids[keys[:, 1:]], away.columns["partner"][is_there]]),
        "due": np.concatenate([due_of_all, away.columns["due"][is_there]]),
    }
    np.minimum.at(due, owner, columns["due"])
    order = np.argsort(owner, kind="stable")
    offsets = np.searchsorted(owner[order], np.arange(len(ids) + 1))
    changed = keys[is_touched[keys].any(axis=1), 0]
    return Ragged(offsets, {name: of[order] for name, of in columns.items()}), changed


# --- how queries of the two kinds save their pending answers -------------------------------------------------------------


def _positions(standing: Standing | PairStanding) -> list[int]:
    """The source of each line of an answer."""
    source = standing.plan.source.tolist()
    if isinstance(standing, PairStanding):
        return [source[standing.left], source[standing.right]]
    return source


def _no_answers(standing: Standing | PairStanding) -> dict[str, Any]:
    many = len(standing.query.aliases)
    width = pairing.PAIR - 1 if isinstance(standing, PairStanding) else answer.FIRST
    return {
        "rows": np.zeros((0, width), np.int64),
        "number": np.zeros((0, many), np.int64),
        "partner": np.zeros((0, many - 1, 2), np.uint64),
        "due": _NONE,
    }


def _answers_in(
    standing: Standing | PairStanding, saved: dict[str, Any], ends: Sequence[Whole]
) -> tuple[Whole, Whole, Whole]:
    """The lines of answers, their other columns, and when each may be due; `ends` of lines by source.

    A pair whose known lives are outdated is due when the first of the present ones ends, at the latest.
    """
    if not isinstance(standing, PairStanding):
        return saved["rows"][:, answer.FIRST :], saved["rows"][:, : answer.FIRST], saved["due"]
    pairs, both = saved["pairs"], saved["pairs"][:, pairing.LINES]
    lines = np.column_stack([both >> pairing.SHIFT, both & pairing.RIGHT])
    one, other = (
        ends[place][lines[:, column] // len(ends)] for column, place in enumerate(_positions(standing))
    )
    knows, due = pairs[:, pairing.LIVES] == one + other, pairs[:, pairing.DUE]
    due = np.where(knows, due, np.minimum(due, np.minimum(one, other)))
    return lines, pairs[:, pairing.LINES + 1 :], due


def _saved_answers(
    standing: Standing | PairStanding, lines: Whole, rows: Whole, due: Whole
) -> dict[str, Any]:
    """The inverse."""
    if isinstance(standing, PairStanding):
        return {"pairs": np.column_stack([(lines[:, 0] << pairing.SHIFT) | lines[:, 1], rows])}
    return {"rows": np.column_stack([rows, lines]), "due": due}


def _nothing_by_line(standing: Standing | PairStanding, part: Part) -> dict[str, Any]:
    """What a query stores of each line: whether it exists, its promised end, the corners of its box."""
    columns: dict[str, Any] = {f"there {part.number}": np.zeros(0, np.bool_)}
    if isinstance(standing, PairStanding):
        columns[f"promised {part.number}"] = _NONE
    if standing.tile > 0.0:
        columns[f"corners {part.number}"] = np.zeros((0, 2, AXES))
    return columns


def _by_line(
    standing: Standing | PairStanding, part: Part, saved: dict[str, Any], place: int, listed: _Listed
) -> dict[str, Any]:
    """What a query stores of the lines of one of its sources, in the order of their list."""
    many, count = len(part.sources), len(listed.key)
    columns = {name: np.zeros((count, *of.shape[1:]), of.dtype) for name, of in _nothing_by_line(standing, part).items()}  # fmt: skip
    mine = saved["lines"] % many == place
    there = saved["lines"][mine] // many
    columns[f"there {part.number}"][there] = True
    if standing.tile > 0.0 and len(saved["corners"]):
        columns[f"corners {part.number}"][there] = saved["corners"][mine]
    if isinstance(standing, PairStanding):
        mine = saved["known"] % many == place
        columns[f"promised {part.number}"][saved["known"][mine] // many] = saved["promised"][mine]
    return {name: of[listed.order] for name, of in columns.items()}


def _saved_by_line(standing: Standing | PairStanding, part: Part, records: Records) -> dict[str, Any]:
    """The inverse, for all sources."""
    many = len(part.sources)
    lines, corners = [_NONE], [np.zeros((0, 2, AXES))]
    known, promised = [_NONE], [_NONE]
    for place, source in enumerate(part.sources):
        columns: Any = records.lists[_lines(source)].lines
        there = np.flatnonzero(columns[f"there {part.number}"])
        lines.append(there * many + place)
        if standing.tile > 0.0:
            corners.append(columns[f"corners {part.number}"][there])
        if isinstance(standing, PairStanding):
            known.append(np.arange(len(columns["t0"])) * many + place)
            promised.append(columns[f"promised {part.number}"])
    saved = {"lines": np.concatenate(lines), "corners": np.concatenate(corners)}
    if isinstance(standing, PairStanding):
        saved |= {"known": np.concatenate(known), "promised": np.concatenate(promised)}
    return saved


def _saved_lines(ragged: Ragged, code: Whole) -> dict[str, Any]:
    """The lines of a list in the form that a line store saves; `code` by record."""
    many = np.diff(ragged.offsets)
    last = np.full(len(code), -1)
    last[code[many > 0]] = ragged.offsets[1:][many > 0] - 1
    lines = {name: ragged.lines[name] for name in Lines._fields}
    return {**lines, "key": np.repeat(code, many), "last": last, "count": 0, "handed_on_us": 0}


def _places_of(ids_needed: Ids, ids: Ids) -> Whole:
    """The places of keys among others; -1: not there."""
    if not len(ids):
        return np.full(len(ids_needed), -1)
    order = np.argsort(ids[:, 0], kind="stable")
    at = order[np.minimum(np.searchsorted(ids[order, 0], ids_needed[:, 0]), len(ids) - 1)]
    return np.where((ids[at] == ids_needed).all(axis=1), at, -1)


def _lines(source: int) -> str:
    return f"lines {source}"


def _first(source: int) -> str:
    return f"first {source}"


def _answers(part: Part) -> str:
    return f"answers {part.number}"
