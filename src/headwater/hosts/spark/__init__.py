"""What runs kernels on Spark: streaming with state, batch in chunks, and a session of its own when there is none.

```
session           an embedded Spark: its Java (java), its process (java_process), a start from an archive (class_archive)
files_source      files as a Spark source, read and packed by Python: streaming_source, bounded_source, reading_tasks
inputs            what `--input` names; streamed_files finds what is new in them (changed_file), the file_log numbers it as entries,
                  entry_rows reads one
frame_packing     DataFrames of a user, filtered by Catalyst and packed
packing           rows on their way to zones; partition_keys: which task has which zone
stateful_stage    the kernels of a zone, once a micro-batch       bounded  the same kernels over a bounded input
declared_sets     points and fences in DataFrames
zone_report       what a zone reports of a micro-batch; output_table: the same as rows of a table; sink: into files (output_files)
checkpoint        its folder: notes, changes of queries, copy, inspection, relocation, stored_state
streaming         a streaming run                                 file_runs  runs over files
```
"""
