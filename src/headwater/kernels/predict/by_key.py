"""PREDICT queries that judge the lines of each key separately: conditions on one alias, without a buffer.

Rule 1  Between two steps there is a record for every key: its lines, and the answers that are not over. A step opens the records of keys that
        have rows, or for which a life ends or an answer is due, and processes them like `across_keys`.
Rule 2  In a record the last line of a key is the last of the list. The names of a query's lines and answers contain a number that
        is used once: data of a query that no longer exists is not read again.

Memory  A record for every key with a life that is not over: 48 bytes and the key, for a line 32 and 16 for each dimension, for an answer
        56. Nothing is stored of a key whose lives are over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from headwater.kernels.keys import column_of, different, is_among
from headwater.kernels.predict import answers as answer
from headwater.kernels.predict.across_keys import Spring, WholePredict, WholeState, codes_in_use
from headwater.kernels.predict.geometry.shapes import Lines, Whole
from headwater.kernels.predict.line_grid import AXES
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.model import (
    BEGINNING,
    END,
    Column,
    Instant,
    KeyedStore,
    Ragged,
    Records,
    RowCondition,
    Rows,
    StreamSchema,
    empty_store,
    key_ids,
)

_KEY: Final = "key"


class Names(NamedTuple):
    """The numbers of a query's answers and of its lines in records, and from when it reads rows."""

    answers: int
    lines: int
    since: Instant


@dataclass(frozen=True, slots=True)
class ByKeyState:
    """How far time has come, the records, the numbers of every query, and the next number."""

    watermark: Instant
    store: KeyedStore
    names: tuple[Names, ...]
    next_number: int


Stepped = tuple[ByKeyState, dict[int, list[list[Rows]]]]


class PredictByKey:
    """PREDICT queries with one alias and without a buffer."""

    def __init__(
        self, schema: StreamSchema, queries: Sequence[PredictQuery], conditions: Sequence[RowCondition]
    ) -> None:
        self.queries = tuple(queries)
        self.few = WholePredict(schema, queries, conditions)

    def start(self, since: Instant) -> ByKeyState:
        """Nothing read; rows before `since` are not for these queries."""
        return self._state(BEGINNING, None, {}, 0, since)

    def step(self, state: ByKeyState, rows: Rows, watermark: Instant, counts: Counter[str]) -> Stepped:
        """Take updates, let time pass, emit."""
        keys = self.few.keys_of(rows)
        keys = different(keys if keys.valid is None else keys.take(keys.valid))
        ids = np.concatenate([key_ids([keys], len(keys)), state.store.due(state.watermark, watermark)])
        known, _ = state.store.find(ids)
        after, emitted = self.few.step(self._opened(state, known), rows, watermark, counts)
        records = self._closed(state, after)
        gone = known.ids[~is_among(known.ids, records.ids)]
        return ByKeyState(watermark, state.store.put(records, gone), state.names, state.next_number), emitted

    def save(self, state: ByKeyState) -> dict[str, Any]:
        """All but the records."""
        return {
            "watermark": state.watermark,
            "next": state.next_number,
            "queries": [
                {"name": query.name, "fingerprint": query.fingerprint, "names": list(names)}
                for query, names in zip(self.queries, state.names, strict=True)
            ],
        }

    def load(self, values: dict[str, Any], store: KeyedStore | None, since: Instant) -> ByKeyState:
        """The state of the queries that are unchanged; others begin at `since`."""
        known = {(part["name"], part["fingerprint"]): Names(*part["names"]) for part in values["queries"]}
        begins = max(since, values["watermark"])
        return self._state(values["watermark"], store, known, values["next"], begins)

    def is_blank(self, state: ByKeyState) -> bool:
        """Whether no key is known. Numbers in names are those of `start`, or make no difference: nothing is stored under any."""
        return not len(state.store) and all(names.since == BEGINNING for names in state.names)

    def _state(
        self,
        watermark: Instant,
        store: KeyedStore | None,
        known: dict[tuple[str, str], Names],
        number: int,
        since: Instant,
    ) -> ByKeyState:
        """The state with numbers for new queries. Those that read the same updates, and begin now, share their lines."""
        fresh: dict[Spring, int] = {}
        names = []
        for query, (spring,) in zip(self.queries, self.few.springs, strict=True):
            found = known.get((query.name, query.fingerprint))
            if found is None:
                lines = fresh.setdefault(spring, number)
                number = max(number, lines + 1)
                found = Names(number, lines, since)
                number += 1
            names.append(found)
        like = self._like(names)
        shaped = empty_store(like) if store is None else store.shaped_like(like)
        return ByKeyState(watermark, shaped, tuple(names), number)

    def _like(self, names: Sequence[Names]) -> Records:
        """Records without keys."""
        lists: dict[str, Ragged] = {}
        none, offsets = np.zeros(0, np.int64), np.zeros(1, np.int64)
        no_answers = {"rows": np.zeros((0, answer.FIRST), np.int64), "due": none, "line": none}
        for of, (spring,) in zip(names, self.few.springs, strict=True):
            many = len(spring.alias.values)
            lines = Lines(none, none, none, np.zeros((0, many)), np.zeros((0, many)), np.zeros(0))
            lists[_lines(of)] = Ragged(offsets, lines._asdict())
            lists[_answers(of)] = Ragged(offsets, no_answers)
        keys = Column.of(self.few.key_type, ())
        return Records(np.zeros((0, 2), np.uint64), none, none, {_KEY: keys}, lists)

    # --- records, and the state of the few keys in them -----------------------------------------------------------------

    def _opened(self, state: ByKeyState, records: Records) -> WholeState:
        """The state of some keys, as if there were no others."""
        sensors, code = Sensors.none(self.few.key_type).codes(column_of(records.table[_KEY]))
        numbers = list(dict.fromkeys(names.lines for names in state.names))
        since = {names.lines: (names, names.since) for names in state.names}
        sources = []
        for number in numbers:
            names, begins = since[number]
            lines = _lines_of(records.lists[_lines(names)], code)
            sources.append({"since": begins, "lines": lines})
        queries = []
        for query, names in zip(self.queries, state.names, strict=True):
            queries.append(
                {
                    "name": query.name,
                    "fingerprint": query.fingerprint,
                    "since": names.since,
                    "sources": [numbers.index(names.lines)],
                    "pending": _pending(records.lists[_answers(names)], records.lists[_lines(names)]),
                }
            )
        values = {"watermark": state.watermark, "sources": sources, "queries": queries}
        return self.few.state(values, sensors, BEGINNING)

    def _closed(self, state: ByKeyState, after: WholeState) -> Records:
        """The records of the keys that have a state."""
        codes = codes_in_use(after)
        many, values = len(codes), self.few.values(after, codes)
        keys = after.sensors.only(codes).column(np.arange(many))
        due, lists = np.full(many, END), {}
        places: dict[int, tuple[Whole, Whole]] = {}
        for names, query in zip(state.names, values["queries"], strict=True):
            if names.lines not in places:
                lines = values["sources"][query["sources"][0]]["lines"]
                lists[_lines(names)], places[names.lines] = _list_of_lines(lines, many, due)
            lists[_answers(names)] = _list_of_answers(query["pending"], *places[names.lines], many, due)
        return Records(key_ids([keys], many), due, np.full(many, END), {_KEY: keys}, lists)


