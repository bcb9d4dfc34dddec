"""Tests of queries: rows, queries and expected answers as text. `headwater test` runs them, and so does pytest.

```python
import headwater as hw
hw.testing.check("frost.hwtest")
```
"""

from headwater.testing.assertions import assert_answers, check

__all__ = ["assert_answers", "check"]
