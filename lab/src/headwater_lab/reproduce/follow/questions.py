"""The three applications of the paper as texts of Headwater, with FOLLOW as each figure needs it.

accidents   events in a region, sudden drops of speed and changes of lane in it, and drops that two others' changes follow: three queries
friends     cars of a club that cameras saw near the driver a moment ago
speeds      the average of the latest n reports above a speed, all within 25 seconds: three queries

Rule 1  Drivers are the cars with the first numbers. A region around each is its interest: in the paper a box.
Rule 2  Queries that others read, and links without a name from the caller, emit nothing (`hidden`).
Rule 3  Several FOLLOWs are in one text, each with queries under a name of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from headwater.kernels.follow.choices import Saving
from headwater.query.checking.check import check
from headwater.query.language.parse import parse
from headwater.query.language.tree import CreateQuery, Script
from headwater.query.planning.plan import Plan, make_plan

MOVE_S: Final = 2
ACCIDENT_S: Final = 20
RESTRICTION_S: Final = 25
RECENT_S: Final = 20
DROP_MPS: Final = 10
FAST_MPS: Final = 8
CLUB: Final = 1

STREAMS: Final = """\
CREATE STREAM reports (
  car BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, speed DOUBLE, road BIGINT, lane BIGINT, PLACE (x, y)
);
CREATE STREAM sightings (
  camera BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, car BIGINT, club BIGINT, PLACE (x, y)
);
CREATE STREAM posts (post BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
"""


@dataclass(frozen=True, slots=True)
class Following:
    """A FOLLOW: whom, the region around each, how much of the past is passed on, and further clauses."""

    focals: str
    region: str
    last_s: int = 0
    words: str = ""

    def __str__(self) -> str:
        last = f"LAST {self.last_s} SECONDS" if self.last_s else ""
        return f"FOLLOW ({' '.join(filter(None, (self.focals, self.region, last, self.words)))})"


def box(edge_m: float) -> str:
    """The paper's region."""
    return f"BOX {edge_m:g}, {edge_m:g}"


def drivers(count: int) -> str:
    """The focal objects of all questions."""
    return f"reports WHERE car < {count}"


def accidents(name: str, following: Following) -> str:
    """Who braked suddenly, with two changes of lane after it."""
    return f"""\
CREATE QUERY {name}_near AS SELECT * FROM reports {following};
CREATE QUERY {name}_moves AS SELECT * FROM {name}_near MATCH_RECOGNIZE (
  PARTITION BY car MEASURES B.speed < A.speed - {DROP_MPS} AS drops, B.x AS x, B.y AS y
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A ~> B) WITHIN {MOVE_S} SECONDS
  DEFINE B AS speed < A.speed - {DROP_MPS} OR lane <> A.lane AND road = A.road
);
CREATE QUERY {name} AS SELECT * FROM {name}_moves MATCH_RECOGNIZE (
  MEASURES D.car AS braked, S.car AS first, T.car AS second, D.x AS x, D.y AS y
  AFTER MATCH SKIP TO NEXT ROW PATTERN (D ~> S ~> T) WITHIN {ACCIDENT_S} SECONDS
  DEFINE D AS drops, S AS NOT drops AND car <> D.car, T AS NOT drops AND car <> D.car AND car <> S.car
);
"""


def friends(name: str, following: Following) -> str:
    """Which cameras saw a car of the club."""
    return f"""\
CREATE QUERY {name}_near AS SELECT * FROM sightings {following};
CREATE QUERY {name} AS SELECT * FROM {name}_near WHERE club = {CLUB};
"""


def speeds(name: str, following: Following, latest: int) -> str:
    """How fast the latest fast cars are."""
    return f"""\
CREATE QUERY {name}_near AS SELECT * FROM reports {following};
CREATE QUERY {name}_fast AS SELECT * FROM {name}_near WHERE speed >= {FAST_MPS};
CREATE QUERY {name} AS SELECT * FROM {name}_fast MATCH_RECOGNIZE (
  MEASURES LAST(A.car) AS car, AVG(A.speed) AS average
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A{{{latest}}}) WITHIN {RESTRICTION_S} SECONDS DEFINE A AS TRUE
);
"""


def counted(name: str, events: str, following: Following) -> str:
    """How many events each interest has, and how well it fits."""
    emitting = replace(following, words=f"{following.words} EMIT INTERESTS".strip())
    return f"CREATE QUERY {name} AS SELECT * FROM {events} {emitting};\n"


def plan_of(
    queries: Sequence[str], visible: Sequence[str], *, saving: Sequence[str] = (), zones: int = 1
) -> Plan:
    """Queries as a plan in which only those that are `visible` emit answers, and only those FOLLOWs save that are `saving`."""
    text = STREAMS + "".join(queries)
    script, errors = parse(text)
    assert not errors, errors
    statements = tuple(
        replace(statement, hidden=statement.name not in visible)
        if isinstance(statement, CreateQuery)
        else statement
        for statement in script.statements
    )
    plan = make_plan(check(Script(statements), text), text, zones=zones)
    return plan.without_savings(*Saving, queries={query.name for query in plan.queries} - set(saving))
