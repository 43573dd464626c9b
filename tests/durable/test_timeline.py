"""What was at work when, and what changed: read off a journal alone."""

import re
from html.parser import HTMLParser

from attrs import evolve
from typing_extensions import override

import stepfold as sf
from stepfold import durable
from stepfold.durable import Change, MemoryStore, changes, page_of, spans_of
from stepfold.durable._page_axis import Axis
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, reply
from tests.durable._runs import agent_of, book, look

HOSTILE = "<script>alert('x')</script> & \"quotes\" \u202e"


async def recording_of(agent: sf.Agent, prompt: str = "Go") -> durable.Recording:
    """Record one run in virtual time."""
    store = MemoryStore()
    await durable.run(agent, store, prompt, run_id="r", clock=VirtualClock())
    return (await durable.recording_of(store, "r")).unwrap()


async def test_spans_are_what_was_at_work_in_its_order() -> None:
    script: list[Scripted] = [
        sf.ModelErrorReason("overloaded", "busy"),
        reply(call(look, {"place": "a"}), call(book, {"place": "b"})),
        reply("Done."),
    ]
    recording = await recording_of(sf.Agent(model=ScriptedModel(script), tools=[look, book]))
    spans = spans_of(recording)

    assert [(span.kind, span.step, span.name, span.end) for span in spans] == [
        ("model", 0, "scripted/model", "failed"),
        ("wait", 0, "pause", "ok"),
        ("model", 0, "scripted/model", "ok"),
        ("tool", 0, "look", "ok"),
        ("tool", 0, "book", "ok"),
        ("model", 1, "scripted/model", "ok"),
    ]
    assert [span.call.input for span in spans if span.call is not None] == [
        '{"place":"a"}',
        '{"place":"b"}',
    ]
    assert all(span.started <= span.ended <= recording.run.updated for span in spans)


async def test_what_a_crash_cut_off_is_lost() -> None:
    store = MemoryStore()
    await durable.run(agent_of(1), store, "Go", run_id="whole")
    await store.fork("whole", "cut", at=3)
    cut = (await durable.recording_of(store, "cut")).unwrap()
    await durable.resume(agent_of(1), store, "cut")
    resumed = (await durable.recording_of(store, "cut")).unwrap()

    for recording in (cut, resumed):
        lost = [(span.name, span.step) for span in spans_of(recording) if span.end == "lost"]
        assert lost == [("book", 0)]


def test_an_axis_is_even_but_for_long_pauses() -> None:
    axis = Axis.of(0, [(0, 100), (50, 200), (1_000_000, 1_000_200), (1_000_210, 1_000_300)])

    assert axis.place(0) == 0
    assert axis.place(2_000_000) == 100
    assert axis.place(100) * 2 == axis.place(200)
    [(left, width, time)] = axis.gaps()
    assert (left, time) == (axis.place(200), 999_800)
    assert width < 4
    places = [axis.place(instant) for instant in range(0, 1_000_400, 50)]
    assert places == sorted(places)
    ticks = [time for _, time, _ in axis.ticks()]
    assert ticks == sorted(ticks)
    assert (ticks[0], ticks[-1]) == (0, 1_000_300)
    assert next(time for _, time, _ in Axis.of(5, [(5, 5)]).ticks()) == 0


async def test_changes_are_the_places_that_differ() -> None:
    run = await agent_of(1).generate("Go", clock=VirtualClock())
    state = run.state

    assert changes(state, state) == ()
    one = evolve(state, now=7, ledger=evolve(state.ledger, spent=9))
    assert changes(state, one) == (
        Change("/now", str(state.now), "7"),
        Change("/ledger/spent", str(state.ledger.spent), "9"),
    )
    fresh = {change.path for change in changes(None, state)}
    assert {"/transcript/messages", "/transcript/steps", "/phase/end/output"} <= fresh
    shorter = evolve(state.ledger, called=state.ledger.called[:1], issued=())
    found = {change.path: change for change in changes(state, evolve(state, ledger=shorter))}
    assert found["/ledger/called/1"] == Change("/ledger/called/1", '["look",1]', None)


class _Page(HTMLParser):
    """Knows the tags, the addresses and the texts of a page, and that every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag != "meta":
            self._open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        self.texts.append(data)


async def test_a_page_shows_the_run_and_loads_and_runs_nothing() -> None:
    """Whatever models, tools and people said."""
    script = [
        reply(HOSTILE, call(look, {"place": HOSTILE}), call(look, "not JSON <u>")),
        reply(HOSTILE),
    ]
    agent = sf.Agent(model=ScriptedModel(script, model_id="<u>"), tools=[look])
    recording = await recording_of(agent, HOSTILE)
    states = [outcome.unwrap() for outcome in durable.replayed_states(agent.program, recording)]
    for page in (_Page(page_of(recording)), _Page(page_of(recording, states))):
        assert not page.tags & {"script", "link", "img", "iframe", "u"}
        assert all(re.fullmatch(r"#step-\d+", address) for address in page.addresses)
        assert sum(HOSTILE in text for text in page.texts) >= 4
        assert "What changed up to record 4" in page.texts
    assert "2 · ModelReplied → RunTool/0/0/0" in page.texts


async def test_a_page_of_a_run_that_has_just_begun() -> None:
    store = MemoryStore()
    await durable.run(agent_of(1), store, "Go", run_id="whole")
    await store.fork("whole", "begun", at=1)
    page = _Page(page_of((await durable.recording_of(store, "begun")).unwrap()))

    assert "Nothing was at work yet." in page.texts
    assert "running" in page.texts
