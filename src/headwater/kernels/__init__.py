"""Query algorithms as pure steps over columns: state + rows + watermark -> state + answers.

`correlate` answers which readings belong together, `select` which rows satisfy a condition. A kernel runs all queries of its
kind over one stream at once; it knows no clock, no file and no Spark.
"""
