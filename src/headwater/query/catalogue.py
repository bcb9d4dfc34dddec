"""Streams, points and queries whose names, types and meaning have been checked: what the planner starts from.

Every choice of the language is made here: `n OF` is written out, defaults are filled in, regions are shapes, every column
has a type. Bounds with a name stand here too, because the checker refuses what goes beyond them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headwater.kernels.correlate.subscription import Clause, Emit
from headwater.kernels.fence.words import Detect
from headwater.kernels.follow.words import Update
from headwater.kernels.nearest.words import Algorithm, Emission, Metric
from headwater.kernels.pattern.words import Mode, RowsPerMatch, SkipTo
from headwater.kernels.predict.question import Difference, Distance, Value
from headwater.kernels.predict.words import Certainty, GiveUp
from headwater.kernels.suppress.words import Predictor
from headwater.model import ColumnType, FencesSchema, PointsSchema, Region, StreamSchema
from headwater.query.tree import CreateFences, CreatePoints, CreateQuery, CreateStream, Expression
from headwater.query.tree.patterns import Pattern

if TYPE_CHECKING:
    # Expressions know the bounds that stand here, and terms know expressions.
    from headwater.query.patterns.terms import Lowered

RESERVED: Final = ("query", "event_time", "match_id")
"""Columns that every answer begins with."""

MOST_READINGS: Final = 64
"""Readings in one complex event, `n OF` written out."""

MOST_READINGS_WITH_DISTANCE: Final = 6
"""The same when every two of them must be near one another: deciding that exactly is dear."""

LIMIT_PER_ROW: Final = 1000
"""Answers of `EMIT ALL` that one row can bring when the query sets no LIMIT."""

LONGEST_US: Final = 36_500 * 86_400_000_000
"""A hundred years: the longest duration, so that adding one to an instant never overflows."""

MOST_ELEMENTS: Final = 1000
"""Elements of a pattern, quantifiers written out."""

MOST_PERMUTED: Final = 6
"""Parts of one PERMUTE: there are 720 orders of six."""

MOST_WRITTEN_OUT: Final = 10_000
"""Elements of a pattern when the orders of PERMUTE are written out as well."""

HELD_EVENTS: Final = 64
"""Events in the window of a sensor node where HOLD does not say how many."""

MOST_NEIGHBOURS: Final = 10_000
"""Objects that one NEAREST asks for: its k."""

MOST_ATTRIBUTES: Final = 64
"""Attributes of one NEAREST."""

MOST_WINDOW_ROWS: Final = 1_000_000_000
"""Rows in the window of one NEAREST."""

MOST_TICKS: Final = 1_000_000
"""Ticks of EMIT EVERY in one window: when the input ends, one object alone is told at all of them."""

MOST_DIMENSIONS: Final = 16
"""Dimensions of one SUPPRESS, or of one source of a PREDICT."""

MOST_SAMPLES: Final = 10_000
"""Samples that LEAST SQUARES looks back at."""

MOST_ALIASES: Final = 8
"""Aliases of one PREDICT."""

MOST_PIECES: Final = 64
"""Choices of pieces in one PREDICT: a difference of at least 5 is one above 5, or one below −5."""

MOST_STORED: Final = 1_000_000_000
"""Updates in the buffer of one PREDICT."""

STAMPS: Final = ("focal", "interest", "historical")
"""Columns that every answer behind a FOLLOW has besides: to whom it is delivered, for which interest, and from before it."""

FORGET_US: Final = 3_600_000_000
"""An hour: after so long whoever is silent is forgotten, where FORGET says nothing."""

QUALITY_US: Final = 60_000_000
"""A minute: so far back QUALITY looks where neither OVER nor LAST says how far."""

Columns = tuple[tuple[str, ColumnType], ...]
SelectList = tuple[tuple[str, Expression, ColumnType], ...]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A CORRELATE operator with every choice made; `sensors` are the only keys whose readings count, when given."""

    clauses: tuple[Clause, ...]
    within_us: int
    within_m: float | None
    region: Region | None
    sensors: tuple[str | int, ...] | None
    distinct_sensors: bool
    emit: Emit
    limit: int | None


