"""In which zone does a query live?

A zone key says what a query wants rows for; equal keys share a zone. Queries on the same region (or the same list of
sensors) have the same key, because they want the same rows. Others go by their own name, so that a file of many spreads
over the zones. A query that reads a query has the key of that one: its answers are made there.

A pattern with PARTITION BY does not live in one zone: it is spread over all of them, each partition in one. Plain SELECTs
that read it are spread with it; if anything else reads it, its answers must meet, and it lives in one zone like the others.
"""

from __future__ import annotations

from zlib import crc32

from headwater.query.catalogue import Catalogue, CheckedQuery

MOST_ZONES = 64


def zone_keys(catalogue: Catalogue) -> dict[str, str]:
    """The zone key of every query."""
    keys: dict[str, str] = {}
    for name, query in catalogue.queries.items():
        keys[name] = keys.get(query.reads) or _own_key(query)
    return keys


def spread(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """The queries that live in every zone, with the columns of their stream whose values decide in which a row is wanted."""
    readers: dict[str, list[CheckedQuery]] = {}
    for query in catalogue.queries.values():
        readers.setdefault(query.reads, []).append(query)

    def plain(name: str) -> bool:
        """Whether only plain SELECTs read what a query answers."""
        return all(
            not (reader.correlation or reader.recognition) and plain(reader.name)
            for reader in readers.get(name, ())
        )

    found: dict[str, tuple[str, ...]] = {}
    for name, query in catalogue.queries.items():
        if query.reads in found:
            found[name] = found[query.reads]
        elif query.recognition and query.reads in catalogue.streams and plain(name):
            found[name] = query.recognition.partition
    return {name: columns for name, columns in found.items() if columns}


def zone_of(zone_key: str, zones: int) -> int:
    """The same in every process and after every restart."""
    return crc32(zone_key.encode()) % zones


def _own_key(query: CheckedQuery) -> str:
    correlation = query.correlation
    if correlation and correlation.region:
        return f"region {correlation.region!r}"
    if correlation and correlation.sensors:
        return f"sensors {sorted(correlation.sensors, key=str)!r}"
    return f"query {query.name}"


def default_zones(cores: int) -> int:
    """Two zones a core: enough to share the work out, few enough that the cost of a call does not count."""
    return max(2, min(MOST_ZONES, 2 * cores))
