"""The Python way in, `hw.run`: what may be given as queries and inputs, which engine answers, and what comes back.

Everything here is imported when it is used, and nothing of Spark before a run needs it (`spark_answers`, `spark_inputs`, `sessions`).
"""
