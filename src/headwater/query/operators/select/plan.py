"""From plain SELECTs to the queries of their kernel."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kernels.select import Selection, SelectKernel
from headwater.query.operators.contract import KernelPlace
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import RowConditions


def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> SelectKernel:
    """The kernel of some plain SELECTs."""
    conditions = RowConditions()
    selections = [
        Selection(query.name, query.fingerprint, query.shape, conditions.place(query.where))
        for query in queries
    ]
    return SelectKernel(place.source, selections, conditions.listed, by_interest=place.by_interest)
