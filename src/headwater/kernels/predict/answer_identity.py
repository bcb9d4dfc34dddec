"""What all rows of an answer have in common: its `match_id`, and the keys and update times of its lines, as words of 64 bits.

Rule 1  `match_id` is that of `content_ids` for query, keys, update times and piece, without ordinals: all rows of an answer have one.
Rule 2  The words of a line are adjacent in memory, and so are those of an answer with several rows: reading one word loads the others.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Whole
from headwater.kernels.predict.ordering import SOME, prefetch
from headwater.model import Column
from headwater.model.identity import content_hash
from headwater.model.splitmix import GOLDEN, SECOND_FACTOR, splitmix64

Bits = NDArray[np.uint64]

ID: Final = 4
"""The words of a `match_id`, the first of an answer's words."""

# The words of a line, adjacent: uint64[lines, _KNOWN]. Those that answers may have come first.
_KEY: Final = 0
_T0: Final = 1
_IDENTITY: Final = 2
_HASHES: Final = 3
_KNOWN: Final = 5

_HALF: Final = np.uint64(0xFFFFFFFF)
_PAIRS: Final = np.uint64(0x0000FFFF0000FFFF)
_SINGLES: Final = np.uint64(0x00FF00FF00FF00FF)
_LOW: Final = np.uint64(0x000F000F000F000F)
_ZEROS: Final = np.uint64(0x3030303030303030)
_SIXES: Final = np.uint64(0x0606060606060606)
_ONES: Final = np.uint64(0x0101010101010101)
_TO_LETTERS: Final = np.uint64(ord("a") - ord("9") - 1)


def known_of(query: Column, key: Whole, identity: Whole, t0: Whole) -> Bits:
    """uint64[lines, …]: the words of lines. `query`: its name; `key`, `identity` and `t0` by line."""
    known = np.empty((len(t0), _KNOWN), np.uint64)
    known[:, _KEY], known[:, _T0], known[:, _IDENTITY] = (of.view(np.uint64) for of in (key, t0, identity))
    known[:, _HASHES:] = content_hash([query])[:, 0]
    _begin(known)
    return known


def write_answer_words(
    known: Bits, lines: tuple[Whole, ...], piece: Whole | None, chosen: Whole, ids: Whole, words: Whole
) -> None:
    """Write the identities of answers, int64[answers, ID], and the chosen words of their lines, int64[answers, len(chosen)].

    By answer: `lines`, one per alias, and `piece` (None: 0 for all). `chosen`: 2 · alias for its key, one more for its update time.
    """
    _write(
        known,
        lines,
        np.zeros(1, np.int64) if piece is None else piece,
        chosen,
        ids.view(np.uint64),
        words.view(np.uint64),
    )


@loop(**LOOP)
def _begin(known: Bits) -> None:
    """Hash the key and update time of every line that may be an answer's first: many answers share one."""
    for line in range(len(known)):
        for half, seed in ((0, GOLDEN), (1, SECOND_FACTOR)):
            bits = known[line, _HASHES + half]
            known[line, _HASHES + half] = _go_on(bits, known[line, _IDENTITY], known[line, _T0], seed)


@loop(**LOOP)
def _write(known: Bits, lines: tuple[Whole, ...], piece: Whole, chosen: Whole, ids: Bits, words: Bits) -> Any:
    """Write the words of answers, some at a time. The result has no meaning: it forces the compiler to load lines ahead."""
    seen = np.uint64(0)
    for start in range(0, len(ids), SOME):
        stop = min(start + SOME, len(ids))
        # Hashing is slow, so few lines would be loaded at a time: here all of them are loaded at once.
        for alias in range(len(lines)):
            seen ^= prefetch(known, lines[alias], start, stop)
        for row in range(start, stop):
            _write_row(known, lines, piece[row if len(piece) > 1 else 0], chosen, row, ids, words)
    return seen


@loop(**LOOP, inline="always")
def _write_row(
    known: Bits, lines: tuple[Whole, ...], piece: int, chosen: Whole, row: int, ids: Bits, words: Bits
) -> None:
    """Continue with the other keys and update times and with the piece, and write the chosen words."""
    line = np.uint64(lines[0][row])
    one, other = known[line, _HASHES], known[line, _HASHES + 1]
    for alias in range(1, len(lines)):
        line = np.uint64(lines[alias][row])
        key, time = known[line, _IDENTITY], known[line, _T0]
        one, other = _go_on(one, key, time, GOLDEN), _go_on(other, key, time, SECOND_FACTOR)
    which = np.uint64(piece)
    one, other = splitmix64(one ^ which) + GOLDEN, splitmix64(other ^ which) + SECOND_FACTOR
    ids[row, 0], ids[row, 1] = _eight_digits(one & _HALF), _eight_digits(one >> np.uint64(32))
    ids[row, 2], ids[row, 3] = _eight_digits(other & _HALF), _eight_digits(other >> np.uint64(32))
    for column in range(len(chosen)):
        line = np.uint64(lines[chosen[column] >> 1][row])
        words[row, column] = known[line, _KEY + (chosen[column] & 1)]


@loop(**LOOP)
def _go_on(bits: Any, key: Any, time: Any, seed: Any) -> Any:
    """Continue a hash with a key and an update time."""
    return splitmix64((splitmix64(bits ^ key) + seed) ^ time) + seed


@loop(**LOOP)
def _eight_digits(bits: Any) -> Any:
    """Four bytes as hexadecimal digits, the lowest byte first, in one word: all eight at once."""
    bits = (bits | (bits << np.uint64(16))) & _PAIRS
    bits = (bits | (bits << np.uint64(8))) & _SINGLES
    bits = ((bits >> np.uint64(4)) & _LOW) | ((bits & _LOW) << np.uint64(8))
    is_letter = ((bits + _SIXES) >> np.uint64(4)) & _ONES
    return bits + _ZEROS + is_letter * _TO_LETTERS
