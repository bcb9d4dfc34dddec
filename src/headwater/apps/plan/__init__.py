"""A plan for a real network: which operators stand where, and what each link carries, before anything is built.

```
json_places    JSON with the place of every value
refusals       every error of a network file, reported at once
network_file   nodes, links, sensors, users
tree_shape     circles and pieces
operators      CORRELATE queries as what nodes exchange
subscriptions  the two together: whose query is what to which sensors
day            the readings: recorded, or made up
simulation     the protocol over a day, as requested and through the centre
words          operators in words
report         tables
layout         where the nodes of a tree are drawn
picture        the tree with what its links carry
```
"""

__all__: list[str] = []
