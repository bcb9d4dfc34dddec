"""FOLLOW: situations around moving objects. See `kernel`.

Nothing is exported here: the language needs the choices of every kernel, and a kernel only when it runs.
"""
