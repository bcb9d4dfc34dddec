"""The language: text -> tree -> checked plan -> kernels."""
