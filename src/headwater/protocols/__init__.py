"""Node behaviour as state machines: a message or a wake-up in, effects out; no I/O, no clock.

The brokers, sensor nodes and overlay nodes move in here. They are given their kernels and never import them.
"""
