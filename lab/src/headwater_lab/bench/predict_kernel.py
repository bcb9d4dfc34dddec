"""SUPPRESS and PREDICT alone, on one core, without language and hosts: what do sensors send, what is answered, what does it take?

The sensors' samples go through a SUPPRESS kernel, its updates through a PREDICT kernel, some thousand or some seconds of the stream at a
time, as a host would hand them over. Time is that of the processor, apart for the two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.kernel import PredictKernel
from headwater.kernels.predict.question import Alias, Difference, Distance, PredictQuery, Value
from headwater.kernels.suppress.choices import Predictor
from headwater.kernels.suppress.kernel import SuppressKernel
from headwater.kernels.suppress.question import SuppressQuery
from headwater.model import (
    BEGINNING,
    END,
    SECOND,
    Column,
    ColumnType,
    Rows,
    StreamSchema,
    join_rows,
)

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Take = Callable[[Rows], None]

STEP_ROWS: Final = 5_000
QUERY: Final = "near"


@dataclass(frozen=True, slots=True)
class Readings:
    """Samples of sensors 0, 1, … in order of time: `key[m]`, `at[m]`, `values[m, d]`; the dimensions have names."""

    dimensions: tuple[str, ...]
    key: Numbers
    at: Numbers
    values: Floats

    def __len__(self) -> int:
        return len(self.at)

    @property
    def schema(self) -> StreamSchema:
        """Of their stream."""
        return _schema("readings", "at", self.dimensions)

    def rows(self) -> Rows:
        """As the rows of a stream."""
        columns = {
            "id": Column(ColumnType.BIGINT, self.key),
            "at": Column(ColumnType.TIMESTAMP, self.at),
        }
        for place, name in enumerate(self.dimensions):
            columns[name] = Column(ColumnType.DOUBLE, np.ascontiguousarray(self.values[:, place]))
        return Rows.of(columns)


@dataclass(frozen=True, slots=True)
class Sending:
    """The rule by which a sensor sends: SUPPRESS."""

    tolerance: float
    heartbeat_us: int
    predictor: Predictor = Predictor.SLOPE
    parameters: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The predictor as it is written."""
        return " ".join(
            [
                self.predictor.value,
                *([", ".join(f"{p:g}" for p in self.parameters)] if self.parameters else []),
            ]
        )


@dataclass(frozen=True, slots=True)
class PredictQuestion:
    """A question: PREDICT. Pairs within a bound in every dimension or by distance (`euclidean`), or values above it (`above`).

    `both_above`: a value constraint besides: the first dimension of both sensors of a pair is above it. `reads`: the columns of answers that are read; None: all.
    """

    bound: float
    within_us: int = 0
    euclidean: bool = False
    above: bool = False
    certainty: Certainty = Certainty.LINE
    every_us: int | None = None
    buffer: int | None = None
    give_up: GiveUp = GiveUp.LEAST
    reads: frozenset[str] | None = None
    both_above: float | None = None

    def query(self, dimensions: tuple[str, ...]) -> PredictQuery:
        """As the kernel takes it."""
        names = ("s",) if self.above else ("a", "b")
        slopes = tuple(f"{name}_slope" for name in dimensions)
        return PredictQuery(
            name=QUERY,
            fingerprint=QUERY,
            shape=0,
            where=None,
            aliases=tuple(Alias(name, None, dimensions, slopes, "tolerance", "heartbeat") for name in names),
            conditions=self._conditions(len(dimensions)),
            within_us=self.within_us,
            certainty=self.certainty,
            p=0.0,
            tentative=False,
            ahead_us=None,
            every_us=self.every_us,
            buffer=self.buffer,
            give_up=self.give_up,
            seed=7,
            polygon=False,
            share=None,
            reads=self.reads,
        )

    def _conditions(self, dimensions: int) -> tuple[Value | Difference | Distance, ...]:
        if self.above:
            return (Value(0, 0, Comparator.GREATER, self.bound),)
        values = () if self.both_above is None else self._both_above(self.both_above)
        if self.euclidean:
            return (Distance(0, 1, False, self.bound), *values)
        near = [
            Difference(0, place, 1, place, Comparator.LESS_EQUAL, self.bound) for place in range(dimensions)
        ]
        return (*near, *values)

    def _both_above(self, bound: float) -> tuple[Value, ...]:
        return tuple(Value(alias, 0, Comparator.GREATER, bound) for alias in (0, 1))


