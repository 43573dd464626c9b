"""A pipeline to look at: as a tree of text, and as a flow chart in Mermaid.

Both are drawn by generators on a stack, so that no depth is too deep.
"""

from collections.abc import Generator, Mapping
from typing import Final, TypeAlias, final

from attrs import frozen

from stepfold.pipeline._boundary import given_to, shown_type, value_of
from stepfold.pipeline._nodes import (
    Awaited,
    Caught,
    CaughtBy,
    Chain,
    Choice,
    Counted,
    Each,
    Fallback,
    Given,
    Improving,
    Leaf,
    Loop,
    Node,
    Repeatable,
    Retry,
    Sleep,
    Timed,
    Titled,
    Together,
    links_of,
    walk,
)
from stepfold.pipeline._works import UNKNOWN
from stepfold.schema import Form, form_of
from stepfold.values import UsageError


def label_of(node: Node) -> str:
    """What a node is called where it is drawn."""
    match node:
        case Given(form):
            return f"given {shown_type(form)}"
        case Leaf(work):
            return work.name
        case Caught(work, recovers):
            verb = "recover" if recovers else "map_failure"
            return verb if work.name == verb else f"{verb} {work.name}"
        case CaughtBy():
            return "recover_with"
        case Chain():
            return "chain"
        case Choice(chooser):
            return chooser.name
        case Loop(test, ends, _, at_most):
            return f"loop {'until' if ends else 'while'} {test.name}, at most {at_most} rounds"
        case Improving(_, _, at_most):
            return f"improve until accepted, at most {at_most} times"
        case Retry(_, attempts, _):
            return f"retry, {attempts} attempts"
        case Timed(_, seconds):
            return f"timeout after {seconds:g} s"
        case Fallback():
            return "fallback"
        case Together(_, is_race):
            return "race" if is_race else "parallel"
        case Each(_, limit, settles):
            return f"{'settle' if settles else 'map'}_each, at most {limit} at once"
        case Counted(at_most):
            return f"at most {at_most} tasks"
        case Sleep(seconds):
            return f"sleep {seconds:g} s"
        case Awaited(name, form):
            return f"await input {name}: {shown_type(form)}"
        case Titled(title):
            return title
        case Repeatable():
            return "idempotent"


def _arms(node: Node) -> tuple[tuple[str, Node], ...]:
    """The nodes within, and what each is there for; an empty text says nothing."""
    match node:
        case Choice(_, labels, arms):
            return tuple(zip(labels, arms, strict=True))
        case Improving(evaluate, improve):
            return (("evaluate", evaluate), ("improve", improve))
        case Fallback(body, other):
            return (("first", body), ("otherwise", other))
        case Together(arms):
            return tuple((str(place), arm) for place, arm in enumerate(arms, 1))
        case _:
            return tuple(("", inner) for inner in node.inner())


@final
@frozen(order=False, eq=False)
class _Line:
    """A line of the tree, and the lines below it."""

    text: str
    below: "tuple[tuple[str, Node], ...]"


def _lines_of(arms: tuple[tuple[str, Node], ...]) -> list[_Line]:
    """The lines of several arms: a link each, below a line for an arm that needs one."""
    lines: list[_Line] = []
    for name, node in arms:
        links = links_of(node)
        if not name:
            lines += [_Line(label_of(link), _arms(link)) for link in links]
        elif len(links) == 1:
            lines.append(_Line(f"{name}: {label_of(links[0])}", _arms(links[0])))
        else:
            text = f"{name}:" if links else f"{name}: what was given"
            lines.append(_Line(text, tuple(("", link) for link in links)))
    return lines


def tree_of(node: Node) -> str:
    """Draw a pipeline as a tree: a line for each stage, those within it below."""
    drawn: list[str] = []
    todo = [("", "", line) for line in reversed(_lines_of((("", node),)))]
    while todo:
        before, beneath, line = todo.pop()
        drawn.append(f"{before}{line.text}")
        below = _lines_of(line.below)
        for place in range(len(below) - 1, -1, -1):
            is_last = place == len(below) - 1
            branch, trunk = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            todo.append((f"{beneath}{branch}", f"{beneath}{trunk}", below[place]))
    return "\n".join(drawn) or "what was given"


# --- Mermaid ------------------------------------------------------------------------------------

Ends: TypeAlias = "tuple[tuple[str, str], ...]"
"""Where arrows come from: an id, and what is written on the arrow."""

_Drawing: TypeAlias = "Generator[tuple[Node, Ends], Ends, Ends]"

_FAILURE: Final = "failure"


def mermaid_of(node: Node) -> str:
    """Draw a pipeline as a flow chart in Mermaid; dotted arrows are the ways of failures."""
    chart = _Chart()
    start = chart.shape("([", "given", "])")
    chart.arrows(_drawn(chart.draw(node, ((start, ""),)), chart), chart.shape("([", "done", "])"))
    return "\n".join(("flowchart TD", *chart.lines))


