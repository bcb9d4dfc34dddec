"""How fast is it here? Workloads, yardsticks and checks of `headwater bench`.

```
stations    rows of a thousand stations, in files            questions   the subscriptions over them
ceiling     a kernel that does nothing, in the same stages   native      the same question as Spark's own join
flink       the same question to Flink, if there is one      streaming   one timed run on Spark
truth       what the answers must be, worked out otherwise   memory      the peak of every Python worker
checks      answers before figures                           figures     required beside reached
correlate   the benchmark itself
```
"""

__all__: list[str] = []
