"""Headwater answers standing questions about the physical world.

```python
import headwater as hw
answers = hw.run(text, {"weather": df})
answers["frost"]
```

Only names are defined here; what they stand for is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Answers": "headwater.hosts.spark.answers",
    "HeadwaterError": "headwater.model",
    "check": "headwater.query.given",
    "correlate": "headwater.query.build",
    "each_of": "headwater.query.build_nearest",
    "explain": "headwater.query.given",
    "fence": "headwater.query.build_fence",
    "fences": "headwater.query.build_fence",
    "follow": "headwater.query.build_follow",
    "highest": "headwater.query.build_nearest",
    "lowest": "headwater.query.build_nearest",
    "match": "headwater.query.build_patterns",
    "nearest": "headwater.query.build_nearest",
    "pattern": "headwater.query.build_patterns",
    "points": "headwater.query.build_nearest",
    "predict": "headwater.query.build_predict",
    "run": "headwater.hosts.spark.answers",
    "select": "headwater.query.build",
    "stream": "headwater.query.build",
    "suppress": "headwater.query.build_predict",
    "suppressing": "headwater.query.build_predict",
}

__all__ = [
    "Answers",
    "HeadwaterError",
    "check",
    "correlate",
    "each_of",
    "explain",
    "fence",
    "fences",
    "follow",
    "highest",
    "lowest",
    "match",
    "nearest",
    "pattern",
    "points",
    "predict",
    "run",
    "select",
    "stream",
    "suppress",
    "suppressing",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'headwater' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
