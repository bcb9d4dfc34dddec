"""A scene as one page of HTML that plays it, and needs nothing beside it."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import escape
from importlib.resources import files

from headwater_lab.reproduce.follow.scene import LAST_S, MOVED_M, RADIUS_M, VIEW_M, Scene


def player(scene: Scene, *, whose: str) -> str:
    """The page; `whose` says where the traffic is from."""
    page = files(__package__).joinpath("player.html").read_text(encoding="utf-8")
    data = asdict(scene) | {"radius": RADIUS_M, "view": VIEW_M}
    # "</" would end the script that contains the data.
    packed = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    words = (
        f"Car {scene.driver} in {whose}. Its interest is a circle of {RADIUS_M} m; a new one begins when it is more than {MOVED_M} m from where the "
        f"last one did, and brings what happened there in the {LAST_S} s before."
    )
    return (
        page.replace("{{words}}", escape(words))
        .replace("{{text}}", escape(scene.text))
        .replace("{{data}}", packed)
    )
