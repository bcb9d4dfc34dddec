"""The points and fences of a run on the command line: read before its first row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.apps.cli.arguments import UsageError
from headwater.hosts.declared_sets import DeclaredSets, probable_queries, sets_from_files
from headwater.query.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class PlanWithSets:
    """A plan that has its points and fences, the inputs of its streams, and what reading them gave."""

    plan: Plan
    streams: Mapping[str, list[str]]
    points: DeclaredSets


def read_sets(
    plan: Plan,
    inputs: Mapping[str, list[str]],
    *,
    audit: float | None = None,
    parts: Mapping[str, int] | None = None,
) -> PlanWithSets:
    """Read the points and fences among the inputs; `parts` says over how many zones those of a query lay before."""
    if audit is not None and not probable_queries(plan):
        raise UsageError(
            "usage",
            "--audit measures the loss of PROBABLE, but no query is USING PROBABLE",
            advice=["leave --audit out: no answer is lost"],
        )
    declared = sets_from_files(plan, inputs)
    plan = plan.with_sets(declared.rows, parts=parts, audit=audit or 0.0)
    sets = {*(points.name for points in plan.points), *(fences.name for fences in plan.fences)}
    streams = {name: paths for name, paths in inputs.items() if name not in sets}
    return PlanWithSets(plan, streams, declared)
