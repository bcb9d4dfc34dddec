"""A plan over files in a plain loop, in this process: no Spark, no JVM, the same answers.

`run_local` takes a bounded input to its end; `stream_local` takes files one by one, as they would appear in a folder.
"""

from headwater.hosts.local.bounded import run_local
from headwater.hosts.local.run_report import RunReport
from headwater.hosts.local.streaming import stream_local

__all__ = ["RunReport", "run_local", "stream_local"]
