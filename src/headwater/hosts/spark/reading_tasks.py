"""What tasks that read files have in common: the plan, one thread each, and an equal share of the work."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import pyarrow as pa

from headwater.hosts.files import FileRows
from headwater.query.planning.plan import Plan


class Sized(Protocol):
    """Work of some size."""

    @property
    def size(self) -> int:
        """The bytes of it."""
        ...


Work = TypeVar("Work", bound=Sized)


def plan_of(options: Mapping[str, str]) -> Plan:
    """The plan that this run's driver put into the options; the same object for every task of a process."""
    plan = pickle.loads(base64.b64decode(options["plan"]))
    assert isinstance(plan, Plan)
    return plan


def on_one_thread(pieces: Iterator[FileRows]) -> Iterator[FileRows]:
    """Pieces of a file, with pyarrow limited to one thread: Spark runs one task a core already."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    yield from pieces


def share_out(files: Sequence[Work], shares: int) -> list[list[Work]]:
    """Files in at most so many shares of about equal size; one empty share when there are no files."""
    bins: list[list[Work]] = [[] for _ in range(max(1, min(shares, len(files))))]
    weight = [0] * len(bins)
    for file in sorted(files, key=lambda f: -f.size):
        lightest = weight.index(min(weight))
        bins[lightest].append(file)
        weight[lightest] += file.size + 1
    return bins
