"""What is computed from the rows of a window, changed in place by one step after another.

Copying it would make a step cost as much as the window holds; changing it in place makes it cost as much as the step brings.

Rule 1  A memory belongs to the newest state that was made with it: the one whose `moment` equals its own.
Rule 2  A step from an older state (a batch that is run again) finds that the memory has changed, and computes one of its own
        from the logged rows of its state, as after a restart.
Rule 3  The moment changes before anything else does, so a step that fails leaves no state whose memory is half changed.
"""

from __future__ import annotations

import numpy as np

from headwater.kernels.correlate.chains import ChainRoom, Past, no_heads
from headwater.kernels.correlate.match import Matches
from headwater.kernels.correlate.past_matches import MatchListRoom
from headwater.kernels.correlate.subscription_table import BY_SENSOR, HEAD, SubscriptionTable


class Memory:
    """The latest match of every class, past matches, and where they are."""

    __slots__ = ("heads", "moment", "past_matches", "places")

    def __init__(self, classes: int) -> None:
        self.moment = 0
        self.heads = no_heads(classes)
        self.past_matches = ChainRoom()
        self.places = MatchListRoom(classes)

    def forget(self, moment: int, before_row: int) -> int:
        """Drop matches of rows before `before_row`, if this is still the memory of that moment; returns the next moment."""
        if moment == self.moment:
            self.moment += 1
            self.past_matches.forget(before_row)
            return self.moment
        return moment

    def make_room(self, subscriptions: SubscriptionTable, past: Past, matches: Matches) -> int:
        """Make room for new matches; returns the number of the first of them."""
        self.moment += 1
        mode = subscriptions.class_mode[matches.of_class]
        searched, remembered = int(np.count_nonzero(mode >= BY_SENSOR)), int(np.count_nonzero(mode != HEAD))
        if searched:
            self.places.add(self.past_matches.chains, subscriptions, past, searched)
        next_match = self.past_matches.first + len(self.past_matches)
        self.past_matches.add(remembered)
        return next_match
