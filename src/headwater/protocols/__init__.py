"""Node behaviour as state machines: a message or a wake-up in, effects out; no I/O, no clock.

```
broker     the overlay: subscriptions go where their sources are, readings come back
cover      is an operator already covered by others?
delivery   in order and exactly once, over links that do neither
```

Nodes receive their kernels and never import them.
"""
