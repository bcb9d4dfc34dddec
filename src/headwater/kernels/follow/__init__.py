"""FOLLOW: situations around those who move. See `kernel`."""

from headwater.kernels.follow.kernel import FollowKernel

__all__ = ["FollowKernel"]
