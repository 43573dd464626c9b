"""Users' type checkers know the type of everything that can be reached (pyright --verifytypes)."""

import json
import os
import subprocess
import sys
from pathlib import Path


def test_every_reachable_symbol_has_a_known_type(tmp_path: Path) -> None:
    # It reads the environment that is active, and the working directory if a package lies there.
    environment = os.environ | {
        "VIRTUAL_ENV": sys.prefix,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    }
    command = (sys.executable, "-m", "pyright", "--verifytypes", "stepfold", "--ignoreexternal")
    ran = subprocess.run(
        (*command, "--outputjson"),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(ran.stdout)["typeCompleteness"]
    unknown = [
        f"{symbol['name']}: {diagnostic['message']}"
        for symbol in report["symbols"]
        if not symbol["isTypeKnown"]
        for diagnostic in symbol["diagnostics"]
    ]

    assert not unknown, "\n".join(unknown)
    assert report["completenessScore"] == 1
