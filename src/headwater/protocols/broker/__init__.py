"""The overlay of brokers: subscriptions go where their sources are, readings come back, as little as possible crosses a link.

```
node         the broker: what it does with each message, and its rules
messages     what brokers say to one another
side         what a node knows about one side of itself
store        the readings it holds
filtering    is an operator covered already?           \\
splitting    which part of it concerns what lies there?  > three policies; an approach is one of each
propagation  which readings go to which side?          /
board        boxes of operators that may cover one another
```
"""

from headwater.protocols.broker.filtering import Filtering
from headwater.protocols.broker.messages import (
    Events,
    Request,
    advertise,
    events,
    retract,
    subscribe,
    unsubscribe,
)
from headwater.protocols.broker.node import Approach, Broker, BrokerSettings
from headwater.protocols.broker.propagation import PerNeighbour, PerSubscription, ThroughCentre
from headwater.protocols.broker.splitting import BinaryJoins, ByNeighbour, Towards, canonical

__all__ = [
    "Approach",
    "BinaryJoins",
    "Broker",
    "BrokerSettings",
    "ByNeighbour",
    "Events",
    "Filtering",
    "PerNeighbour",
    "PerSubscription",
    "Request",
    "ThroughCentre",
    "Towards",
    "advertise",
    "canonical",
    "events",
    "retract",
    "subscribe",
    "unsubscribe",
]  # fmt: skip
