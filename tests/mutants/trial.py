"""Try mutants: one process that has imported and collected everything, forked for each of them.

A child puts the fault into the functions that are there, runs the tests that reach the function,
the quickest first, and ends at the first that fails. The parent runs no test, so that nothing that
a test leaves behind reaches the next one. A fault that shows only while modules are imported is
none that this could see: such functions are tried in a process of their own.
"""

import functools
import gc
import hashlib
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Final, Literal, TypeAlias

import pytest
from attrs import field, frozen

from tests.mutants.faults import Faulty, Mutant, function_of

Verdict: TypeAlias = Literal["killed", "timed out", "survived"]
Spot: TypeAlias = tuple[str, str, int]
Say: TypeAlias = Callable[[str], object]
Called: TypeAlias = dict[int, CodeType]

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "src" / "stepfold"
FLOORS: Final = ("values", "schema", "loop", "codec")
SUITES: Final = (
    *(f"tests/{room}" for room in FLOORS),
    "tests/regressions",
    "tests/testing/test_exploration.py",
    "tests/testing/test_laws.py",
    "properties",
)
"""All that tries floors 1 and 2 without the shell around them, and the laws."""
BESIDE: Final = (
    *("*_chunking", "chaos", "embedding*", "emulate_tools", "journals", "mid_stream"),
    *("middleware_*", "mutated_streams", "network_guard", "observers", "performance", "pipelines"),
    *("machine", "schema_documents", "scripts", "transforms", "transitions"),
)
"""The properties that are about floors above, or take long to hold what others hold in less."""

MEMORY: Final = 4 << 30
KEPT: Final = ROOT / ".mutants" / "reach.json"


@frozen
class Reach:
    """Which tests call a function, and how long each takes."""

    tests_of: Mapping[str, Sequence[str]]
    """From `place_of` a function to the ids of tests, the quickest first."""
    seconds: Mapping[str, float]
    at_import: frozenset[str]
    """The functions that run while modules are imported."""


def place_of(path: str | Path, function: str) -> str:
    """How the map of tests names a function."""
    return f"{Path(path).relative_to(PACKAGE)} {function}"


@frozen
class Trials:
    """What the collected tests make of one mutant after the other."""

    items: Mapping[str, pytest.Item]
    reach: Reach
    functions: Mapping[Spot, Sequence[FunctionType]]
    caches: Sequence[Callable[[], None]]
    at_most: float
    """Seconds of tests that one mutant is worth."""
    _killers: dict[str, list[str]] = field(factory=lambda: defaultdict(list))
    _sound: set[str] = field(factory=set)
    """The functions whose tests hold in a process of their own."""

    def verdict(self, module: Faulty, number: int) -> Verdict:
        """Try one mutant of a module."""
        mutant = module.mutants[number]
        place = place_of(module.path, mutant.function)
        killers = self._killers[place]
        tests = self._selected(place, killers)
        if not tests:
            return "survived"
        wall = 60 + 30 * sum(self.reach.seconds[it] for it in tests)
        verdict, told = _told(lambda say: self._try(module, mutant, tests, say), wall)
        if verdict == "survived" and place in self.reach.at_import:
            verdict = self._tried_cold(place, module.path, number, tests, wall)
        if told in self.items:
            killers[:] = [told, *(it for it in killers if it != told)]
        return verdict

    def _tried_cold(
        self, place: str, path: Path, number: int, tests: Sequence[str], wall: float
    ) -> Verdict:
        """Try a mutant where it is imported; its death counts if the tests hold without a fault."""
        verdict, _ = _cold(path, number, tests, wall)
        if verdict != "survived" and place not in self._sound:
            without, told = _cold(path, None, tests, wall)
            if without != "survived":
                raise _UnsoundError(f"tests of {place} fail in a process of their own:\n{told}")
            self._sound.add(place)
        return verdict

    def _selected(self, place: str, killers: Sequence[str]) -> list[str]:
        """What killed before, what is about the module, and then what is quick.

        Not all of it: as much as one mutant is worth.
        """
        room, _, name = place.split(" ", maxsplit=1)[0].removesuffix(".py").partition("/")
        mirror = f"tests/{room}/test_{name.lstrip('_')}.py::"
        near = self.reach.tests_of.get(place, ())
        chosen, spent = list(killers), 0.0
        for test in sorted(near, key=lambda it: not it.startswith(mirror)):
            spent += self.reach.seconds[test]
            if spent > self.at_most:
                break
            if test not in killers:
                chosen.append(test)
        return chosen

    def _try(self, module: Faulty, mutant: Mutant, tests: Sequence[str], say: Say) -> None:
        for clear in self.caches:
            clear()
        try:
            self._put(module, mutant)
        except (SyntaxError, ValueError) as error:
            say(f"killed {error}")  # no function at all
            return
        run = [self.items[test] for test in tests]
        for item, following in zip(run, [*run[1:], None], strict=True):
            seconds = self.reach.seconds[item.nodeid]
            signal.setitimer(signal.ITIMER_PROF, 2 + 10 * seconds)
            signal.setitimer(signal.ITIMER_REAL, 60 + 30 * seconds)
            if _fails(item, following):
                say(f"killed {item.nodeid}")
                return
        say("survived")

    def _put(self, module: Faulty, mutant: Mutant) -> None:
        """Give the functions that are there the faulty code, or the faulty default."""
        for code in _codes(module.planted(mutant)):
            for function in self.functions.get(_spot(code), ()):
                function.__code__ = code
        node = function_of(module.tree, mutant.function)
        if mutant.site.parent is not node.args:
            return
        index = mutant.site.index
        value = getattr(mutant.site.replacement, "value", None)
        assert index is not None
        for (path, name, _), functions in self.functions.items():
            for function in (
                functions if (path, name) == (str(module.path), mutant.function) else ()
            ):
                if mutant.site.name == "defaults":
                    defaults = list(function.__defaults__ or ())
                    defaults[index] = value
                    function.__defaults__ = tuple(defaults)
                else:
                    assert function.__kwdefaults__ is not None
                    function.__kwdefaults__[node.args.kwonlyargs[index].arg] = value


