from headwater.model import ColumnType, StreamSchema

COLUMNS = (
    ("humidity", ColumnType.DOUBLE),
    ("station", ColumnType.STRING),
    ("at", ColumnType.TIMESTAMP),
    ("wind", ColumnType.DOUBLE),
)


def test_order_is_time_key_then_the_rest_as_declared():
    assert StreamSchema("weather", COLUMNS, "at", "station").order == ("at", "station", "humidity", "wind")
    assert StreamSchema("weather", COLUMNS, "at").order == ("at", "humidity", "station", "wind")


def test_types_by_name():
    assert StreamSchema("weather", COLUMNS, "at").types["wind"] is ColumnType.DOUBLE
