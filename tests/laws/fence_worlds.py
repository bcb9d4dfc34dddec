"""Worlds of FENCE: cars that move, fences that stand, drones whose fences move with them, and what is asked of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import shapely
from hypothesis import strategies as st

from headwater.model import (
    EARTH_RADIUS_M,
    END,
    GEOMETRY,
    SECOND,
    Column,
    ColumnType,
    Instant,
    PlaceColumns,
    Rows,
    StreamSchema,
)
from headwater.query.planning.plan import Plan, compile_text
from tests.laws.follow_operators import as_table, declared
from tests.laws.oracles import fence
from tests.laws.oracles.fence import Circle, Fencing, Rings, Shape, Update

Row = dict[str, Any]
WORDS = ("enter", "exit", "inside", "outside", "cross")
SECONDS = range(1_000, 1_020)
KINDS = ("standing", "radius", "box", "shape", "roaming", "roaming box", "roaming shape", "same")

# Corners on a small grid: concave ones, holes, two polygons, a hair of one, and a large one.
POLYGONS: tuple[tuple[tuple[tuple[int, int], ...], ...], ...] = (
    (((0, 0), (3, 0), (3, 3), (0, 3), (0, 0)),),
    (((0, 0), (4, 0), (4, 4), (2, 1), (0, 4), (0, 0)),),
    (((0, 0), (6, 0), (6, 6), (0, 6), (0, 0)), ((2, 2), (4, 2), (4, 4), (2, 4), (2, 2))),
    (((0, 0), (1, 0), (0, 1), (0, 0)), ((3, 3), (5, 3), (5, 5), (3, 3))),
    (((1, 0), (2, 3), (0, 2), (1, 0)),),
    (((0, 0), (7, 1), (0, 0), (0, 0)), ((0, 0), (7, 1), (7, 2), (0, 0))),
    (((-50, -50), (50, -50), (50, 50), (-50, 50), (-50, -50)), ((1, 1), (2, 1), (2, 2), (1, 2), (1, 1))),
)


@dataclass(frozen=True)
class Question:
    """A FENCE: its text, and the same for the oracle."""

    name: str
    kind: str
    fencing: Fencing
    region: str
    size: tuple[float, float]
    where: bool
    fences_where: bool

    @property
    def is_standing(self) -> bool:
        return self.kind == "standing"

    @property
    def fences(self) -> str:
        if self.is_standing:
            return "zones"
        return "cars" if self.fencing.same else "drones"

    @property
    def text(self) -> str:
        """As it is written."""
        where = " WHERE go" if self.where else ""
        chosen = (" WHERE kind = 'a'" if self.is_standing else " WHERE go") if self.fences_where else ""
        words = ", ".join(word.upper() for word in WORDS if word in self.fencing.detect)
        forget = f" FORGET {self.fencing.forget_us // SECOND} SECONDS"
        options = f"{self.region} DETECT {words}{forget}"
        return (
            f"CREATE QUERY {self.name} AS SELECT * FROM cars{where} FENCE ({self.fences}{chosen} {options});"
        )


@dataclass(frozen=True)
class FenceWorld:
    """Rows of streams, fences that stand, queries, and where the rows are cut."""

    schemas: Mapping[str, StreamSchema]
    rows: Mapping[str, Rows]
    zones: Mapping[str, tuple[str, Rings]]
    questions: tuple[Question, ...]
    cuts: Mapping[str, tuple[Instant, ...]]
    seed: int

    def __repr__(self) -> str:
        tables = "\n".join(f"{name}: {rows.tolist()}" for name, rows in self.rows.items())
        return f"{self.text}\n{tables}\n{self.zones}\n{self.cuts}"

    @property
    def text(self) -> str:
        return self.text_of(self.questions)

    def text_of(self, questions: Sequence[Question]) -> str:
        """Streams, fences and queries."""
        streams = [declared(schema) for schema in self.schemas.values()]
        zones = ["CREATE FENCES zones (name STRING KEY, kind STRING);"]
        return "\n".join([*streams, *zones, *(one.text for one in questions)])

    def plan(self, text: str = "", *, zones: int = 1) -> Plan:
        """With the fences that stand."""
        plan = compile_text(text or self.text, zones=zones)
        return plan.with_sets({"zones": self.table()}) if plan.fences else plan

    def table(self) -> Rows:
        """The fences that stand, as a host reads them."""
        texts = [
            json.dumps({"type": "MultiPolygon", "coordinates": [[ring] for ring in shape.rings]})
            for _, shape in self.zones.values()
        ]
        kinds = [kind for kind, _ in self.zones.values()]
        columns = {"name": list(self.zones), "kind": kinds, GEOMETRY: texts}
        return Rows.of({name: Column.of(ColumnType.STRING, cells) for name, cells in columns.items()})

    def oracle(self, question: Question) -> list[Row]:
        """What a query has to answer."""
        if question.is_standing:
            chosen = {
                name: shape
                for name, (kind, shape) in self.zones.items()
                if kind == "a" or not question.fences_where
            }
            return fence.changes(question.fencing, self.positions(question), standing=chosen, until=END)
        return fence.changes(question.fencing, self.positions(question), self.fences(question), until=END)

    def positions(self, question: Question) -> list[Update]:
        """The positions that a query asks about."""
        rows = self.rows["cars"].tolist()
        return [Update(row["at"], row["id"], _place(row)) for row in rows if row["go"] or not question.where]

    def fences(self, question: Question) -> list[Update]:
        """The fences that move that a query asks about."""
        if question.is_standing:
            return []
        rows = [row for row in self.rows[question.fences].tolist() if row["go"] or not question.fences_where]
        return [Update(row["at"], row["id"], _place(row), self._shape(question, row)) for row in rows]

    def _shape(self, question: Question, row: Row) -> Shape | None:
        place, geographic = _place(row), _is_geographic(self.schemas["cars"])
        if place is None:
            return None
        if question.region.startswith("RADIUS"):
            return Circle(place, question.size[0], geographic)
        if question.region.startswith("BOX"):
            return Rings(_box(place, question.size, geographic), geographic)
        found = None if row["wkt"] is None else shapely.from_wkt(row["wkt"], on_invalid="ignore")
        if found is None or found.geom_type not in ("Polygon", "MultiPolygon") or not found.is_valid:
            return None
        return Rings([list(ring.coords) for ring in shapely.get_rings(shapely.get_parts(found))], geographic)


def _place(row: Row) -> tuple[float, float] | None:
    return None if row["x"] is None or row["y"] is None else (row["x"], row["y"])


def _is_geographic(schema: StreamSchema) -> bool:
    return schema.place is not None and schema.place.geographic


def _box(centre: tuple[float, float], size: tuple[float, float], geographic: bool) -> list[Any]:
    """Far from the date line and the poles."""
    wide, high = size[0] / 2, size[1] / 2
    if geographic:
        wide = math.degrees(wide / EARTH_RADIUS_M / math.cos(math.radians(centre[1])))
        high = math.degrees(high / EARTH_RADIUS_M)
    west, south, east, north = centre[0] - wide, centre[1] - high, centre[0] + wide, centre[1] + high
    return [[(west, south), (east, south), (east, north), (west, north), (west, south)]]


# --- making them ----------------------------------------------------------------------------------------------------------


@st.composite
def worlds(draw: st.DrawFn, kind: str | None = None) -> FenceWorld:
    """Worlds of one to three FENCEs; all is made from one seed, and Hypothesis draws how much of it there is."""
    return make_world(
        draw(st.integers(0, 1 << 64)),
        kind,
        questions=draw(st.sampled_from([1, 1, 2, 3])),
        cars=draw(st.sampled_from([1, 3, 6, 10, 16, 24])),
        drones=draw(st.sampled_from([0, 1, 3, 6, 12])),
        zones=draw(st.sampled_from([1, 2, 4, 8])),
        cuts=draw(st.integers(0, 4)),
    )


def make_world(
    seed: int, kind: str | None = None, *, questions: int, cars: int, drones: int, zones: int, cuts: int
) -> FenceWorld:
    """A world from a seed and its sizes; with a kind, the first FENCE is of that."""
    random = Random(seed)
    on_earth = random.random() < 0.2
    # A tenth is no binary fraction: whether such places lie on a line is decided by their last digits.
    unit = 0.001 if on_earth else random.choice([1.0, 1.0, 0.1, 1e6 / 3])
    schemas = {name: _schema(name, on_earth) for name in ("cars", "drones")}
    kinds = [kind or random.choice(KINDS), random.choice(KINDS), random.choice(KINDS)]
    queries = tuple(_make_question(f"q{n}", kinds[n], unit, on_earth, random) for n in range(3))[:questions]
    drawn = {
        "cars": [_make_row(random, unit, on_earth, "abcd") for _ in range(cars)],
        "drones": [_make_row(random, unit, on_earth, "bcxy") for _ in range(drones)],
    }
    fences = {f"z{n}": (random.choice("ab"), _make_zone(random, unit, on_earth)) for n in range(zones)}
    rows = {name: as_table(schemas[name], drawn[name]) for name in schemas}
    made = {name: _make_cuts(cuts, random) for name in rows}
    return FenceWorld(schemas, rows, fences, queries, made, seed)


def _schema(name: str, on_earth: bool) -> StreamSchema:
    columns = (
        ("id", ColumnType.STRING),
        ("at", ColumnType.TIMESTAMP),
        ("x", ColumnType.DOUBLE),
        ("y", ColumnType.DOUBLE),
        ("wkt", ColumnType.STRING),
        ("go", ColumnType.BOOLEAN),
    )
    return StreamSchema(name, columns, "at", "id", PlaceColumns("x", "y", on_earth))


def _make_question(name: str, kind: str, unit: float, on_earth: bool, random: Random) -> Question:
    shaped = (
        kind.rpartition(" ")[2]
        if kind not in ("roaming", "same")
        else random.choice(["radius", "radius", "box"])
    )
    metres = 111_195.0 * unit * 1.001 if on_earth else unit  # off any border, on Earth
    size = random.choice([1, 2, 3, 5]) * metres, random.choice([2, 4, 6]) * metres
    region = {"radius": f"RADIUS {size[0]!r}", "box": f"BOX {size[0]!r}, {size[1]!r}", "shape": "SHAPE wkt"}
    detect = [word for word in WORDS if random.random() < 0.7] or ["enter"]
    roaming = kind.startswith("roaming")
    where = random.random() < 0.25
    fencing = Fencing(
        frozenset(detect),
        random.choice([1, 2, 3, 5, 7, 3600]) * SECOND,
        same=roaming or kind == "same",
        roaming=roaming,
    )
    fences_where = where if roaming else (not where if kind == "same" else random.random() < 0.3)
    return Question(name, kind, fencing, region.get(shaped, ""), size, where, fences_where)


def _make_row(random: Random, unit: float, on_earth: bool, names: str) -> Row:
    x, y = (random.choice([-1, 0, 0, 1, 2, 2, 3, 4, 5, 6, 9]) * unit for _ in "xy")
    if random.random() < 0.1:
        x, y = x + unit / 2, y + unit / 3
    if random.random() < 0.05:
        x = -60 * unit
    dx, dy = _corner(on_earth)
    return {
        "id": None if random.random() < 0.03 else random.choice(names),
        "at": random.choice(SECONDS) * SECOND,
        "x": None if random.random() < 0.04 else dx + x,
        "y": None if random.random() < 0.04 else dy + y,
        "wkt": _make_wkt(random, unit, on_earth),
        "go": random.choice([True, True, True, False, None]),
    }


def _corner(on_earth: bool) -> tuple[float, float]:
    return (7.0, 60.0) if on_earth else (0.0, 0.0)


def _make_wkt(random: Random, unit: float, on_earth: bool) -> str | None:
    if random.random() < 0.1:
        return random.choice([None, "POINT (1 1)", "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))", "round"])
    drawn = shapely.MultiPolygon(
        [shapely.Polygon(ring) for ring in _make_zone(random, unit, on_earth).rings[:1]]
    )
    return f"{shapely.to_wkt(drawn, rounding_precision=-1)}"


def _make_zone(random: Random, unit: float, on_earth: bool) -> Rings:
    while True:
        dx, dy = random.choice([-1, 0, 0, 1, 2, 3]), random.choice([-1, 0, 0, 1, 2])
        east, north = _corner(on_earth)
        rings = [
            [(east + (x + dx) * unit, north + (y + dy) * unit) for x, y in ring]
            for ring in random.choice(POLYGONS)
        ]
        if all(shapely.Polygon(ring).is_valid for ring in rings):
            return Rings(rings, on_earth)


def _make_cuts(count: int, random: Random) -> tuple[Instant, ...]:
    until = range(SECONDS.start, SECONDS.stop + 12)
    return tuple(cut * SECOND for cut in sorted(random.choices(until, k=count)))
