"""Does what was published hold here? The experiments of `headwater reproduce`, one module for each.

```
outcome     what every experiment gives: a table, panels of a picture, claims with their evidence
picture     panels as a PNG
```

An experiment is a module with the name of the experiment, `-` written as `_`, and a function `reproduce(scale, say)`.
"""

from typing import Final

__all__ = ["EXPERIMENTS", "SCALES"]

EXPERIMENTS: Final = {
    "nearest-candidates": "NEAREST: candidates and cost against k, for RA, RAPF and PA",
}
SCALES: Final = ("small", "paper")
