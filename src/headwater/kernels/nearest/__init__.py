"""NEAREST: the k nearest objects of a sliding window, for thousands of standing queries."""
