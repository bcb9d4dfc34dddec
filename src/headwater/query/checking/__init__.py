"""Can it be answered? From a tree to a catalogue in which every name, type and default is settled, or to every error there is.

One file a part of the language. Each takes a piece of the tree, tells `Complaints` everything that is wrong with it, and gives what it
means as far as it can be said, so that one mistake does not hide the next and does not make others appear.
"""
