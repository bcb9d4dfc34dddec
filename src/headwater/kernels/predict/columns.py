"""The emitted rows as the columns of answers.

Rule 1  Rows are in order: by time, by their cause, by keys and update times, by piece.
Rule 2  For answers that are emitted at ticks the answers are sorted, not their rows (see `ticks`): there are many more rows.
Rule 3  A column without a reader is not written: neither words of answers nor probabilities.
Rule 4  Answers that are emitted once are cut into slices of time, and each is sorted and written while it is in the cache. Some slices make a block:
        arrays of more than a few megabytes would be fresh memory in every step (see `hosts.memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.predict.answer_identity import ID, Bits, known_of, write_answer_words
from headwater.kernels.predict.geometry.shapes import Real, Whole
from headwater.kernels.predict.ordering import by_places, columns_of, in_order, in_slices, places
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.ticks import Ticks, Written, write_ticks
from headwater.model import Column, ColumnType, Rows, strings

SLICE: Final = 32_768
"""About so many rows are sorted at once, so that they stay in the cache."""
BLOCK: Final = 4 * SLICE
"""Rows of a block, about."""
PROBABILITY: Final = "probability"
_BEGINS: Final = "begins"
_WORD: Final = 8


@dataclass(frozen=True, slots=True)
class Said:
    """Answers with rows to emit. By answer: `begins`; `lines`, one per alias; `when` it is emitted, at ticks or once.

    If None: answers end when they are emitted, and `order` (the cause), `piece` and `withdrawn` are 0 for all.
    """

    begins: Whole
    lines: tuple[Whole, ...]
    when: Ticks | Whole
    ends: Whole | None = None
    order: Whole | None = None
    piece: Whole | None = None
    withdrawn: Whole | None = None

    def sorting(self, place: Whole) -> Whole:
        """The permutation that sorts rows, or with ticks answers. `place`: see `places`."""
        if isinstance(self.when, Ticks) and self.piece is None:
            return by_places(self.lines, place)
        keys = [*(place.take(line) for line in self.lines), self.piece]
        if not isinstance(self.when, Ticks):
            keys = [self.when, self.order, *keys]
        return in_order([key for key in keys if key is not None])


@dataclass(frozen=True, slots=True)
class Speech:
    """Emitted rows, in any order: `rows` int64[answers, …], and what their columns `say`; `chance` float64[…], the probability of every row or
    NaN, empty if no query reads it."""

    rows: Whole
    say: Callable[[Whole], Said]
    chance: Real


def blocks(
    query: PredictQuery,
    sensors: Sensors,
    code: Whole,
    t0: Whole,
    speech: Speech,
    polygons: Sequence[Real] | None,
) -> list[Rows]:
    """The answers of a query, in order, one block after the other. `code` and `t0` by line."""
    keys = sensors.column(code)
    known = known_of(_always(query.name, 1), _words(keys.values), sensors.identity[code], t0)
    said = speech.say(speech.rows.T)
    place = places(said.lines, sensors.rank[code], t0)
    chosen = np.flatnonzero([query.is_read(name) for name in _names(query)])
    if isinstance(said.when, Ticks):
        written = _at_ticks(speech, said, place, known, chosen)
        return [_rows(query, keys, said, written, chosen)]
    found = []
    order, bounds = in_slices(said.when, SLICE)
    for slices in _together(bounds):
        written, said, rows = _once(speech, order, slices, place, known, chosen)
        block = _rows(query, keys, said, written, chosen)
        if polygons is not None:
            block = block.having(polygon=strings([_text(polygons[row]) for row in rows.tolist()]))
        found.append(block)
    return found


def _together(bounds: Whole) -> Iterator[list[tuple[int, int]]]:
    """Slices from one to another that have rows, as many as make a block."""
    some: list[tuple[int, int]] = []
    count = 0
    for start, stop in pairwise(bounds.tolist()):
        if count and count + stop - start > BLOCK:
            yield some
            some, count = [], 0
        if start < stop:
            some.append((start, stop))
            count += stop - start
    if some:
        yield some


def _at_ticks(speech: Speech, said: Said, place: Whole, known: Bits, chosen: Whole) -> Written:
    """The rows of answers that are emitted at ticks."""
    order = said.sorting(place)
    said = speech.say(columns_of(speech.rows, order))
    assert isinstance(said.when, Ticks)
    many = len(chosen)
    chosen = chosen if many else np.zeros(1, np.int64)  # loops take no tuple without columns
    answer_words = np.empty((len(order), ID + len(chosen)), np.int64)
    of_lines = chosen[chosen < 2 * len(said.lines)]
    write_answer_words(known, said.lines, said.piece, of_lines, answer_words[:, :ID], answer_words[:, ID:])
    if len(of_lines) < len(chosen):
        answer_words[:, -1] = said.begins
    written = write_ticks(said.when, answer_words, speech.chance)
    return written._replace(words=written.words[:many])


def _once(
    speech: Speech, order: Whole, slices: list[tuple[int, int]], place: Whole, known: Bits, chosen: Whole
) -> tuple[Written, Said, Whole]:
    """The rows of some slices of answers that are emitted once, their words, and where they came from."""
    first, count = slices[0][0], slices[-1][1] - slices[0][0]
    rows = np.empty(count, np.int64)
    found = np.empty((speech.rows.shape[1], count), np.int64)
    of_lines = chosen[chosen < 2 * len(speech.say(found).lines)]
    ids, words = np.empty((count, ID), np.int64), np.empty((len(of_lines), count), np.int64)
    for start, stop in slices:
        some, of = slice(start - first, stop - first), order[start:stop]
        part = columns_of(speech.rows, of)
        inner = speech.say(part).sorting(place)
        rows[some] = of[inner]
        found[:, some] = part.take(inner, axis=1)
        said = speech.say(found[:, some])
        write_answer_words(known, said.lines, said.piece, of_lines, ids[some], words[:, some].T)
    said = speech.say(found)
    assert not isinstance(said.when, Ticks)
    chance = speech.chance.take(rows) if len(speech.chance) else speech.chance
    begins = (said.begins,) if len(of_lines) < len(chosen) else ()
    return Written(said.when, ids, (*words, *begins), chance), said, rows


def _names(query: PredictQuery) -> list[str]:
    """The columns that are words of answers: of each alias its key and its update time, then when they begin."""
    if len(query.aliases) == 1:
        return ["key", "update_time", _BEGINS]
    return [*(f"{alias.name}_{what}" for alias in query.aliases for what in ("key", "time")), _BEGINS]


def _rows(query: PredictQuery, keys: Column, said: Said, written: Written, chosen: Whole) -> Rows:
    """The rows as columns of their types. `keys`: by line."""
    times, count, names = ColumnType.TIMESTAMP, len(written.time), _names(query)
    columns = {
        "query": _always(query.name, count),
        "event_time": Column(times, written.time),
        "match_id": Column(ColumnType.ID, written.ids.reshape(-1).view("S32")),
    }
    for place, word in zip(chosen.tolist(), written.words, strict=True):
        is_key = place % 2 == 0 and place < len(names) - 1
        columns[names[place]] = (
            Column(keys.type, _of_words(word, keys.values.dtype), None, keys.names)
            if is_key
            else Column(times, word)
        )
    if query.is_read("ends"):
        columns["ends"] = Column(times, written.time if said.ends is None else said.ends)
    if query.is_read(PROBABILITY):
        columns[PROBABILITY] = _probability(written.chance)
    if query.is_read("withdrawn"):
        withdrawn = np.zeros(count, np.bool_) if said.withdrawn is None else said.withdrawn == 1
        columns["withdrawn"] = Column(ColumnType.BOOLEAN, withdrawn)
    return Rows(columns, count)


def _words(values: NDArray[Any]) -> Whole:
    """Numbers of any type as words of 64 bits."""
    return values.view(np.int64) if values.itemsize == _WORD else values.astype(np.int64)


def _of_words(words: Whole, kind: np.dtype[Any]) -> NDArray[Any]:
    """As numbers of their type again."""
    return words.view(kind) if kind.itemsize == _WORD else words.astype(kind)


def _always(name: str, count: int) -> Column:
    return Column(ColumnType.STRING, np.zeros(count, np.int32), None, np.array([name], object))


def _probability(chance: Real) -> Column:
    """NULL if not known."""
    is_known = ~np.isnan(chance)
    if is_known.all():
        return Column(ColumnType.DOUBLE, chance)
    return Column(ColumnType.DOUBLE, np.where(is_known, chance, 0.0), is_known)


def _text(corners: Real) -> str | None:
    """A polygon as text; NULL if there is none."""
    if not len(corners):
        return None
    return "(" + ", ".join(f"({_number(a)}, {_number(b)})" for a, b in corners.tolist()) + ")"


def _number(value: float) -> str:
    """Seconds to the nearest thousandth of a microsecond, without rounding noise."""
    return np.format_float_positional(round(value, 9) + 0.0, trim="-")
