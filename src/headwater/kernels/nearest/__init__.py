"""NEAREST: the k nearest objects of a sliding window, for thousands of standing queries. See `kernel`.

Nothing is exported here: the language needs the choices of every kernel, and a kernel only when it runs.
"""
