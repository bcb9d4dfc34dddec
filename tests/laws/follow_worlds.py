"""Small worlds for FOLLOW, as texts of queries and rows, in which everything that can touch, coincide or be missing does.

Places are a small grid on which 3-4-5 triangles lie on borders, times are few seconds, so that updates and events meet at starts,
at ends and at start − δ − Σ; objects jump, stand still, fall silent and lack places.

Behind a FOLLOW stands one of OPERATORS, or a graph of queries that read it (see `follow_operators`); their oracles run on the rows of each
interest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st

from headwater.model import SECOND, ColumnType, Instant, PlaceColumns, Rows, StreamSchema
from headwater.query.planning.plan import Plan, compile_text
from tests.laws.follow_fences import zone_rows
from tests.laws.follow_operators import (
    DRAWN,
    GRAPHS,
    OPERATORS,
    Link,
    Row,
    as_table,
    declared,
    in_order,
    operator,
)
from tests.laws.oracles import follow
from tests.laws.oracles.follow import Answer, Event, Following, Location, Operate

TEXT, REAL, WHOLE, TIME, FLAG = (
    ColumnType.STRING,
    ColumnType.DOUBLE,
    ColumnType.BIGINT,
    ColumnType.TIMESTAMP,
    ColumnType.BOOLEAN,
)
PLACE = PlaceColumns("x", "y")
CARS = StreamSchema(
    "cars", (("car", TEXT), ("at", TIME), ("x", REAL), ("y", REAL), ("go", FLAG)), "at", "car", PLACE
)
EVENTS = StreamSchema(
    "events",
    (("id", TEXT), ("at", TIME), ("x", REAL), ("y", REAL), ("s", TEXT), ("v", REAL), ("mark", WHOLE)),
    "at",
    "id",
    PLACE,
)
MORE = replace(EVENTS, name="more", columns=(*EVENTS.columns, ("w", REAL)))
EARTH = replace(PLACE, geographic=True)
SECONDS = range(-3, 22)  # some before 1970
A_STEP = 0.001  # degrees: 111 m


@dataclass(frozen=True)
class Question:
    """One FOLLOW: its text and its meaning, and the operator (or, for a graph, the queries) behind it."""

    name: str
    kind: str
    following: Following
    sources: tuple[str, ...]  # the streams that are events
    focals: str
    where: bool  # v > 0, of events
    going: bool  # go, of cars

    @property
    def links(self) -> Mapping[str, Link]:
        """The queries by the names of their ends: the FOLLOW's own, and those that read it."""
        if not self.graph:
            return {self.name: OPERATORS[self.kind]}
        metres = "252" if self.following.geographic else "2"
        own = {
            f"{self.name}_{name}": Link(
                link.text.replace("NEAR", f"{self.name}_near").replace("METRES", metres),
                link.windows_s,
                f"{self.name}_{link.reads}",
            )
            for name, link in self.graph.items()
        }
        return {f"{self.name}_near": Link(""), **own}

    @property
    def graph(self) -> Mapping[str, Link]:
        """The queries that read it, if there are several."""
        return GRAPHS.get(self.kind, {})

    @property
    def windows_us(self) -> int:
        """Σ."""
        links = self.links

        def path(name: str) -> int:
            link = links[name]
            return link.windows_us + (path(link.reads) if link.reads else 0)

        return max(path(name) for name in links)

    @property
    def text(self) -> str:
        """The queries."""
        lines = []
        for name, link in self.links.items():
            if link.reads:
                lines.append(f"CREATE QUERY {name} AS SELECT * FROM {link.reads} {link.text};")
            else:
                where = "WHERE v > 0 " if self.where else ""
                sources = ", ".join(self.sources)
                lines.append(
                    f"CREATE QUERY {name} AS SELECT * FROM {sources} {where}{self._follow} {link.text};"
                )
        return "\n".join(lines)

    @property
    def _follow(self) -> str:
        following = self.following
        words = [self.focals, *(["WHERE go"] if self.going else [])]
        words.append(
            f"BOX {following.box_m[0]:g}, {following.box_m[1]:g}"
            if following.box_m
            else f"RADIUS {following.radius_m:g}"
        )
        if following.last_us:
            words.append(f"LAST {following.last_us // SECOND} SECONDS")
        words.append(self._update)
        if following.forget_us != follow.HOUR_US:
            words.append(f"FORGET {following.forget_us // SECOND} SECONDS")
        words.append("DELIVER EACH" if following.each else "DELIVER ONCE")
        if following.best_effort is not None:
            words.append(f"BEST EFFORT {following.best_effort}")
        return f"FOLLOW ({' '.join(words)})"

    @property
    def _update(self) -> str:
        following = self.following
        if following.update == follow.EVERY:
            return f"UPDATE EVERY {following.every_us // SECOND} SECONDS"
        if following.update == follow.MOVED:
            return f"UPDATE MOVED {following.moved_m:g}"
        if following.update == follow.QUALITY:
            over = f" OVER {following.over_us // SECOND} SECONDS" if following.over_us is not None else ""
            return f"UPDATE QUALITY {following.precision:g}, {following.recall:g}{over}"
        return "UPDATE ALWAYS"


