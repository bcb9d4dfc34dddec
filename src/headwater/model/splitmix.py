"""The finisher of splitmix64: every bit of the result depends on every bit of the argument.

It runs on whole arrays of uint64, and on one number in compiled loops, into which it is inlined. The identities of answers
and of stored records are made with it, so it never changes.

Source  Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headwater.compiled import also_in_loops

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: the increment of a counter, and a factor for the first of several parts of a key …"""
SECOND_FACTOR: Final = np.uint64(0xC2B2AE3D27D4EB4F)
"""… for the second …"""
THIRD_FACTOR: Final = np.uint64(0x165667B19E3779F9)
"""… for the third …"""
FOURTH_FACTOR: Final = np.uint64(0x27D4EB2F165667C5)
"""… and for the fourth: odd, so that no bit is lost."""
FACTORS: Final = np.array([GOLDEN, SECOND_FACTOR, THIRD_FACTOR, FOURTH_FACTOR], np.uint64)
"""The four of them, uint64[4]."""
MULTIPLIER: Final = np.uint64(0xBF58476D1CE4E5B9)
"""The first of the two multipliers of splitmix64."""


@also_in_loops
def splitmix64(bits: Any) -> Any:
    """uint64, or uint64[n]; a bijection."""
    bits = (bits ^ (bits >> np.uint64(30))) * MULTIPLIER
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@also_in_loops
def next_of_splitmix64(number: Any) -> Any:
    """uint64: one step of the generator, with a whole number, or its bits, as its state."""
    return splitmix64(np.uint64(number) + GOLDEN)


@also_in_loops
def half_mixed(bits: Any) -> Any:
    """uint64: about half the work of splitmix64, enough to spread keys over a hash table in memory."""
    bits = (bits ^ (bits >> np.uint64(29))) * MULTIPLIER
    return bits ^ (bits >> np.uint64(32))