def _drawn(drawing: _Drawing, chart: "_Chart") -> Ends:
    """Run a drawing, and those that it asks for, on a stack."""
    stack = [drawing]
    told: Ends | None = None
    while True:
        try:
            node, ends = next(stack[-1]) if told is None else stack[-1].send(told)
        except StopIteration as done:
            left: Ends = done.value
            told = left
            stack.pop()
            if not stack:
                return left
        else:
            told = None
            stack.append(chart.draw(node, ends))


@final
class _Chart:
    """The lines of a flow chart in the making."""

    def __init__(self) -> None:
        self.lines: Final[list[str]] = []
        self._depth = 1
        self._count = 0

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append("  " * self._depth + text)

    def shape(self, left: str, text: str, right: str) -> str:
        """Draw a shape, and give its id."""
        name = f"n{self._count}"
        self._count += 1
        shown = text.replace('"', "#quot;")
        self.line(f'{name}{left}"{shown}"{right}')
        return name

    def arrows(self, ends: Ends, target: str) -> None:
        """Draw arrows to a shape."""
        for source, text in ends:
            arrow = "-." if text == _FAILURE else "--"
            head = ".->" if text == _FAILURE else "-->"
            shown = text.replace('"', "#quot;")
            self.line(
                f'{source} {arrow} "{shown}" {head} {target}' if text else f"{source} --> {target}"
            )

    def step(self, left: str, text: str, right: str, ends: Ends) -> Ends:
        """Draw a shape to which all ends lead."""
        name = self.shape(left, text, right)
        self.arrows(ends, name)
        return ((name, ""),)

    def draw(self, node: Node, ends: Ends) -> _Drawing:
        """Draw a node, asking for those within it to be drawn; gives the ends it leaves."""
        text = label_of(node)
        match node:
            case Chain(links):
                for link in links:
                    ends = yield (link, ends)
                return ends
            case Caught(_, recovers):
                caught = self.step("[", text, "]", _failing(ends))
                return (*ends, *caught) if recovers else ends
            case CaughtBy(body):
                return (*ends, *(yield (body, _failing(ends))))
            case Choice(_, labels, arms):
                (fork,) = self.step("{", text, "}", ends)
                left: list[tuple[str, str]] = []
                for label, arm in zip(labels, arms, strict=True):
                    left += yield (arm, ((fork[0], label),))
                return tuple(left)
            case Loop(body=body):
                (test,) = self.step("{", text, "}", ends)
                self.arrows((yield (body, ((test[0], "again"),))), test[0])
                return ((test[0], "done"),)
            case Improving(evaluate, improve):
                draft = self.step("([", "draft", "])", ends)
                verdict = self.step("{", text, "}", (yield (evaluate, draft)))
                self.arrows((yield (improve, ((verdict[0][0], "improve"),))), draft[0][0])
                return ((verdict[0][0], "accepted"),)
            case Together(arms):
                (fork,) = self.step("{{", text, "}}", ends)
                joined: list[tuple[str, str]] = []
                for arm in arms:
                    joined += yield (arm, (fork,))
                return self.step(
                    "{{", "first success" if text == "race" else "all", "}}", tuple(joined)
                )
            case Fallback(body, other):
                first = yield (body, ends)
                second = yield (other, _failing(first))
                return (*first, *second)
            case Retry() | Timed() | Each() | Titled() | Repeatable():
                self.line(f'subgraph s{len(self.lines)}["{text.replace(chr(34), "#quot;")}"]')
                self._depth += 1
                (entry,) = self.step("((", " ", "))", ends)
                left_over = yield (node.body, (entry,))
                self._depth -= 1
                self.line("end")
                return left_over
            case Awaited():
                return self.step("[/", text, "/]", ends)
            case _:
                return self.step("[", text, "]", ends)


def _failing(ends: Ends) -> Ends:
    return tuple((source, _FAILURE) for source, _ in ends)


# --- forms --------------------------------------------------------------------------------------


def forms_of(node: Node) -> Mapping[str, Form | None]:
    """The forms of what goes in (`given`) and comes out (`value`), and of each input.

    `None` is where no annotation tells, or the type has no JSON form; inputs are `input NAME`.
    """
    found = {"given": _form(given_to(node)), "value": _form(value_of(node))}
    for inner in walk(node):
        if isinstance(inner, Awaited):
            found[f"input {inner.name}"] = _form(inner.form)
    return found


def _form(annotation: object) -> Form | None:
    if annotation is UNKNOWN:
        return None
    try:
        return form_of(annotation, where="graph")
    except UsageError:
        return None
