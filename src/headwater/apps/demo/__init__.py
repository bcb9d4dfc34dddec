"""The main job with nothing prepared: a generated valley, standing queries on an embedded Spark, a live view."""

from headwater.apps.demo.run import run_demo

__all__ = ["run_demo"]
