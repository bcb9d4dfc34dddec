"""From a catalogue to what hosts run: which rows and columns travel, to which zones, which kernels answer, what answers look like.

What is true of one operator alone is asked of the operator. `zones` has the rule about two: which query stays in the zone of the one it reads.
"""
