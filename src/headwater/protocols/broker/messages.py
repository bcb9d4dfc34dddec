"""The messages of brokers as bytes, and which bytes from a peer are valid.

```
advertise    sources                     there are such sources on my side
retract      sources                     these are gone
subscribe    operator                    send me what is in it
unsubscribe  name                        no longer
events       readings, sets              readings you subscribed to; which result set each is for, where operators have their own
```

Rule 1  Whatever the bytes, the outcome is a message or a PeerError. Every field is checked here, so that later code never
        meets a wrong type, a NaN or an array of the wrong length.
Rule 2  An operator is named by its bytes, which nodes pass on unchanged: it has the same name wherever it goes unchanged.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.model import (
    BEGINNING,
    END,
    Box,
    Circle,
    Filter,
    HostError,
    Message,
    Operator,
    PeerError,
    Polygon,
    Readings,
    Region,
    Source,
    decode,
    encode,
)
from headwater.protocols.cover import Outline, outline

MOST_FILTERS: Final = 64
MOST_FILTERS_WITH_DISTANCE: Final = 6
"""As many as the language allows: whether readings lie near one another, each to each, is dear to decide exactly."""
MOST_KEYS: Final = 10_000
MOST_ROWS: Final = 5_000
"""Readings, or sources, of one message between nodes: what is more goes in several. The longest names fit in a packet then."""
FARTHEST: Final = 1e15
"""Metres or degrees; beyond it areas leave the range of doubles."""
LARGEST_OPERATOR: Final = 1_000_000
"""Bytes of an operator."""
MOST_CORNERS: Final = 10_000
LONGEST_NAME: Final = 255
MOST_WHOLE: Final = 2**62

_COLUMNS: Final = {"source": np.int32, "time": np.int64, "value": np.float64, "number": np.int64}


class Request:
    """An operator with its name and its bytes, made once and passed on as they are."""

    __slots__ = ("_outline", "body", "name", "operator")

    def __init__(self, operator: Operator, body: bytes) -> None:
        self.name = hashlib.blake2b(body, digest_size=12).hexdigest()
        self.operator, self.body = operator, body
        self._outline: Outline | None = None

    @staticmethod
    def of(operator: Operator) -> Request:
        """An operator that has not been encoded yet."""
        return Request(operator, encode(_operator_tree(operator)))

    @property
    def outline(self) -> Outline:
        """What cover needs to know of it."""
        if self._outline is None:
            self._outline = outline(self.operator)
        return self._outline


class Events(NamedTuple):
    """Readings of `sources`. Where operators have result sets of their own, `sets` names them and `of` gives the set of each row.

    Otherwise there are no sets, and `of` is all zeros.
    """

    sources: tuple[tuple[str, str], ...]
    readings: Readings
    sets: tuple[str, ...] = ()
    of: NDArray[np.int32] = np.zeros(0, np.int32)


def advertise(sources: Sequence[Source]) -> Message:
    """There are such sources on this side."""
    return Message("advertise", encode({"sources": [[s.key, s.attribute, s.x, s.y] for s in sources]}))


def retract(sources: Sequence[tuple[str, str]]) -> Message:
    """Sources, by key and attribute, are gone."""
    return Message("retract", encode({"sources": [list(source) for source in sources]}))


def subscribe(request: Request) -> Message:
    """Send what is in an operator."""
    return Message("subscribe", request.body)


def unsubscribe(name: str) -> Message:
    """Send it no longer."""
    return Message("unsubscribe", encode({"name": name}))


def events(content: Events) -> Message:
    """Readings."""
    columns: dict[str, Any] = {name: getattr(content.readings, name) for name in _COLUMNS}
    if content.sets:
        columns |= {"sets": list(content.sets), "of": content.of}
    return Message("events", encode({"sources": [list(pair) for pair in content.sources], **columns}))


def read_sources(body: bytes) -> list[Source]:
    """The sources of `advertise`."""
    sources = []
    for row in _list(_tree(body), "sources"):
        key, attribute, x, y = _row(row, 4)
        sources.append(Source(_text(key), _text(attribute), _coordinate(x), _coordinate(y)))
    return sources


def read_pairs(body: bytes) -> list[tuple[str, str]]:
    """The sources of `retract`."""
    return _pairs(_list(_tree(body), "sources"))


def read_request(body: bytes) -> Request:
    """The operator of `subscribe`, under the name its sender knows it by."""
    _demand(len(body) <= LARGEST_OPERATOR, f"an operator of more than {LARGEST_OPERATOR} bytes")
    return Request(_operator(_tree(body)), bytes(body))


def read_name(body: bytes) -> str:
    """The name of `unsubscribe`."""
    return _text(_tree(body).get("name"))


def read_events(body: bytes) -> Events:
    """The readings of `events`, as they came: not necessarily by time."""
    tree = _tree(body)
    columns = [_column(tree.get(name), name, kind) for name, kind in _COLUMNS.items()]
    pairs = _pairs(_list(tree, "sources"))
    readings = Readings(*columns)
    count = len(readings.source)
    _demand(all(len(column) == count for column in columns), "columns of different length")
    if count:
        _demand(
            readings.source.min() >= 0 and readings.source.max() < len(pairs), "a source that is not named"
        )
        _demand(readings.time.min() >= BEGINNING and readings.time.max() <= END, "a time out of range")
        _demand(bool(np.isfinite(readings.value).all()), "a value that is not a number")
    _demand(len(pairs) <= max(count, MOST_ROWS), "more sources than readings")
    sets, of = _sets(tree, count)
    return Events(tuple(pairs), readings, sets, of)


def nonsense(message: str) -> PeerError:
    """What a peer sent cannot be meant."""
    return PeerError("bad-message", message, advice=["it was dropped; does the peer have another version?"])


def _sets(tree: dict[str, Any], count: int) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    if "sets" not in tree:
        return (), np.zeros(count, np.int32)
    sets = tuple(_text(name) for name in _list(tree, "sets"))
    of = _column(tree.get("of"), "of", np.int32)
    _demand(len(of) == count, "columns of different length")
    _demand(count == 0 or (of.min() >= 0 and of.max() < len(sets)), "a result set that is not named")
    return sets, of


def _operator_tree(operator: Operator) -> dict[str, Any]:
    return {
        "subscription": operator.subscription,
        "within_us": operator.within_us,
        "within_m": operator.within_m,
        "geographic": operator.geographic,
        "since": operator.since,
        "filters": [
            [
                f.attribute,
                _bound(f.low),
                _bound(f.high),
                _region_list(f.region),
                f.keys and list(f.keys),
                f.needed,
                f.returned,
                f.group,
            ]
            for f in operator.filters
        ],
    }


def _operator(tree: dict[str, Any]) -> Operator:
    rows = _list(tree, "filters")
    most = MOST_FILTERS if tree.get("within_m") is None else MOST_FILTERS_WITH_DISTANCE
    _demand(0 < len(rows) <= most, f"an operator has 1 to {most} filters")
    geographic, within_m = _truth(tree.get("geographic")), tree.get("within_m")
    within_us, since = _whole(tree.get("within_us")), _whole(tree.get("since"))
    _demand(0 <= within_us <= END and BEGINNING <= since <= END, "a time out of range")
    return Operator(
        subscription=_text(tree.get("subscription")),
        filters=tuple(_filter(row, geographic) for row in rows),
        within_us=within_us,
        within_m=None if within_m is None else _number(within_m),
        geographic=geographic,
        since=since,
    )


def _filter(row: object, geographic: bool) -> Filter:
    attribute, low, high, region, keys, needed, returned, group = _row(row, 8)
    _demand(
        keys is None or (isinstance(keys, list) and len(keys) <= MOST_KEYS),
        "keys that are not a list, or too many",
    )
    return Filter(
        attribute=_text(attribute),
        low=-math.inf if low is None else _number(low),
        high=math.inf if high is None else _number(high),
        region=None if region is None else _region(region, geographic),
        keys=None if keys is None else tuple(_text(key) for key in keys),
        needed=_truth(needed),
        returned=_truth(returned),
        group=_whole(group),
    )


def _bound(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _region_list(region: Region | None) -> list[Any] | None:
    match region:
        case None:
            return None
        case Box():
            return ["box", region.west, region.south, region.east, region.north]
        case Circle():
            return ["circle", region.x, region.y, region.radius_m]
        case Polygon():
            return ["polygon", *[list(corner) for corner in region.corners]]


def _region(shape: object, geographic: bool) -> Region:
    _demand(isinstance(shape, list) and 4 <= len(shape) <= MOST_CORNERS, "a region without a shape")
    assert isinstance(shape, list)
    match _text(shape[0]), len(shape):
        case "box", 5:
            west, south, east, north = map(_coordinate, shape[1:])
            return Box(west, south, east, north, geographic=geographic)
        case "circle", 4:
            x, y, radius_m = map(_coordinate, shape[1:])
            _demand(radius_m >= 0.0, "a circle without a radius")
            return Circle(x, y, radius_m, geographic=geographic)
        case "polygon", _:
            corners = [_row(corner, 2) for corner in shape[1:]]
            return Polygon(tuple((_coordinate(x), _coordinate(y)) for x, y in corners), geographic=geographic)
    raise nonsense("a region without a shape")


def _tree(body: bytes) -> dict[str, Any]:
    try:
        return decode(body)
    except HostError as fault:
        raise nonsense("bytes that are not a message") from fault


def _list(tree: dict[str, Any], name: str) -> list[Any]:
    value = tree.get(name)
    _demand(isinstance(value, list), f"no list '{name}'")
    assert isinstance(value, list)
    return value


def _row(value: object, width: int) -> list[Any]:
    _demand(isinstance(value, list) and len(value) == width, f"a list that does not have {width} entries")
    assert isinstance(value, list)
    return value


def _pairs(rows: list[Any]) -> list[tuple[str, str]]:
    return [(_text(key), _text(attribute)) for key, attribute in (_row(row, 2) for row in rows)]


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise nonsense("an invalid name")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise nonsense("a name that cannot be written")  # halves of letters, which JSON lets pass
    return value


def _number(value: object) -> float:
    if isinstance(value, int):
        return float(_whole(value))
    if not isinstance(value, float) or not math.isfinite(value):
        raise nonsense("an invalid number")
    return value


def _coordinate(value: object) -> float:
    number = _number(value)
    _demand(abs(number) <= FARTHEST, "an invalid place")
    return number


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -MOST_WHOLE <= value <= MOST_WHOLE:
        raise nonsense("an invalid integer")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise nonsense("an invalid truth value")
    return value


def _column(value: object, name: str, kind: type) -> Any:
    _demand(isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == 1, f"no column '{name}'")
    return value


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise nonsense(otherwise)
