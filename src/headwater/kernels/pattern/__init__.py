"""Patterns of rows over time: MATCH_RECOGNIZE, its event patterns, and the part of it that runs on a sensor node. See `kernel`.

Nothing is exported here: the language needs the choices of every kernel, and a kernel only when it runs.
"""
