"""The commands that the laboratory adds to the command line: one module each, with `add_arguments` and `run`.

`lab/pyproject.toml` names them as entry points of the group `headwater.commands`.
"""

__all__: list[str] = []
