"""Patterns of rows over time: MATCH_RECOGNIZE, its event patterns, and what a sensor node holds of it."""

from headwater.kernels.pattern.kernel import PatternKernel

__all__ = ["PatternKernel"]
