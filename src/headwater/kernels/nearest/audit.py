"""How much does PROBABLE lose? For a share of its points the exact algorithm runs beside it, and the results are compared.

Rule 1  An object is lost if it enters the exact set and never the probable one. While an object is among the candidates of
        PA, it enters the set no later than it really does; so it is enough to know what PA has emitted so far.
Rule 2  After the last object of a bounded input the window only empties, and no order is random any more: what is emitted then is
        counted separately.
Memory  The objects emitted by PA that are not older than the oldest object of the exact algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.nearest.candidates import ENTER, HOW, WHAT, WHEN, WHOSE
from headwater.kernels.nearest.choices import Algorithm, Emission
from headwater.kernels.nearest.query_sets import SetEvents
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import Instant, text_hash

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Audit:
    """What PA has emitted for the audited points: int64[n, 2], a point's number and an object's."""

    emitted: Whole

    def after(
        self, probable: SetEvents, exact: SetEvents, points: int, oldest: int, last: Instant
    ) -> tuple[Audit, dict[str, int]]:
        """The audit with a step's events of both; and how many objects the exact algorithm emitted and how many of them were lost.

        `oldest` is the least number that may still be emitted, `last` the time of the last object that came.
        """
        emitted = np.concatenate([self.emitted, _entered(probable, points)])
        truth = _entered(exact, points)
        lost = ~np.isin(truth[:, 1] * points + truth[:, 0], emitted[:, 1] * points + emitted[:, 0])
        at_end = exact.emitted[exact.emitted[:, HOW] == ENTER, WHEN] > last
        counts = {
            "audited": int((~at_end).sum()),
            "missed": int((lost & ~at_end).sum()),
            "audited_at_end": int(at_end.sum()),
            "missed_at_end": int((lost & at_end).sum()),
        }
        return Audit(emitted[emitted[:, 1] >= oldest]), counts

    def moved(self, place: Whole) -> Audit:
        """The same for other points: `place[new]` is the number that a point had, or -1."""
        number = np.full(
            int(max(place.max(initial=-1), self.emitted[:, 0].max(initial=-1))) + 1, -1, np.int64
        )
        number[place[place >= 0]] = np.flatnonzero(place >= 0)
        emitted = np.column_stack([number[self.emitted[:, 0]], self.emitted[:, 1]])
        return Audit(emitted[emitted[:, 0] >= 0])


def audited(query: NearestQuery) -> tuple[NearestQuery, NearestQuery] | None:
    """The probable and the exact twin of a query for the share of its points that is audited; None if it is not audited."""
    if query.audit <= 0 or query.algorithm is not Algorithm.PA:
        return None
    ids = query.points.ids
    names = [""] * len(query.points) if ids is None else [str(name) for name in ids.tolist()]
    # Chosen by the points' names, so that it is the same share after a restart; at least one.
    draws = np.array([text_hash(f"audit {name}") / 2.0**64 for name in names])
    chosen = np.flatnonzero(draws < query.audit) if len(draws) > 1 else np.zeros(1, np.int64)
    if not len(chosen):
        chosen = np.array([int(draws.argmin())])
    points = Points(query.points.coordinates[chosen], None if ids is None else ids.take(chosen))
    probable = replace(
        query, name=f"{query.name} audited", points=points, emission=Emission.ENTERS, every_us=None, audit=0.0
    )
    return probable, replace(probable, name=f"{query.name} in truth", algorithm=Algorithm.RAPF, sigma=None)


def _entered(events: SetEvents, points: int) -> Whole:
    chosen = events.emitted[:, HOW] == ENTER
    return np.column_stack([events.emitted[chosen, WHOSE] % points, events.emitted[chosen, WHAT]])
