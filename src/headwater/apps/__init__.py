"""Ways in: the command line (`cli`) and what it needs; it says of a run what `hosts.run_reports` says."""
