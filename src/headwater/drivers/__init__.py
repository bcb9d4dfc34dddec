"""What runs protocols: a seeded simulated world, and a real network.

A driver owns the clock and the wire; a node (see `headwater.model.Node`) owns the behaviour.
"""
