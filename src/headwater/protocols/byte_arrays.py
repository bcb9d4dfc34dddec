"""Many byte strings as two arrays, so that the codec of the model writes them in one piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def join_bytes(strings: Iterable[bytes]) -> dict[str, Any]:
    """A tree of byte strings."""
    parts = list(strings)
    return {
        "bytes": np.frombuffer(b"".join(parts), np.uint8),
        "lengths": np.array([len(one) for one in parts], np.int64),
    }


def split_bytes(tree: dict[str, Any]) -> list[bytes]:
    """The byte strings of a tree."""
    whole: bytes = tree["bytes"].tobytes()
    ends = np.cumsum(tree["lengths"]).tolist()
    return [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]