def _spot(code: CodeType) -> Spot:
    return (code.co_filename, code.co_qualname, code.co_firstlineno)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


# --- children ---------------------------------------------------------------------------------


def _told(work: Callable[[Say], None], wall: float) -> tuple[Verdict, str]:
    """Let a child work, and read what it says; one that ends by a signal took too long."""
    text, status = _in_child(work, wall)
    verdict, _, told = text.partition(" ")
    if verdict in {"killed", "survived"}:
        return ("killed" if verdict == "killed" else "survived"), told
    if os.WIFSIGNALED(status):
        return "timed out", signal.Signals(os.WTERMSIG(status)).name
    raise RuntimeError(f"a child ended with {status} and said {text!r}")


def _in_child(work: Callable[[Say], object], wall: float) -> tuple[str, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with os.fdopen(writing, "w", encoding="utf-8") as pipe:
                work(pipe.write)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return _read(reading, child, time.monotonic() + wall), os.waitpid(child, 0)[1]


def _read(pipe: int, child: int, until: float) -> str:
    pieces: list[bytes] = []
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while True:
            ready, _, _ = select.select([stream], [], [], max(0, until - time.monotonic()))
            if not ready:
                os.kill(child, signal.SIGKILL)
                return ""
            piece = stream.read(1 << 16)
            if not piece:
                return b"".join(pieces).decode()
            pieces.append(piece)


class _Watching:
    """Whether a report told of a failure."""

    def __init__(self) -> None:
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed


def _fails(item: pytest.Item, following: pytest.Item | None) -> bool:
    watching = _Watching()
    item.config.pluginmanager.register(watching)
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    item.config.pluginmanager.unregister(watching)
    return watching.failed


def _cold(path: Path, number: int | None, tests: Sequence[str], wall: float) -> tuple[Verdict, str]:
    """Try a mutant in a process that imports the faulty module, and tell what it printed."""
    command = (sys.executable, "-m", "tests.mutants.cold", str(path))
    try:
        ran = subprocess.run(
            command if number is None else (*command, str(number)),
            input=json.dumps(tests),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=wall,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "timed out", ""
    return ("survived" if ran.returncode == 0 else "killed"), f"{ran.stdout}{ran.stderr}"[-2000:]


# --- the session ------------------------------------------------------------------------------


def collected(use: Callable[[Trials], None], at_most: float) -> None:
    """Import and collect everything, then do what is to be done with it."""
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    plugin = _Session(use, at_most)
    if not plugin.is_traced:
        sys.settrace(_noting(plugin.importing))
    quiet = ("-s", "-p", "no:terminal", "-p", "no:cacheprovider")
    beside = (f"--ignore-glob={ROOT}/properties/test_{it}.py" for it in BESIDE)
    status = pytest.main([*quiet, *beside, *SUITES], [plugin])
    if plugin.problem is not None:
        sys.exit(plugin.problem)
    if not plugin.is_done:
        sys.exit(f"pytest could not collect the tests ({status!r}): run `pytest --collect-only`")


class _UnsoundError(Exception):
    """The tests cannot tell a fault from none."""


_Cached = type(functools.cache(len))


class _Session:
    """Takes the place of running the tests once they are collected."""

    def __init__(self, use: Callable[[Trials], None], at_most: float) -> None:
        self.use = use
        self.at_most = at_most
        self.is_traced = _is_traced()
        self.importing: Called = {}
        self.is_done = False
        self.problem: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for room in FLOORS:
            for path in sorted((PACKAGE / room).glob("*.py")):
                name = "" if path.stem == "__init__" else f".{path.stem}"
                importlib.import_module(f"stepfold.{room}{name}")
        sys.settrace(None)
        home = importlib.import_module("stepfold").__file__
        if home is None or not Path(home).is_relative_to(PACKAGE):
            self.problem = f"expected the sources of {PACKAGE} to be imported, got {home}"
            return True
        items = {item.nodeid: item for item in session.items}
        functions: dict[Spot, list[FunctionType]] = defaultdict(list)
        caches = []
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                if thing.__code__.co_filename.startswith(str(PACKAGE)):
                    functions[_spot(thing.__code__)].append(thing)
            elif isinstance(thing, _Cached) and thing.__module__.startswith("stepfold"):
                caches.append(thing.cache_clear)
        gc.collect()
        gc.freeze()  # what is shared with the children is not walked, and so not copied
        at_import = None if self.is_traced else sorted(set(_places(self.importing)))
        try:
            reach = _reach(items, at_import)
            self.use(Trials(items, reach, functions, caches, self.at_most))
        except _UnsoundError as error:
            self.problem = str(error)
            return True
        self.is_done = True
        return True


def _noting(called: Called) -> Callable[[FrameType, str, object], None]:
    def note(frame: FrameType, what: str, of: object) -> None:
        code = frame.f_code
        called[id(code)] = code  # a code object takes long to hash

    return note


def _places(called: Called) -> Iterator[str]:
    rooms = tuple(f"{PACKAGE / room}/" for room in FLOORS)
    for code in called.values():
        if code.co_filename.startswith(rooms):
            yield place_of(code.co_filename, code.co_qualname.partition(".<locals>")[0])


def _files(suite: Path) -> list[Path]:
    return sorted(suite.rglob("*.py")) if suite.is_dir() else [suite]


def _digests() -> Mapping[str, str]:
    """Of all source of floors 1 and 2, and of each file of the tests."""
    rooms = [path for room in FLOORS for path in sorted((PACKAGE / room).glob("*.py"))]
    files = [path for suite in SUITES for path in _files(ROOT / suite)]
    shared = [path for path in files if not path.name.startswith("test_")]
    of_all = b"\0".join(path.read_bytes() for path in (*rooms, *shared))
    return {"": hashlib.sha256(of_all).hexdigest()} | {
        str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


def _reach(items: Mapping[str, pytest.Item], at_import: Sequence[str] | None) -> Reach:
    """What each test calls. A test is run for it if its file, or any source, is another now."""
    digests = _digests()
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {"digests": {}}
    if kept["digests"].get("") != digests[""]:
        kept = {"digests": {}, "calls": {}, "seconds": {}, "at_import": at_import or ()}
    current = {
        test
        for test in kept["calls"]
        if test in items
        and kept["digests"].get(test.partition("::")[0]) == digests[test.partition("::")[0]]
    }
    new = [item for test, item in items.items() if test not in current]
    if new:
        print(f"running {len(new)} tests once, to see what each of them calls", flush=True)
        text, status = _in_child(lambda say: say(json.dumps(_traced(new))), 7200)
        if status:
            raise _UnsoundError(f"the run of all tests ended with {status}")
        calls, seconds, failed = json.loads(text)
        if failed:
            raise _UnsoundError("\n".join(["these fail without any fault:", *failed]))
        kept["calls"] = {test: kept["calls"][test] for test in current} | calls
        kept["seconds"].update(seconds)
        kept["digests"] = digests
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept), "utf-8")
    tests: dict[str, list[str]] = defaultdict(list)
    for test in sorted(kept["calls"], key=kept["seconds"].__getitem__):
        for place in kept["calls"][test]:
            tests[place].append(test)
    return Reach(tests, kept["seconds"], frozenset(kept["at_import"]))


def _is_traced() -> bool:
    """Whether it is known what runs while these sources are imported."""
    return (
        KEPT.exists() and json.loads(KEPT.read_text("utf-8"))["digests"].get("") == _digests()[""]
    )


def _traced(
    run: Sequence[pytest.Item],
) -> tuple[dict[str, list[str]], dict[str, float], list[str]]:
    calls: dict[str, list[str]] = {}
    seconds: dict[str, float] = {}
    failed = []
    for item, following in zip(run, [*run[1:], None], strict=True):
        called: Called = {}
        began = time.process_time()
        sys.settrace(_noting(called))
        if _fails(item, following):
            failed.append(item.nodeid)
        sys.settrace(None)
        seconds[item.nodeid] = round(time.process_time() - began, 4)
        calls[item.nodeid] = sorted(set(_places(called)))
    return calls, seconds, failed
