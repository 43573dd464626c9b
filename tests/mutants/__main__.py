"""Do the tests bite? `python -m tests.mutants [PATH ...] [--since REF] [--minutes 60]`.

Plants small faults in floors 1 and 2, one at a time, and sees whether a test fails (tests of these
floors, and the properties at 20 examples). What was found is kept in `results/`, so a run goes on
where the last one stopped; survivors without an explanation are tried anew. A run ends after so
many minutes, and says how much is left.

The status is 0 if all that was chosen is measured, each survivor is explained in `explained.toml`,
and each explanation is needed.
"""

import argparse
import itertools
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.mutants.faults import Faulty, faulty
from tests.mutants.results import Findings, Known, explanations, findings, known, table
from tests.mutants.trial import FLOORS, PACKAGE, ROOT, Trials, collected


def _chosen(paths: list[str], since: str | None) -> Iterator[str]:
    """Name the modules of floors 1 and 2 that are meant, as in `loop/_step.py`."""
    changed = None if since is None else _changed(since)
    wanted = [_named(path) for path in paths]
    for room in FLOORS:
        for path in sorted((PACKAGE / room).glob("*.py")):
            name = f"{room}/{path.name}"
            if wanted and not any(name == it or name.startswith(f"{it}/") for it in wanted):
                continue
            if changed is None or path in changed:
                yield name


def _named(path: str) -> str:
    """Take `loop`, `loop/_step.py` and `src/stepfold/loop/_step.py` alike."""
    name = path.removeprefix("src/stepfold/").rstrip("/")
    if not (PACKAGE / name).exists() or not name.startswith(FLOORS):
        sys.exit(f"expected a room or module of {', '.join(FLOORS)}, got {path!r}")
    return name


def _changed(since: str) -> set[Path]:
    command = ("git", "diff", "--name-only", since, "--", "src")
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"git knows no {since!r}: {ran.stderr.strip()}")
    return {ROOT / line for line in ran.stdout.splitlines()}


def _report(modules: dict[str, Faulty], verdicts: dict[str, Known]) -> Findings:
    return findings(
        {name: module.mutants for name, module in modules.items()},
        {name: it.verdicts for name, it in verdicts.items()},
        explanations(),
    )


def _measure(
    trials: Trials,
    modules: dict[str, Faulty],
    verdicts: dict[str, Known],
    open_mutants: list[tuple[str, int]],
    until: float,
) -> None:
    """Try the mutants one after the other, keeping what was found at every new function."""
    began = time.monotonic()
    for name, numbers in itertools.groupby(open_mutants, key=lambda it: it[0]):
        # Another run may have come by in the meantime.
        verdicts[name].verdicts.update(known(name).verdicts)
        written = time.monotonic()
        for _, number in numbers:
            if time.monotonic() > until:
                break
            mutant = modules[name].mutants[number]
            if verdicts[name].verdicts.get(mutant.key, "survived") != "survived":
                continue
            verdict = trials.verdict(modules[name], number)
            verdicts[name].verdicts[mutant.key] = verdict
            if verdict == "survived":
                print(f"{name}:{mutant.line} {mutant.function}: {mutant.change}", flush=True)
            if time.monotonic() - written > 20:
                verdicts[name].write(modules[name].mutants)
                written = time.monotonic()
        verdicts[name].write(modules[name].mutants)
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def main(arguments: Iterable[str] | None = None) -> int:
    """Measure what was chosen, and report on it."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="rooms or modules: loop/_step.py")
    parser.add_argument("--since", metavar="REF", help="only modules that changed since then")
    parser.add_argument("--minutes", type=float, default=60, help="of this run (%(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=20, help="of tests that a mutant is worth (%(default)s)"
    )
    parser.add_argument("--again", action="store_true", help="explained survivors too")
    parser.add_argument("--report", action="store_true", help="try nothing, tell what is known")
    options = parser.parse_args(None if arguments is None else list(arguments))

    names = list(_chosen(options.paths, options.since))
    modules = {name: faulty(PACKAGE / name, (PACKAGE / name).read_text("utf-8")) for name in names}
    verdicts = {name: known(name) for name in names}
    accounted = {name for it in explanations() for name in it.names()}
    left = [
        (name, number)
        for name in names
        for number, mutant in enumerate(modules[name].mutants)
        if verdicts[name].verdicts.get(mutant.key, "survived") == "survived"
        and (
            options.again
            or mutant.key not in verdicts[name].verdicts
            or (name, mutant.function, mutant.change) not in accounted
        )
    ]
    if left and not options.report:
        until = time.monotonic() + 60 * options.minutes
        print(f"{len(left)} mutants to try", flush=True)
        collected(lambda trials: _measure(trials, modules, verdicts, left, until), options.seconds)

    found = _report(modules, verdicts)
    print(*table(found), sep="\n")
    for name, mutant in found.survivors:
        print(f"survived: {name}:{mutant.line} {mutant.function}: {mutant.change}")
    for line in found.idle:
        print(f"explained for nothing: {line}")
    if found.unmeasured:
        print(f"{found.unmeasured} mutants are not tried yet: run this again")
    return int(bool(found.survivors or found.idle or found.unmeasured))


if __name__ == "__main__":
    sys.exit(main())
