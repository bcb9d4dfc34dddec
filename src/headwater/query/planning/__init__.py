"""From a catalogue to what hosts run: which rows and columns are sent, to which zones, which kernels answer, what answers look like.

Questions about one operator are methods of the operator. `zones` has the rule about two: which query stays in the zone of the one it reads.
"""
