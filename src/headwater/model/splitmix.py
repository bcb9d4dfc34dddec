"""The finisher of splitmix64: every bit of a number depends on every bit of the one before it.

It runs on whole arrays of uint64 as it stands here, and on one number in compiled loops, into which it is built. The names of answers
and of stored records are made with it, so it never changes.

Source  Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba.extending import register_jitable

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: what a counter goes on by, and a factor for the first of several parts of a key …"""
SECOND: Final = np.uint64(0xC2B2AE3D27D4EB4F)
"""… for the second …"""
THIRD: Final = np.uint64(0x165667B19E3779F9)
"""… and for the third: odd, so that no bit is lost."""


@register_jitable
def splitmix64(bits: Any) -> Any:
    """uint64, or uint64[n]; a bijection."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@register_jitable
def next_of_splitmix64(number: Any) -> Any:
    """uint64: what the generator gives for a whole number, or for the bits of one, as its state."""
    return splitmix64(np.uint64(number) + GOLDEN)


@register_jitable
def half_mixed(bits: Any) -> Any:
    """uint64: about half the work of splitmix64, enough to spread keys over a hash table in memory."""
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))
