"""What is known of each mutant, kept from run to run, and which survivors are explained.

The results lie beside the code, in `results/`, one file a module and one entry a function. A
mutant is known by a digest of its function and of the change, so whoever changes a function forgets
what was known of it, and of nothing else. Tests are not part of it: a mutant that was killed stays
so, and survivors are tried anew.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import field, frozen

from tests.mutants.faults import Mutant

HERE: Final = Path(__file__).parent
RESULTS: Final = HERE / "results"
EXPLAINED: Final = HERE / "explained.toml"
VERDICTS: Final = ("killed", "timed out", "survived")


@frozen
class Known:
    """The verdicts on the mutants of one module: name of a function, verdict, keys."""

    path: Path
    verdicts: dict[str, str] = field(factory=dict)
    """From the key of a mutant to its verdict."""

    def write(self, mutants: Iterable[Mutant]) -> None:
        """Keep what is known of the mutants that there still are."""
        functions: dict[str, dict[str, list[str]]] = {}
        for mutant in mutants:
            verdict = self.verdicts.get(mutant.key)
            if verdict is not None:
                entry = functions.setdefault(mutant.function, {})
                entry.setdefault(verdict, []).append(mutant.key)
        lines = (
            f"{json.dumps(name)}: {json.dumps({v: ' '.join(k) for v, k in sorted(entry.items())})}"
            for name, entry in sorted(functions.items())
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def known(module: str, folder: Path = RESULTS) -> Known:
    """Read what is known of a module, as in `loop/_step.py`."""
    path = folder / Path(module).with_suffix(".json")
    if not path.exists():
        return Known(path)
    functions = json.loads(path.read_text("utf-8"))
    return Known(
        path,
        {
            key: verdict
            for entry in functions.values()
            for verdict, keys in entry.items()
            for key in keys.split()
        },
    )


@frozen
class Explanation:
    """Why a mutant that no test kills is none that a test should kill."""

    module: str
    function: str
    changes: tuple[str, ...]
    reason: str

    def names(self) -> Iterator[tuple[str, str, str]]:
        """What identifies each of the mutants that it is about."""
        for change in self.changes:
            yield self.module, self.function, change


def explanations(path: Path = EXPLAINED) -> tuple[Explanation, ...]:
    """Read the explanations, in their order."""
    entries = tomllib.loads(path.read_text("utf-8")).get("survivor", ())
    return tuple(
        Explanation(it["module"], it["function"], tuple(it["changes"]), it["reason"])
        for it in entries
    )


@frozen
class Line:
    """One module in the table."""

    module: str
    mutants: int
    killed: int
    """Those that ran into the limit of time among them."""
    explained: int
    survived: int
    """Without an explanation."""

    @property
    def unmeasured(self) -> int:
        """Of which nothing is known yet."""
        return self.mutants - self.killed - self.explained - self.survived

    @property
    def score(self) -> float | None:
        """The killed among all that were tried, in percent; None if none was."""
        tried = self.mutants - self.unmeasured
        return 100 * self.killed / tried if tried else None


@frozen
class Findings:
    """What all that is known comes to."""

    lines: tuple[Line, ...]
    survivors: tuple[tuple[str, Mutant], ...]
    """Without an explanation, each with its module."""
    idle: tuple[str, ...]
    """What is wrong with explanations: their mutant is gone, or it is killed."""

    @property
    def unmeasured(self) -> int:
        """How many mutants were not tried yet."""
        return sum(line.unmeasured for line in self.lines)


def findings(
    mutants: Mapping[str, tuple[Mutant, ...]],
    verdicts: Mapping[str, Mapping[str, str]],
    explained: Iterable[Explanation],
) -> Findings:
    """Bring together mutants, verdicts (both by module) and explanations."""
    reasons = {name for it in explained for name in it.names() if name[0] in mutants}
    lines, survivors, idle = [], [], dict.fromkeys(reasons, "no such mutant")
    for module, of_module in mutants.items():
        killed = accounted = survived = 0
        for mutant in of_module:
            name = (module, mutant.function, mutant.change)
            verdict = verdicts[module].get(mutant.key)
            if name in reasons:
                idle[name] = "is killed" if verdict in {"killed", "timed out"} else ""
            if verdict in {"killed", "timed out"}:
                killed += 1
            elif verdict == "survived" and name in reasons:
                accounted += 1
            elif verdict == "survived":
                survived += 1
                survivors.append((module, mutant))
        lines.append(Line(module, len(of_module), killed, accounted, survived))
    wrong = sorted(f"{' '.join(name)}: {why}" for name, why in idle.items() if why)
    return Findings(tuple(lines), tuple(survivors), tuple(wrong))


def table(found: Findings) -> Iterator[str]:
    """The findings, a line for each module and one for each room."""
    yield f"{'module':<32}{'mutants':>8}{'killed':>8}{'explained':>11}{'survived':>10}{'%':>7}"
    rooms: dict[str, list[Line]] = {}
    for line in found.lines:
        rooms.setdefault(line.module.partition("/")[0], []).append(line)
    for room, lines in rooms.items():
        yield from map(_row, lines)
        yield _row(
            Line(
                room,
                sum(it.mutants for it in lines),
                sum(it.killed for it in lines),
                sum(it.explained for it in lines),
                sum(it.survived for it in lines),
            )
        )


def _row(line: Line) -> str:
    figures = f"{line.mutants:>8}{line.killed:>8}{line.explained:>11}{line.survived:>10}"
    score = "" if line.score is None else f"{line.score:.1f}"
    rest = f"   {line.unmeasured} not tried" if line.unmeasured else ""
    return f"{line.module:<32}{figures}{score:>7}{rest}"
