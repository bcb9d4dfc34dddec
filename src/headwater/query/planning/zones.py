"""In which zone does a query live?

A zone key says which rows a query needs; equal keys share a zone. Queries on the same region (or the same list of
sensors) have the same key, because they need the same rows. Others use their own name, so that a file of many is spread
over the zones. A query that reads a query has the key of that one: its answers are made there.

A pattern with PARTITION BY does not live in one zone: it is spread over all of them, each partition in one. Plain SELECTs
that read it are spread with it; if anything else reads it, its answers must meet, and it lives in one zone like the others.
A NEAREST with PER is spread in the same way. One with many points and no PER is scattered: each point lives in one zone.
A SUPPRESS is spread by the key of its sensors, and so is a PREDICT of single values that reads it, or a stream; a FENCE whose fences
stand still is spread by the key of its objects.

A PREDICT of pairs is shared: a pair is answered in the zone that has the tile with the lower corner of where its two lines can be
near one another (see the kernel), which is not known before the lines are there. So every zone has the lines of all sensors, that is, a copy of each
SUPPRESS and plain SELECT on the way to it; one of the copies emits its answers. With BUFFER, which counts all updates, or
read by other operators, it lives in one zone.

A FOLLOW is shared in the same way: each zone has all events, and follows the focal objects that live in it. What is downstream of it
lives with it. So is a FENCE whose fences move: each zone has all fences, and the objects that live in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.operator_pairs import needs_own_zone_only

MOST_ZONES = 64


def zone_keys(catalogue: Catalogue) -> dict[str, str]:
    """The zone key of every query."""
    keys: dict[str, str] = {}
    for name, query in catalogue.queries.items():
        read = [keys[source] for source in (query.reads, *query.further_reads) if source in keys]
        keys[name] = read[0] if read else query.operator.zone_key or f"query {name}"
        for other in read[1:]:  # queries that are read together live together, with all that read them
            keys = {named: keys[name] if key == other else key for named, key in keys.items()}
    return keys


def spread(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """The queries that live in every zone, with the columns of their stream whose values decide which zone needs a row."""
    free = _read_by_plain_selects(catalogue)
    found: dict[str, tuple[str, ...]] = {}
    for name, query in catalogue.queries.items():
        if query.reads in found:
            found[name] = found[query.reads]
        elif query.reads not in catalogue.streams or name not in free:
            continue
        else:
            found[name] = query.operator.spread_by(catalogue.streams[query.reads].schema)
    return {name: columns for name, columns in found.items() if columns}


def shared(catalogue: Catalogue) -> set[str]:
    """The queries that live in every zone as copies, for a PREDICT of pairs, a FOLLOW or a FENCE; and these, each zone with its share."""
    components: dict[str, list[CheckedQuery]] = {}
    keys = zone_keys(catalogue)
    for name, query in catalogue.queries.items():
        components.setdefault(keys[name], []).append(query)
    found: set[str] = set()
    for members in components.values():
        joining = {query.name for query in members if is_shared(query)}
        if joining and all(_fits(query, joining, catalogue) for query in members):
            found.update(query.name for query in members)
    return found


def is_shared(query: CheckedQuery) -> bool:
    """Whether each zone answers a share of it; what runs downstream of a FOLLOW lives where that does."""
    return query.operator.is_shared and query.downstream_of in (None, query.name)


def _fits(query: CheckedQuery, joining: Iterable[str], catalogue: Catalogue) -> bool:
    """Whether a query may live in every zone beside a PREDICT of pairs, a FOLLOW or a FENCE."""
    if query.downstream_of not in (None, query.name):
        return True
    match query.operator.beside_shared:
        case "always":
            return True
        case "before":
            return not _reads_any(query, joining, catalogue)
        case "never":
            return False


def _reads_any(query: CheckedQuery, names: Iterable[str], catalogue: Catalogue) -> bool:
    """Whether a query reads one of some queries, at once or by way of others."""
    seen: set[str] = set()
    ahead = [query]
    while ahead:
        reading = ahead.pop()
        sources = {reading.reads, *reading.further_reads} & catalogue.queries.keys() - seen
        if not sources.isdisjoint(names):
            return True
        seen |= sources
        ahead += (catalogue.queries[source] for source in sources)
    return False


def scattered(catalogue: Catalogue) -> dict[str, str]:
    """The queries that live where the points of a NEAREST live, itself among them; with the name of that one."""
    free = _read_by_plain_selects(catalogue)
    found: dict[str, str] = {}
    for name, query in catalogue.queries.items():
        if query.reads in found:
            found[name] = found[query.reads]
        elif query.operator.is_scattered and query.reads in catalogue.streams and name in free:
            found[name] = name
    return found


def _read_by_plain_selects(catalogue: Catalogue) -> set[str]:
    """The queries that nothing but plain SELECTs read, and so on; a SUPPRESS may also be read by a PREDICT of its values."""
    readers: dict[str, list[CheckedQuery]] = {}
    for query in catalogue.queries.values():
        for source in (query.reads, *query.further_reads):
            readers.setdefault(source, []).append(query)

    found: set[str] = set()
    for name, query in reversed(list(catalogue.queries.items())):  # each before those it reads
        if all(
            needs_own_zone_only(reader.operator, query.operator) and reader.name in found
            for reader in readers.get(name, ())
        ):
            found.add(name)
    return found


def zone_of(zone_key: str, zones: int) -> int:
    """The same in every process and after every restart."""
    return crc32(zone_key.encode()) % zones


def default_zones(cores: int) -> int:
    """Two zones a core: enough to share the work out, few enough that the cost of a call does not count."""
    return max(2, min(MOST_ZONES, 2 * cores))