@dataclass(frozen=True, slots=True)
class Sent:
    """Updates in order, and the processor's time for them."""

    dimensions: tuple[str, ...]
    rows: Rows
    seconds: float

    @property
    def count(self) -> int:
        """How many updates there are."""
        return self.rows.count


@dataclass(frozen=True, slots=True)
class Answered:
    """The processor's time for the answers, how many rows they were, and what the kernel counted."""

    seconds: float
    rows: int
    counts: dict[str, int]


def send(readings: Readings, sending: Sending) -> Sent:
    """What the sensors send."""
    query = SuppressQuery(
        "updates", "updates", 0, None, readings.dimensions, sending.tolerance, sending.heartbeat_us,
        sending.predictor, sending.parameters,
    )  # fmt: skip
    kernel = SuppressKernel(readings.schema, [query], [])
    state, blocks, rows = kernel.start(BEGINNING), [], readings.rows()
    begun = time.process_time()
    for part, watermark in _steps(rows, "at"):
        step = kernel.step(state, part, watermark)
        state = step.state
        blocks += [answers.rows for answers in step.answers]
    return Sent(readings.dimensions, join_rows(blocks), time.process_time() - begun)


def answer(
    sent: Sent, question: PredictQuestion, take: Take, *, index: bool = True, step_us: int | None = None
) -> Answered:
    """Hand the updates over and take the answers, block by block; taking is not in the time.

    A step has some thousand updates or, with `step_us`, those of some time.
    """
    schema = _schema("updates", "event_time", (*sent.dimensions, *_more(sent.dimensions)))
    kernel = PredictKernel(schema, [question.query(sent.dimensions)], [], index=index)
    state, seconds, row_count = kernel.start(BEGINNING), 0.0, 0
    counts: dict[str, int] = {}
    for part, watermark in _steps(sent.rows.select(schema.types), "event_time", step_us):
        begun = time.process_time()
        step = kernel.step(state, part, watermark)
        seconds += time.process_time() - begun
        state = step.state
        for name, count in step.counts.items():
            counts[name] = counts.get(name, 0) + count
        for answers in step.answers:
            row_count += answers.rows.count
            take(answers.rows)
    return Answered(seconds, row_count, counts)


def _steps(rows: Rows, name: str, step_us: int | None = None) -> Iterator[tuple[Rows, int]]:
    """Some thousand rows, or those of some time; all of one instant in one step. At last time advances to the end."""
    at = rows[name].values
    start = 0
    while start < rows.count:
        last = at[min(start + STEP_ROWS, rows.count) - 1] if step_us is None else at[start] + step_us - 1
        stop = int(np.searchsorted(at, last, "right"))
        yield rows.take(slice(start, stop)), int(last) + 1
        start = stop
    yield rows.take(slice(0, 0)), END


def _schema(name: str, at: str, numbers: tuple[str, ...]) -> StreamSchema:
    columns = (("id", ColumnType.BIGINT), (at, ColumnType.TIMESTAMP))
    return StreamSchema(name, (*columns, *((n, ColumnType.DOUBLE) for n in numbers)), time=at, key="id")


def _more(dimensions: tuple[str, ...]) -> tuple[str, ...]:
    return (*(f"{name}_slope" for name in dimensions), "tolerance", "heartbeat")


def seconds_of(readings: Readings) -> float:
    """From the first sample to the last."""
    return float(readings.at[-1] - readings.at[0]) / SECOND
