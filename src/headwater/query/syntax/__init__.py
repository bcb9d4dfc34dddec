"""How a text becomes a tree: tokens, what each grammar rule adds, and what to say where the text goes wrong."""
