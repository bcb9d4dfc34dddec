"""Headwater answers standing questions about the physical world.

```python
import headwater as hw
answers = hw.run(text, {"weather": df})   # a DataFrame of pandas, Polars or Spark, a table of Arrow, or files
answers["frost"].to_pandas()
```

Only names are defined here; what they stand for is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwater.version import __version__ as __version__

if TYPE_CHECKING:
    from headwater import testing as testing
    from headwater.hosts.api.answer_rows import AnswerRow as AnswerRow
    from headwater.hosts.api.answers import Answers as Answers
    from headwater.hosts.api.answers import AnswerTable as AnswerTable
    from headwater.hosts.api.queries import check as check
    from headwater.hosts.api.queries import explain as explain
    from headwater.hosts.api.run import run as run
    from headwater.hosts.api.sessions import configure as configure
    from headwater.hosts.api.sessions import session as session
    from headwater.model import HeadwaterError as HeadwaterError
    from headwater.query.build import select as select
    from headwater.query.build import stream as stream
    from headwater.query.build import view as view
    from headwater.query.operators.correlate.build import correlate as correlate
    from headwater.query.operators.fence.build import fence as fence
    from headwater.query.operators.fence.build import fences as fences
    from headwater.query.operators.follow.build import follow as follow
    from headwater.query.operators.nearest.build import each_of as each_of
    from headwater.query.operators.nearest.build import highest as highest
    from headwater.query.operators.nearest.build import lowest as lowest
    from headwater.query.operators.nearest.build import nearest as nearest
    from headwater.query.operators.nearest.build import points as points
    from headwater.query.operators.pattern.build import match as match
    from headwater.query.operators.pattern.build import pattern as pattern
    from headwater.query.operators.predict.build import predict as predict
    from headwater.query.operators.suppress.build import suppress as suppress
    from headwater.query.operators.suppress.build import suppressing as suppressing

_HOMES = {
    "AnswerRow": "headwater.hosts.api.answer_rows",
    "AnswerTable": "headwater.hosts.api.answers",
    "Answers": "headwater.hosts.api.answers",
    "HeadwaterError": "headwater.model",
    "check": "headwater.hosts.api.queries",
    "configure": "headwater.hosts.api.sessions",
    "correlate": "headwater.query.operators.correlate.build",
    "each_of": "headwater.query.operators.nearest.build",
    "explain": "headwater.hosts.api.queries",
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
    "run": "headwater.hosts.api.run",
    "select": "headwater.query.build",
    "session": "headwater.hosts.api.sessions",
    "stream": "headwater.query.build",
    "suppress": "headwater.query.operators.suppress.build",
    "suppressing": "headwater.query.operators.suppress.build",
    "view": "headwater.query.build",
}

__all__ = [
    "AnswerRow",
    "AnswerTable",
    "Answers",
    "HeadwaterError",
    "check",
    "configure",
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
    "session",
    "stream",
    "suppress",
    "suppressing",
    "testing",
    "view",
]


if not TYPE_CHECKING:  # a type checker sees the imports above, and that there is nothing else

    def __getattr__(name: str) -> Any:
        if name == "testing":
            return import_module("headwater.testing")
        if name not in _HOMES:
            raise AttributeError(f"module 'headwater' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
