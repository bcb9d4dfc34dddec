"""Updates become lines: how long each lives, and which are given up when there is no room."""
