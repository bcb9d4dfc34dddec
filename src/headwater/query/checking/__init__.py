"""Can it be answered? From a tree to a catalogue in which every name, type and default is settled, or to all errors.

One file for each part of the language. Each takes a piece of the tree, reports all of its errors to `Complaints`, and returns its
meaning as far as it can be determined, so that one mistake does not hide the next and does not cause others.
"""
