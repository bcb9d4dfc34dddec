"""What runs kernels: a plain loop (`local`), Spark (`spark`), and what both need (`files`, `zone`)."""
