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
    "check": "headwater.query.python_input",
    "correlate": "headwater.query.build",
    "each_of": "headwater.query.operators.nearest.build",
    "explain": "headwater.query.python_input",
    "fence": "headwater.query.operators.fence.build",
    "fences": "headwater.query.operators.fence.build",
    "follow": "headwater.query.operators.follow.build",
    "highest": "headwater.query.operators.nearest.build",
    "lowest": "headwater.query.operators.nearest.build",
    "match": "headwater.query.operators.pattern.build",
    "nearest": "headwater.query.operators.nearest.build",
    "pattern": "headwater.query.operators.pattern.build",
    "points": "headwater.query.operators.nearest.build",
    "predict": "headwater.query.operators.predict.build",
    "run": "headwater.hosts.spark.answers",
    "select": "headwater.query.build",
    "stream": "headwater.query.build",
    "suppress": "headwater.query.operators.suppress.build",
    "suppressing": "headwater.query.operators.suppress.build",
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
