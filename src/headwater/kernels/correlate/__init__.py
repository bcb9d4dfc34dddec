"""Which readings of different sensors belong together? (`CORRELATE`)

`subscription` is a standing query, `kernel` is the step; `match` finds the clauses of a reading, `engine` and `search` the complex
events, `routing` the zones that need a row. `members` finds the readings of operators for the nodes of a network.
"""

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.kernel import CorrelateKernel, CorrelateState
from headwater.kernels.correlate.members import MemberMatcher, Membership
from headwater.kernels.correlate.subscription import Emit, Subscription

__all__ = [
    "Clause",
    "CorrelateKernel",
    "CorrelateState",
    "Emit",
    "Interval",
    "MemberMatcher",
    "Membership",
    "Subscription",
]
