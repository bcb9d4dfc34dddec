"""FENCE: which objects enter or leave which fences. See `kernel`.

Nothing is exported here: the language needs the choices of every kernel, and a kernel only when it runs.
"""
