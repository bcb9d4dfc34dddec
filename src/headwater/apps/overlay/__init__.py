"""The overlay as a whole: the correlating kernel, brokers, reliable delivery and the simulated world put together.

```
approaches         the combinations of policies that have a name
nodes              brokers made for an approach, and made again after a crash
reading_lifetime   how long a reading may be on its way
simulation         one run of a network with subscriptions and recorded readings, and its outcome
outcome            loads, answers, and where operators are
measured_cover     how long cover decisions take, and whether they are right
random_scenes      small scenes drawn from a seed: trees, sources, subscriptions that come and go
replay             the world of a seed in which everything goes wrong (`make sim SEED=…`)
```
"""

from headwater.apps.overlay.approaches import APPROACHES, DELTA
from headwater.apps.overlay.outcome import Outcome
from headwater.apps.overlay.simulation import OverlaySettings, simulate
from headwater.workloads.station_subscriptions import Standing
from headwater.workloads.stations import Recorded

__all__ = ["APPROACHES", "DELTA", "Outcome", "OverlaySettings", "Recorded", "Standing", "simulate"]