def _lines(names: Names) -> str:
    return f"lines {names.lines}"


def _answers(names: Names) -> str:
    return f"answers {names.answers}"


def _lines_of(ragged: Ragged, code: Whole) -> dict[str, Any]:
    """The lines of a list in the form that a line store saves; `code` by record."""
    many = np.diff(ragged.offsets)
    last = np.full(len(code), -1)
    last[code[many > 0]] = ragged.offsets[1:][many > 0] - 1
    return {**ragged.lines, "key": np.repeat(code, many), "last": last, "count": 0, "handed_on_us": 0}


def _pending(answers: Ragged, lines: Ragged) -> dict[str, Any]:
    """The answers of a list in the form that a standing query saves."""
    first = np.repeat(lines.offsets[:-1], np.diff(answers.offsets))
    columns: dict[str, Any] = dict(answers.lines)
    return {
        "rows": np.column_stack([columns["rows"], first + columns["line"]]),
        "due": columns["due"],
        "lines": np.arange(lines.offsets[-1]),
        "corners": np.zeros((0, 2, AXES)),
    }


def _list_of_lines(saved: dict[str, Any], many: int, due: Whole) -> tuple[Ragged, tuple[Whole, Whole]]:
    """The lines of so many keys, the last one of each at the end; the new place of each line, and its key. `due` becomes their ends."""
    key, last = saved["key"], saved["last"]
    is_last = last[key] == np.arange(len(key))
    order = np.lexsort([is_last, key])
    offsets = np.searchsorted(key[order], np.arange(many + 1))
    np.minimum.at(due, key, saved["end"])
    place = np.empty(len(key), np.int64)
    place[order] = np.arange(len(key)) - np.repeat(offsets[:-1], np.diff(offsets))
    return Ragged(offsets, {name: saved[name][order] for name in Lines._fields}), (place, key)


def _list_of_answers(saved: dict[str, Any], place: Whole, key: Whole, many: int, due: Whole) -> Ragged:
    """The answers of so many keys. `place` and `key` by line."""
    line = saved["rows"][:, answer.FIRST]
    of = key[line]
    order = np.argsort(of, kind="stable")
    np.minimum.at(due, of, saved["due"])
    return Ragged(
        np.searchsorted(of[order], np.arange(many + 1)),
        {
            "rows": saved["rows"][order, : answer.FIRST],
            "due": saved["due"][order],
            "line": place[line][order],
        },
    )
