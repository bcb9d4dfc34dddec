"""Zones spread evenly over Spark's partitions.

Spark puts a group into the partition its key hashes to; of four zones numbered 0 to 3 three would land in one of two
partitions. So a zone has a *partition key*, the grouping key of its rows: the least number not taken yet that hashes to the partition
the zone is to have. Partition keys depend on the number of partitions alone, which a checkpoint never changes. The column is named `seat`,
as it is in saved state.
"""

from __future__ import annotations

from functools import lru_cache

_SEED = 42


@lru_cache
def partition_keys(zones: int, partitions: int) -> tuple[int, ...]:
    """The partition key of every zone: zone z is in partition z mod `partitions`."""
    taken: list[int] = []
    for zone in range(zones):
        key = 0
        while key in taken or partition_of(key, partitions) != zone % partitions:
            key += 1
        taken.append(key)
    return tuple(taken)


def partition_of(number: int, partitions: int) -> int:
    """Where Spark's hash partitioning puts an `int`: Murmur3 with Spark's seed, modulo the partitions."""
    k = _rotate(number * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
    h = (_rotate(_SEED ^ k, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return (h - (1 << 32) if h >> 31 else h) % partitions


def _rotate(value: int, by: int) -> int:
    return (value << by | value >> 32 - by) & 0xFFFFFFFF
