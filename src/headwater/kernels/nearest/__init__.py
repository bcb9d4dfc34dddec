"""NEAREST: the k nearest objects of a sliding window, for thousands of standing queries."""

from headwater.kernels.nearest.kernel import NearestKernel

__all__ = ["NearestKernel"]
