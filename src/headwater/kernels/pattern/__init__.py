"""Patterns of rows over time: MATCH_RECOGNIZE, its event patterns, and what a sensor node holds of it. See `kernel`.

Nothing is exported here: the language needs the choices of every kernel, and a kernel only when it runs.
"""
