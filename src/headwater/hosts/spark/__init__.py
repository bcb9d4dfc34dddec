"""What runs kernels on Spark: streaming with state, batch in chunks, and a session of its own when there is none.

```
session, java     an embedded Spark, silent and quick to start, on a Java from the package index
source            files, read and packed by Python (follow_source, bounded_source)
inputs, followed  what `--input` is, and what is new in its files (seen_file), numbered in the file_log (entry_reading)
frames            a user's DataFrames, admitted by Catalyst
packing, seats    rows on their way to zones, and which task a zone has
operate           the stateful stage                        bounded  the same kernels over a bounded input
points            the points of a user's DataFrames
table             everything a run tells                    sink, checkpoint  each answer exactly once
follow, runs      streaming runs and whole runs             answers  the Python way in
```
"""
