"""What a check finds of the laws of one thing: which hold, which are broken, which were not tried.

Rules. A check stops at the first law that is broken, by raising `LawBroken`. `verdicts_of` wants
them all: it calls the check again until nothing new comes, and each time what is known to be broken
is passed over where it is found, so that what comes after it is tried as well.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal, Never, TypeAlias, final

from attrs import frozen

from stepfold.values import UsageError

LawStatus: TypeAlias = Literal["held", "broken", "not tried"]
"""What was found of a law: it held on all that was tried, it is broken, or nothing was tried."""


@final
@frozen(order=False)
class StatedLaw:
    """A law that a check tries, in words: what holds, and what is known to break it."""

    says: str
    broken_by: str


@final
@frozen(order=False)
class LawVerdict:
    """What a check found of one law.

    `told` is the counter-example of one that is broken, a line for each thing that is told of it,
    and what to say to have one tried that was not.
    """

    law: StatedLaw
    status: LawStatus
    told: str = ""


@final
class LawBroken(AssertionError):
    """A law does not hold; the text tells the smallest counter-example that was found."""

    def __init__(self, name: str, law: StatedLaw, counter_example: str) -> None:
        super().__init__(f"{name}: {law.says}\n{counter_example}".replace("\n", "\n  "))
        self.name: Final[str] = name
        self.law: Final[StatedLaw] = law
        self.counter_example: Final[str] = counter_example


def lines_of(told: Mapping[str, object]) -> str:
    """What is told of a counter-example, a line for each, one below the other."""
    width = max(map(len, told), default=0) + 1
    return "\n".join(f"{name + ':':<{width}} {said}" for name, said in told.items())


@final
class Findings:
    """What a check has found so far; what it knows to be broken it passes over."""

    def __init__(self, on_progress: Callable[[int], None] | None = None) -> None:
        self.laws: Sequence[StatedLaw] = ()
        self.known: Final[dict[StatedLaw, str]] = {}
        self._has_begun = False
        self._tried: Final[set[StatedLaw]] = set()
        self._left_out: Final[dict[StatedLaw, str]] = {}
        self._on_progress: Final = on_progress
        self._count = 0

    def begin(self, laws: Sequence[StatedLaw]) -> None:
        """Begin to try these laws, all on one thing.

        Raises:
            UsageError: a check has begun already.
        """
        if self._has_begun:
            msg = "verdicts_of: expected a call of one check, got one of several: ask for each"
            raise UsageError(msg)
        self._has_begun = True
        self.laws = laws

    def learn(self, broken: LawBroken) -> bool:
        """Know from now on that a law is broken, and begin anew; whether that is news."""
        self._has_begun = False
        is_news = broken.law not in self.known
        self.known.setdefault(broken.law, broken.counter_example)
        return is_news

    def leave_out(self, why: str, *laws: StatedLaw) -> None:
        """Say why some laws are not tried, or what to say to have them tried; the first counts."""
        for law in laws:
            self._left_out.setdefault(law, why)

    def tried(self, *laws: StatedLaw) -> None:
        """Note that some laws were tried, and held."""
        self._tried.update(laws)

    @contextmanager
    def trying(self, *laws: StatedLaw) -> Generator[None]:
        """Try some laws within; what is known to be broken ends it early, and nothing more."""
        try:
            yield
        except LawBroken as broken:
            if broken.law not in self.known:
                raise
        else:
            self.tried(*laws)

    def count(self) -> None:
        """Tell that one more value is tried."""
        self._count += 1
        if self._on_progress is not None:
            self._on_progress(self._count)

    def verdicts(self) -> tuple[LawVerdict, ...]:
        """What was found of each law."""
        return tuple(map(self._verdict, self.laws))

    def _verdict(self, law: StatedLaw) -> LawVerdict:
        if law in self.known:
            return LawVerdict(law, "broken", self.known[law])
        if law in self._tried:
            return LawVerdict(law, "held")
        hidden = "hidden by what is broken" if self.known else "nothing came to try it on"
        return LawVerdict(law, "not tried", self._left_out.get(law, hidden))


_NOW: ContextVar[Findings | None] = ContextVar("stepfold_findings", default=None)


def findings_on(laws: Sequence[StatedLaw]) -> Findings:
    """The findings of the check that begins here: those that are asked for, or its own."""
    findings = _NOW.get() or Findings()
    findings.begin(laws)
    return findings


def verdicts_of(
    check: Callable[[], None], *, on_progress: Callable[[int], None] | None = None
) -> tuple[LawVerdict, ...]:
    """Let a check try all its laws, and say of each whether it holds; a broken one hides no other.

        for verdict in verdicts_of(lambda: check_tool(fetch, execute=True)):
            print(verdict.status, verdict.law.says)

    Args:
        check: Calls one of `check_tool`, `check_stage`, `check_stop_condition`,
            `check_middleware` and `check_transform`. It is called once, and once more for each law
            that is broken.
        on_progress: Is told how many values were tried so far.

    Raises:
        UsageError: what the check raises; or it is none of these, or more than one.
    """
    findings = Findings(on_progress)
    token = _NOW.set(findings)
    try:
        while (broken := _broken_by(check)) is not None and findings.learn(broken):
            pass
    finally:
        _NOW.reset(token)
    if not findings.laws:
        msg = "verdicts_of: expected a call of a check with stated laws, such as check_tool"
        raise UsageError(msg)
    return findings.verdicts()


def _broken_by(check: Callable[[], None]) -> LawBroken | None:
    try:
        check()
    except LawBroken as broken:
        return broken
    return None


def break_law(name: str, law: StatedLaw, /, **told: object) -> Never:
    """Tell of a law that does not hold, with what was done, expected and got.

    Raises:
        LawBroken: always.
    """
    raise LawBroken(name, law, lines_of(told))
