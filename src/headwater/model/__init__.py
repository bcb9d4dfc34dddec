"""The nouns: rows of columns, time, places, streams, the two contracts, errors, and how all of it is saved.

Everything else is built from these. Nothing here knows a query, a file, a clock or Spark.
"""

from headwater.model.codec import decode, encode, readable, rows_tree, tree_rows
from headwater.model.contracts import (
    HIGHEST,
    Answers,
    Deliver,
    Effect,
    Kernel,
    Message,
    Node,
    NodeId,
    Report,
    RowCondition,
    Saved,
    Send,
    Step,
    Tell,
    add_counts,
)
from headwater.model.errors import (
    DataError,
    HeadwaterError,
    HostError,
    LimitReached,
    PeerError,
    QueriesRefused,
    QueryError,
    Span,
)
from headwater.model.identity import content_ids, text_hash
from headwater.model.log import Chunk, Log, chunk_tree, log_from
from headwater.model.network import Link, Network
from headwater.model.operators import Filter, Matcher, Matching, Operator, Readings, Source
from headwater.model.place import EARTH_RADIUS_M, Box, Circle, Polygon, Region, distance_m, distances_m
from headwater.model.rows import (
    Column,
    ColumnType,
    Rows,
    coded,
    compacted,
    join_columns,
    join_rows,
    order_of,
    same_as_previous,
    strings,
)
from headwater.model.schema import APART, GEOMETRY, FencesSchema, PlaceColumns, PointsSchema, StreamSchema
from headwater.model.time import (
    BEGINNING,
    END,
    SECOND,
    UNITS,
    Instant,
    format_duration,
    format_instant,
    format_instants,
    parse_instant,
)

__all__ = [
    "APART", "BEGINNING", "EARTH_RADIUS_M", "END", "GEOMETRY", "HIGHEST", "SECOND", "UNITS",
    "Answers", "Box", "Chunk", "Circle", "Column", "ColumnType", "DataError", "Deliver", "Effect", "FencesSchema", "Filter", "HeadwaterError",
    "HostError", "Instant", "Kernel", "LimitReached", "Link", "Log", "Matcher", "Matching", "Message", "Network", "Node", "NodeId",
    "Operator", "PeerError", "PlaceColumns", "PointsSchema", "Polygon", "QueriesRefused", "QueryError", "Readings", "Region",
    "Report", "RowCondition", "Rows", "Saved", "Send", "Source", "Span", "Step", "StreamSchema", "Tell", "add_counts", "chunk_tree", "coded", "compacted", "content_ids", "decode", "distance_m", "distances_m", "encode",
    "format_duration", "format_instant", "format_instants", "join_columns", "join_rows", "log_from", "order_of",
    "parse_instant", "readable", "rows_tree", "same_as_previous", "strings", "text_hash", "tree_rows",
]  # fmt: skip