@dataclass(frozen=True, repr=False)
class FollowWorld:
    """Streams, rows in their order, FOLLOWs over them, and for each stream where its rows are cut into steps."""

    schemas: Mapping[str, StreamSchema]
    rows: Mapping[str, Rows]
    questions: tuple[Question, ...]
    cuts: Mapping[str, tuple[Instant, ...]]
    seed: int

    def __repr__(self) -> str:
        tables = "\n".join(
            f"{name} {[*row.values()]}" for name, rows in self.rows.items() for row in rows.tolist()
        )
        return f"seed {self.seed}\n{self.text}\n{tables}\n{self.cuts}"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """As Hypothesis shows it: what a reader needs to write it down again."""
        printer.text(repr(self))

    @property
    def text(self) -> str:
        """All streams and queries."""
        return self.text_of(self.questions)

    def text_of(self, questions: Sequence[Question]) -> str:
        """The streams, and some of the queries."""
        fences = "CREATE FENCES zones (name STRING KEY);"
        return "\n".join([*map(declared, self.schemas.values()), fences, *(one.text for one in questions)])

    def plan(self, text: str = "", *, zones: int = 1) -> Plan:
        """The plan of the queries, or of some text, with the fences that there are."""
        place = self.schemas["events"].place
        fences = zone_rows(geographic=place is not None and place.geographic)
        return compile_text(text or self.text, zones=zones).with_sets({"zones": fences})

    def oracle(self, question: Question) -> dict[str, list[follow.Delivered]]:
        """What every query of a FOLLOW has to deliver."""
        following = replace(question.following, windows_us=question.windows_us)
        events, updates = self.events(question), self.updates(question)
        return {
            name: follow.delivered(following, events, updates, self._operate(question, name))
            for name in question.links
        }

    def cut(self, question: Question) -> int:
        """How many events BEST EFFORT leaves out."""
        following = replace(question.following, windows_us=question.windows_us)
        events, updates = self.events(question), self.updates(question)
        return sum(
            follow.cut_from(following, interest, events)
            for focal in follow.focals(updates)
            for interest in follow.interests(following, focal, events, updates)
        )

    def events(self, question: Question) -> list[Event]:
        """The rows that FOLLOW looks at, as one stream, in its order."""
        schema = self.stream_of(question)
        listed = [
            {name: ({"event_time": row["at"], "source": source} | row).get(name) for name in schema.types}
            for source in question.sources
            for row in self.rows[source].tolist()
        ]
        listed = [row for row in listed if not question.where or (row["v"] is not None and row["v"] > 0)]
        return [Event(row["event_time"], _place(row), row) for row in in_order(schema, listed)]

    def updates(self, question: Question) -> list[Location]:
        """The rows of whoever is followed."""
        schema = self.schemas[question.focals]
        assert schema.key is not None
        rows = [row for row in self.rows[question.focals].tolist() if not question.going or row["go"]]
        return [Location(row[schema.time], row[schema.key], _place(row)) for row in rows]

    def stream_of(self, question: Question) -> StreamSchema:
        """The stream of a FOLLOW, as a declared one."""
        source = (("source", TEXT),) if len(question.sources) > 1 else ()
        union: dict[str, ColumnType] = {}
        for name in question.sources:
            union.update(self.schemas[name].columns)
        columns = (("event_time", TIME), *source, *union.items())
        return StreamSchema("seen", columns, "event_time", "id", self.schemas[question.sources[0]].place)

    def _operate(self, question: Question, name: str) -> Operate:
        link = question.links[name]
        if not link.reads:
            return operator(link.text, self.stream_of(question))
        before = self._operate(question, link.reads)
        if not question.links[link.reads].reads:
            return _after(before, operator(link.text, self.stream_of(question)))
        by_id = (("id", TEXT),) if "PARTITION BY id" in question.links[link.reads].text else ()
        columns = (("event_time", TIME), *by_id, ("a", WHOLE), ("b", WHOLE))
        answers = StreamSchema("answers", columns, "event_time")
        return _after(before, operator(link.text, answers), answers)


