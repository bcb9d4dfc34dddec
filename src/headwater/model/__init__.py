"""Shared types: rows of columns, time, places, streams, the two contracts, errors, and how all of it is saved.

Everything else is built from these. Nothing here knows a query, a file, a clock or Spark.
"""

from headwater.model.codec import decode, encode, readable, rows_tree, tree_rows
from headwater.model.contracts import (
    HIGHEST,
    Answers,
    ApartKernel,
    Deliver,
    Effect,
    Kernel,
    LookingKernel,
    Message,
    Node,
    NodeId,
    OperatedKernel,
    RecordsByKey,
    Report,
    RowCondition,
    Saved,
    Send,
    Step,
    StoringKernel,
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
from headwater.model.identity import content_ids, text_hash, text_hashes
from headwater.model.keyed_records import (
    Ids,
    Ragged,
    Records,
    Text,
    join_records,
    key_ids,
    no_records,
    shaped,
    text_of,
)
from headwater.model.keyed_store import KeyedStore, Run, empty_store, keyed_store_from, run_from
from headwater.model.network import Link, Network
from headwater.model.network_operators import Filter, Matcher, Matching, Operator, Readings, Source
from headwater.model.place import EARTH_RADIUS_M, Box, Circle, Polygon, Region, distance_m, distances_m
from headwater.model.row_log import Chunk, Log, log_from
from headwater.model.rows import (
    Column,
    ColumnType,
    Rows,
    coded,
    compacted,
    join_by_time,
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
    "Answers", "ApartKernel", "Box", "Chunk", "Circle", "Column", "ColumnType", "DataError", "Deliver", "Effect", "FencesSchema", "Filter", "HeadwaterError",
    "HostError", "Ids", "Instant", "Kernel", "KeyedStore", "LimitReached", "Link", "Log", "LookingKernel", "Matcher", "Matching", "Message", "Network", "Node", "NodeId",
    "OperatedKernel", "Operator", "PeerError", "PlaceColumns", "PointsSchema", "Polygon", "QueriesRefused", "QueryError", "Ragged", "Readings", "Records", "RecordsByKey", "Region",
    "Report", "RowCondition", "Rows", "Run", "Saved", "Send", "Source", "Span", "Step", "StoringKernel", "StreamSchema", "Tell", "Text", "add_counts", "coded", "compacted", "content_ids", "decode", "distance_m", "distances_m", "empty_store", "encode",
    "format_duration", "format_instant", "format_instants", "join_by_time", "join_columns", "join_records", "join_rows", "key_ids", "keyed_store_from", "log_from", "no_records", "order_of",
    "parse_instant", "readable", "rows_tree", "run_from", "same_as_previous", "shaped", "strings", "text_hash", "text_hashes", "text_of", "tree_rows",
]  # fmt: skip
