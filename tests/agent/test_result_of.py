"""`result_of`: a run whose output is what one of its tools gives, typed by that tool."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import cast

import pytest
from attrs import frozen

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply


@frozen
class Booking:
    seat: int


@frozen
class Full:
    train: str


@sf.tool
async def book(seat: int) -> Booking:
    """Book a seat."""
    if seat > 99:
        msg = f"there is no seat {seat}"
        raise sf.ToolFault(msg)
    return Booking(seat)


@sf.tool
async def look() -> str:
    """Look for seats."""
    return "7 and 8 are free"


@sf.tool
def try_to_book(seat: int) -> sf.Outcome[Booking, Full]:
    """Book a seat, if there is one."""
    return sf.Failure(Full("9:15")) if seat > 99 else sf.Success(Booking(seat))


@sf.tool
async def slowly(seats: list[int]) -> AsyncIterator[list[Booking]]:
    """Book several seats, one after another."""
    for number in range(1, len(seats) + 1):
        yield [Booking(seat) for seat in seats[:number]]


@sf.tool
def in_order(seats: list[int]) -> Iterator[Booking]:
    """Try seats."""
    yield from map(Booking, seats)


@sf.tool
async def untold(seat: int):  # type: ignore[no-untyped-def]
    """Book a seat, and say nothing of what comes of it."""
    return {"seat": seat}


def asks(tool: sf.AnyTool[object, object], **arguments: object) -> sf.ModelReply:
    return reply(call(tool, arguments))


@pytest.mark.parametrize("streams", [False, True])
async def test_the_run_ends_with_what_the_tool_gave(streams: bool) -> None:
    """The model is not asked again, and other tools run as always."""
    model = ScriptedModel([asks(look), asks(book, seat=100), asks(book, seat=7)])
    agent = sf.Agent(model=model, tools=[look, book], output=sf.result_of(book))
    if streams:
        async with agent.stream("Book a seat.") as stream:
            run = await stream.run()
    else:
        run = await agent.generate("Book a seat.")

    assert run.end == sf.Completed(Booking(7))
    assert run.unwrap() == Booking(7)
    assert run.results_of(book) == (Booking(7),)
    assert len(model.requests) == 3
    assert isinstance(run.messages[-1], sf.ToolMessage)


@pytest.mark.parametrize(
    ("tool", "arguments", "value"),
    [
        (try_to_book, {"seat": 7}, Booking(7)),
        (slowly, {"seats": [7, 8]}, [Booking(7), Booking(8)]),
        (in_order, {"seats": [7, 8]}, Booking(8)),
        (untold, {"seat": 7}, {"seat": 7}),
        (look, {}, "7 and 8 are free"),
    ],
)
async def test_it_is_read_by_what_the_tool_returns(
    tool: sf.AnyTool[object, object], arguments: dict[str, object], value: object
) -> None:
    """A failure that is returned goes back to the model; a type that is not told is plain JSON."""
    script = [asks(tool, **arguments)]
    if tool is try_to_book:
        script.insert(0, asks(tool, seat=100))
    output = cast("sf.Output[object]", sf.result_of(tool))
    run = await sf.Agent(model=ScriptedModel(script), tools=[tool], output=output).generate("Go.")

    assert run.output == sf.Success(value)


async def test_a_blocked_run_is_completed_by_its_answer() -> None:
    """Once the person agrees, the call runs, and that is the end."""

    @sf.tool(needs_approval=True)
    async def pay(amount: int) -> int:
        """Pay."""
        return amount

    model = ScriptedModel([asks(pay, amount=5)])
    agent = sf.Agent(model=model, tools=[pay], output=sf.result_of(pay))
    blocked = await agent.generate("Pay 5.")
    [request] = blocked.open_approvals
    run = await agent.answer(blocked, [sf.approve(request)])

    assert run.end == sf.Completed(5)


async def test_a_tool_that_a_client_runs_may_give_it() -> None:
    @sf.client_tool
    def choose(options: list[str]) -> str:
        """Let the user choose."""
        raise NotImplementedError

    model = ScriptedModel([asks(choose, options=["a", "b"])])
    agent = sf.Agent(model=model, tools=[choose], output=sf.result_of(choose))
    blocked = await agent.generate("Let me choose.")
    assert isinstance(blocked.end, sf.Blocked)
    [request] = blocked.end.open
    assert isinstance(request, sf.OpenCall)
    run = await agent.answer(blocked, [sf.tool_output(request, "b")])

    assert run.end == sf.Completed("b")


async def test_a_method_of_an_object_may_be_it() -> None:
    """It is another object each time that it is read, and the same tool."""

    class Desk:
        @sf.tool
        def stamp(self, number: int) -> str:
            """Stamp a number."""
            return f"#{number}"

    desk = Desk()
    model = ScriptedModel([reply(call("stamp", {"number": 3}))])
    run = await sf.generate_text(
        "Stamp 3.", model=model, tools=[desk.stamp], output=sf.result_of(desk.stamp)
    )

    assert run.unwrap() == "#3"


async def test_words_are_sent_back_as_often_as_is_allowed() -> None:
    model = ScriptedModel([reply("Booked."), asks(book, seat=7)])
    agent = sf.Agent(model=model, tools=[book], output=sf.result_of(book, retries=1))
    run = await agent.generate("Book seat 7.")

    assert run.unwrap() == Booking(7)

    agent = sf.Agent(
        model=ScriptedModel([reply("Booked.")]), tools=[book], output=sf.result_of(book)
    )
    with pytest.raises(sf.RunFailed, match="expected a call of the tool book, got text"):
        await agent.generate("Book seat 7.")


async def test_its_stream_shows_what_the_tool_shows() -> None:
    """Preliminary results first, each whole, and the result at last; words of the model are not."""
    said = reply("Let me see.", call(look, {}), call(slowly, {"seats": [7, 8]}))
    agent = sf.Agent(model=ScriptedModel([said]), tools=[look, slowly], output=sf.result_of(slowly))
    async with agent.stream("Book.") as stream:
        seen = [str(partial) async for partial in stream.partial_output()]
        run = await stream.run()

    assert run.unwrap() == [Booking(7), Booking(8)]
    assert seen
    assert all("seat" in one for one in seen)
    assert "8" in seen[-1]


async def test_of_several_calls_the_first_is_shown_at_last() -> None:
    """Whichever ends first."""
    said = reply(call(book, {"seat": 100}), call(book, {"seat": 7}), call(book, {"seat": 8}))
    agent = sf.Agent(model=ScriptedModel([said]), tools=[book], output=sf.result_of(book))
    async with agent.stream("Book.") as stream:
        seen = [partial async for partial in stream.partial_output()]
        run = await stream.run()
        with pytest.raises(sf.UsageError, match="expected the output to be array_of"):
            cast("sf.RunStream[tuple[object, ...]]", stream).elements()

    assert run.unwrap() == Booking(7)
    shown = seen[-1]
    assert isinstance(shown, sf.PartialObject)
    assert shown["seat"] == 7


def made(tools: Sequence[sf.AnyTool[object, object]], output: sf.Output[object]) -> None:
    sf.Agent(model=ScriptedModel([]), tools=tools, output=output)


def other_book() -> sf.AnyTool[object, object]:
    @sf.tool(name="book")
    def elsewhere(seat: int) -> Booking:
        """Book elsewhere."""
        return Booking(-seat)

    return elsewhere


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: made([look], sf.result_of(book)), r"the tool book among the tools \(look\)"),
        (lambda: made([], sf.result_of(book)), r"the tool book among the tools \(none\)"),
        (lambda: made([other_book()], sf.result_of(book)), "got another one named book"),
        (
            lambda: sf.result_of(cast("sf.AnyTool[object, object]", len)),
            r"result_of: expected .*AnyTool",
        ),
        (lambda: sf.result_of(book, retries=-1), "a whole number from 0, got -1"),
    ],
)
def test_a_mistake_is_told_where_it_is_made(make: Callable[[], object], told: str) -> None:
    with pytest.raises(sf.UsageError, match=told):
        make()


async def test_a_stored_result_that_no_longer_fits_is_no_output() -> None:
    """The tool returned something else when the state was written."""

    @sf.tool(name="book")
    def before(seat: int) -> str:
        """Book a seat."""
        return f"seat {seat}"

    model = ScriptedModel([asks(before, seat=7)])
    old = await sf.Agent(model=model, tools=[before], output=sf.result_of(before)).generate("Go.")
    agent = sf.Agent(model=model, tools=[book], output=sf.result_of(book))

    with pytest.raises(sf.UsageError, match="does not fit its returned type"):
        agent.run_of(old.state)