def _after(before: Operate, operate: Operate, schema: StreamSchema | None = None) -> Operate:
    """An operator over the answers of another one, in the order of their schema if they are not rows of events."""

    def answers(rows: Sequence[Row]) -> list[Answer]:
        given = [{"event_time": one.event_time, **one.values} for one in before(rows)]
        return operate(in_order(schema, given) if schema else given)

    return answers


def _place(row: Row) -> tuple[float, float] | None:
    return None if row["x"] is None or row["y"] is None else (row["x"], row["y"])


@st.composite
def worlds(draw: st.DrawFn, kind: str | None = None) -> FollowWorld:
    """Worlds of one to three FOLLOWs; all is made from one seed, and Hypothesis draws how much of it there is."""
    seed = draw(st.integers(0, 1 << 64))
    return make_world(
        seed,
        kind,
        questions=draw(st.sampled_from([1, 1, 2, 3])),
        events=draw(st.sampled_from([3, 6, 10, 14, 18, 22, 26])),
        updates=draw(st.sampled_from([1, 2, 4, 6, 9, 12])),
        cuts=draw(st.sampled_from([0, 1, 2, 4, 8])),
    )


def make_world(
    seed: int,
    kind: str | None = None,
    *,
    questions: int = 2,
    events: int = 18,
    updates: int = 8,
    cuts: int = 2,
) -> FollowWorld:
    """A world from a seed and its sizes; with a kind, the first FOLLOW has that behind it."""
    random = Random(seed)
    on_earth = random.random() < 0.15
    schemas = {
        schema.name: replace(schema, place=EARTH if on_earth else PLACE) for schema in (CARS, EVENTS, MORE)
    }
    kinds = [kind or random.choice(DRAWN), *random.choices(DRAWN, k=2)]
    queries = tuple(_make_question(f"q{n}", kinds[n], on_earth, random) for n in range(3))[:questions]
    used = {"cars", "events", *(name for one in queries for name in one.sources)}
    drawn = {
        "cars": [_make_car(on_earth, random) for _ in range(updates)],
        "events": [_make_event(n, on_earth, random) for n in range(events)],
        "more": [
            {**_make_event(max(30, events) + n, on_earth, random), "w": random.choice([None, 1.0])}
            for n in range(events // 3)
        ],
    }
    rows = {name: as_table(schemas[name], drawn[name]) for name in sorted(used)}
    return FollowWorld(
        {name: schemas[name] for name in rows},
        rows,
        queries,
        {name: _make_cuts(cuts, random) for name in rows},
        seed,
    )


def overlapping(kind: str, seed: int) -> FollowWorld:
    """A world of one FOLLOW whose interests have long histories and much in common, none of it cut or told again."""
    world = make_world(seed, kind, questions=1, events=26, updates=14, cuts=3)
    return _with_history(world, Random(seed).choice([4, 7, 12]))


def crowded(kind: str, seed: int) -> FollowWorld:
    """The same with more events and longer histories, in regions of which each has a part of them: much is settled, and much differs."""
    world = _with_history(make_world(seed, kind, questions=1, events=42, updates=14, cuts=3), 20)
    (question,) = world.questions
    if question.following.radius_m is None or question.following.geographic:
        return world
    return replace(world, questions=(replace(question, following=replace(question.following, radius_m=3.0)),))


def _with_history(world: FollowWorld, last_s: int) -> FollowWorld:
    following = replace(
        world.questions[0].following,
        last_us=last_s * SECOND,
        update=follow.ALWAYS,
        forget_us=follow.HOUR_US,
        each=False,
        best_effort=None,
    )
    return replace(world, questions=(replace(world.questions[0], following=following),))


def _make_cuts(count: int, random: Random) -> tuple[Instant, ...]:
    until = range(SECONDS.start, SECONDS.stop + 8)
    return tuple(cut * SECOND for cut in sorted(random.choices(until, k=count)))


def _make_car(on_earth: bool, random: Random) -> Row:
    x, y = _somewhere(on_earth, random)
    return {
        "car": None if random.random() < 0.03 else random.choice(["c", "c", "c", "d", "d", "e"]),
        "at": random.choice(SECONDS) * SECOND,
        "x": None if random.random() < 0.04 else x,
        "y": None if random.random() < 0.04 else y,
        "go": random.choice([True, True, True, False, None]),
    }


def _make_event(number: int, on_earth: bool, random: Random) -> Row:
    x, y = _somewhere(on_earth, random)
    return {
        "id": None if random.random() < 0.03 else random.choice(["i", "i", "j", "k"]),
        "at": random.choice(SECONDS) * SECOND,
        "x": None if random.random() < 0.04 else x,
        "y": None if random.random() < 0.04 else y,
        "s": random.choice(["a", "a", "b", "b", "c", None]),
        "v": None if random.random() < 0.05 else random.choice([-1.0, 0.0, 1.0, 1.0, 2.0, 3.0]),
        "mark": 1 << number,
    }


def _somewhere(on_earth: bool, random: Random) -> tuple[float, float]:
    """Mostly near to one another; now and then far away. On Earth: around the date line, at 60 degrees north."""
    if random.random() < 0.08:
        return (100.0, 60.0) if on_earth else (1000.0, 0.0)
    x, y = random.choice([0, 0, 1, 2, 3, 4, 4]), random.choice([0, 0, 0, 1, 2, 3, 3])
    if on_earth:
        east = 179.997 + 2 * x * A_STEP
        return round(east - 360 if east > 180 else east, 6), round(60 + y * A_STEP, 6)
    return float(x), float(y)


def _make_question(name: str, kind: str, on_earth: bool, random: Random) -> Question:

    def metres(steps: int) -> float:
        return steps * 111.0 + 30 if on_earth else float(steps)  # off any border, on Earth

    boxed = random.random() < 0.3 and not on_earth
    update = random.choice([follow.ALWAYS, follow.EVERY, follow.MOVED, follow.QUALITY])
    quality = random.choice([(0.5, 0.5), (0.3, 0.7), (0.9, 0.2), (0.0, 0.0), (0.99, 0.99)])
    itself = random.random() < 0.2
    two = random.random() < 0.25
    following = Following(
        radius_m=None if boxed else metres(random.choice([1, 2, 3, 5, 5, 5, 30])),
        box_m=random.choice([(2.0, 4.0), (6.0, 2.0), (8.0, 8.0)]) if boxed else None,
        geographic=on_earth,
        last_us=random.choice([0, 0, 2, 4, 7, 30]) * SECOND,
        update=update,
        every_us=random.choice([1, 3, 6]) * SECOND if update == follow.EVERY else 0,
        moved_m=metres(random.choice([1, 2, 3, 5])) if update == follow.MOVED else 0.0,
        precision=quality[0] if update == follow.QUALITY else 0.0,
        recall=quality[1] if update == follow.QUALITY else 0.0,
        over_us=random.choice([None, None, 2 * SECOND, 5 * SECOND]) if update == follow.QUALITY else None,
        forget_us=random.choice([2 * SECOND, 4 * SECOND, 7 * SECOND, follow.HOUR_US, follow.HOUR_US]),
        each=random.random() < 0.4,
        best_effort=random.choice([None, None, None, 1, 2, 5]),
    )
    return Question(
        name,
        kind,
        following,
        ("events", "more") if two else ("events",),
        "events" if itself else "cars",
        random.random() < 0.25,
        random.random() < 0.25 and not itself,
    )
