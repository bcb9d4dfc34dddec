"""An environment as `pip install headwater` makes it: the built wheel, what it depends on, and nothing of the checkout.

The packages it depends on are those of the environment that runs the tests, found by a line of a `.pth` file. Such a line brings no
`.pth` files of its own, so the editable install of the checkout stays out of sight. HOME and the caches are new and empty.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class FreshEnvironment:
    """Runs commands as a user of the wheel does."""

    folder: Path

    def run(self, command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command line in a shell: exit code and both outputs, kept apart."""
        home = self.folder / "home"
        return subprocess.run(
            ["bash", "-c", command],
            cwd=cwd,
            env={
                "PATH": f"{self.folder / 'venv' / 'bin'}:/usr/bin:/bin",
                "HOME": str(home),
                "XDG_CACHE_HOME": str(home / ".cache"),
                "LC_ALL": "C.UTF-8",
                "MPLBACKEND": "Agg",
                **variables,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )

    def output_of(self, command: str, cwd: Path, **variables: str) -> str:
        """Standard output of a command that must succeed."""
        done = self.run(command, cwd, **variables)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def make_environment(folder: Path) -> FreshEnvironment:
    """Build the wheel and install it."""
    (folder / "home").mkdir()
    _call(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder / "dist")
    (wheel,) = (folder / "dist").glob("*.whl")
    venv = folder / "venv"
    _call(sys.executable, "-m", "venv", "--without-pip", venv)
    uv = Path(sys.executable).parent / "uv"
    python = venv / "bin" / "python"
    _call(uv, "pip", "install", "--quiet", "--offline", "--no-cache", "--no-deps", "--python", python, wheel)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return FreshEnvironment(folder)


def _call(*words: str | Path) -> None:
    done = subprocess.run(
        [str(word) for word in words], cwd=ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
