"""SUPPRESS: a sensor sends lines instead of readings, and only when the last line no longer holds. See `kernel`.

Nothing is exported here: the language needs the choices of every kernel, and a kernel only when it runs.
"""
