"""Ways in: the command line (`cli`) and Python (`python_api`); both tell of a run what `run_reports` says."""
