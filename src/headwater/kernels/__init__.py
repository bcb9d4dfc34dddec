"""Query algorithms as pure steps over columns: state + rows + watermark -> state + answers."""