@dataclass(frozen=True, slots=True)
class Recognition:
    """A MATCH_RECOGNIZE operator with every choice made.

    `variables` are all that PATTERN names, in the order of their first appearance; `define` has those with a condition.
    `untils` belong to the loops with UNTIL, outermost first, left to right. `order` are the columns that decide between rows
    of one time. `skip_to` are variables, a subset written out.
    """

    pattern: Pattern
    variables: tuple[str, ...]
    define: tuple[tuple[str, Lowered], ...]
    untils: tuple[Lowered, ...]
    subsets: tuple[tuple[str, tuple[str, ...]], ...]
    measures: tuple[tuple[str, Lowered], ...]
    partition: tuple[str, ...]
    order: tuple[str, ...]
    rows: RowsPerMatch
    every: bool
    mode: Mode | None
    hold: int
    seed: int | None
    skip: SkipTo
    skip_to: tuple[str, ...]
    within_us: int | None
    between_us: int | None
    timeouts: bool
    limit: int | None
    forget_us: int | None = None


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A NEAREST operator with every choice made.

    `aliases` are the names of the attributes in an answer. There is either a `point`, or the name of declared `points`, or
    neither, under HIGHEST and LOWEST; either `window_us` or `window_rows`. `algorithm` None: the engine chooses. `columns` are
    what an answer carries of its row, the name in the answer and the column of the stream: that of PER unless it is the
    key, the attributes, what else the SELECT list names.
    """

    k: int
    metric: Metric
    attributes: tuple[str, ...]
    aliases: tuple[str, ...]
    point: tuple[float, ...] | None
    points: str | None
    weights: tuple[float, ...] | None
    window_us: int | None
    window_rows: int | None
    per: str | None
    ties: bool
    exact: bool
    algorithm: Algorithm | None
    sigma: float | None
    emission: Emission
    every_us: int | None
    columns: tuple[tuple[str, str], ...]
    forget_us: int | None = None


@dataclass(frozen=True, slots=True)
class Suppression:
    """A SUPPRESS operator with every choice made; `parameters` are (n,), (α, β), (q, r) or none, as the predictor has them.

    `forget_us` None: no sensor is forgotten.
    """

    dimensions: tuple[str, ...]
    tolerance: float
    heartbeat_us: int
    predictor: Predictor
    parameters: tuple[float, ...]
    forget_us: int | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """A PREDICT operator with every choice made.

    A condition on single updates has one alias, whose name is empty. `sources` says for every alias which of several sources
    it takes its updates from, from 0 on; None: there is only one. `dimensions` are the columns of every source that are looked
    at, in the order in which `conditions` count them; there is one entry for each source. `within_us` is 0 without pairs.
    `polygon`: the SELECT list names it. `reads` are all columns of answers that it names; None: not known yet.
    """

    aliases: tuple[str, ...]
    sources: tuple[int | None, ...]
    dimensions: tuple[tuple[str, ...], ...]
    conditions: tuple[Value | Difference | Distance, ...]
    within_us: int
    certainty: Certainty
    p: float
    tentative: bool
    ahead_us: int | None
    every_us: int | None
    buffer: int | None
    give_up: GiveUp
    seed: int
    polygon: bool
    reads: frozenset[str] | None = None

    @property
    def pairs(self) -> bool:
        """Whether updates are joined."""
        return len(self.aliases) > 1

    def dimensions_of(self, alias: int) -> tuple[str, ...]:
        """The dimensions of an alias's source."""
        return self.dimensions[self.sources[alias] or 0]


@dataclass(frozen=True, slots=True)
class Following:
    """A FOLLOW operator with every choice made.

    `focals` is a stream or a query, and `where` a condition on it. There is one of `radius_m`, `box_m` (width and height) and
    `shape`, a column of the focals with a polygon as WKT text. What belongs to a word that is not `update` is 0. `over_us` is
    how far back QUALITY looks. `each`: an answer is delivered once for each interest. `best_effort` None: all that happened
    before is taken. `interests`: interests are told, not events. `events` are the other sources, in the order of FROM.
    """

    focals: str
    where: Expression | None
    radius_m: float | None
    box_m: tuple[float, float] | None
    shape: str | None
    last_us: int
    update: Update
    every_us: int
    moved_m: float
    precision: float
    recall: float
    over_us: int
    forget_us: int
    each: bool
    best_effort: int | None
    interests: bool
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fencing:
    """A FENCE operator with every choice made.

    `fences` is a declared set of polygons, then `moving` is False and there is no region; or a stream or a query, whose rows are fences
    that move, with one of `radius_m`, `box_m` (width and height) and `shape`, a column with a polygon as WKT text. `where` is
    a condition on fences. `roaming`: fences are the positions themselves, and every two of them are a pair once.
    """

    fences: str
    moving: bool
    where: Expression | None
    radius_m: float | None
    box_m: tuple[float, float] | None
    shape: str | None
    detect: tuple[Detect, ...]
    forget_us: int
    roaming: bool


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query that can be answered.

    `answers` are the columns its kernel gives after the reserved ones, `selected` the SELECT list over them: name,
    expression and type. `schema` is what a query that reads this one sees. `behind` is the FOLLOW query behind which it runs,
    once for each interest; for a FOLLOW that is itself. Its answers then end with the stamps.
    """

    tree: CreateQuery
    correlation: Correlation | None
    recognition: Recognition | None
    neighbourhood: Neighbourhood | None
    suppression: Suppression | None
    prediction: Prediction | None
    following: Following | None
    fencing: Fencing | None
    answers: Columns
    selected: SelectList
    schema: StreamSchema
    behind: str | None = None

    @property
    def name(self) -> str:
        """The name it was created under."""
        return self.tree.name

    @property
    def reads(self) -> str:
        """The stream or query it reads; of several, the first."""
        return self.tree.select.source

    @property
    def further_reads(self) -> tuple[str, ...]:
        """The streams and queries it reads besides; last the focals of a FOLLOW or moving fences, unless they are read already."""
        further = self.tree.select.further_sources
        beside = self.following.focals if self.following else None
        if self.fencing and self.fencing.moving:
            beside = self.fencing.fences
        return further if beside is None or beside in (self.reads, *further) else (*further, beside)

    @property
    def where(self) -> Expression | None:
        """The condition on rows, before the operator."""
        return self.tree.select.where


@dataclass(frozen=True, slots=True)
class CheckedStream:
    """A stream as it was written and as it is used."""

    tree: CreateStream
    schema: StreamSchema


@dataclass(frozen=True, slots=True)
class CheckedPoints:
    """Points as they were written and as they are used."""

    tree: CreatePoints
    schema: PointsSchema


@dataclass(frozen=True, slots=True)
class CheckedFences:
    """Fences as they were written and as they are used."""

    tree: CreateFences
    schema: FencesSchema


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything a text creates, by name; queries come after what they read."""

    streams: Mapping[str, CheckedStream]
    queries: Mapping[str, CheckedQuery]
    points: Mapping[str, CheckedPoints]
    fences: Mapping[str, CheckedFences]
