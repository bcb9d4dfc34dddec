"""PREDICT: when are conditions on predicted lines true? Of one sensor, or of pairs of them that need not report together. See `kernel`.

Nothing is exported here: the language needs the choices of every kernel, and a kernel only when it runs.
"""
