"""In which zone does a query live?

A zone key says what a query wants rows for; equal keys share a zone. Queries on the same region (or the same list of
sensors) have the same key, because they want the same rows. Others go by their own name, so that a file of many spreads
over the zones. A query that reads a query has the key of that one: its answers are made there.

A pattern with PARTITION BY does not live in one zone: it is spread over all of them, each partition in one. Plain SELECTs
that read it are spread with it; if anything else reads it, its answers must meet, and it lives in one zone like the others.
A NEAREST with PER is spread in the same way. One with many points and no PER is scattered: each point lives in one zone.
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
    free = _read_by_plain_selects(catalogue)
    found: dict[str, tuple[str, ...]] = {}
    for name, query in catalogue.queries.items():
        if query.reads in found:
            found[name] = found[query.reads]
        elif query.reads not in catalogue.streams or name not in free:
            continue
        elif query.recognition:
            found[name] = query.recognition.partition
        elif query.neighbourhood and query.neighbourhood.per:
            found[name] = (query.neighbourhood.per,)
    return {name: columns for name, columns in found.items() if columns}


def scattered(catalogue: Catalogue) -> dict[str, str]:
    """The queries that live where the points of a NEAREST live, itself among them; with the name of that one."""
    free = _read_by_plain_selects(catalogue)
    found: dict[str, str] = {}
    for name, query in catalogue.queries.items():
        near = query.neighbourhood
        if query.reads in found:
            found[name] = found[query.reads]
        elif near and near.points and not near.per and query.reads in catalogue.streams and name in free:
            found[name] = name
    return found


def _read_by_plain_selects(catalogue: Catalogue) -> set[str]:
    """The queries that nothing but plain SELECTs read, and so on."""
    readers: dict[str, list[CheckedQuery]] = {}
    for query in catalogue.queries.values():
        readers.setdefault(query.reads, []).append(query)

    def plain(name: str) -> bool:
        return all(
            not (reader.correlation or reader.recognition or reader.neighbourhood) and plain(reader.name)
            for reader in readers.get(name, ())
        )

    return {name for name in catalogue.queries if plain(name)}


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
