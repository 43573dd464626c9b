"""Outputs have the type of what they promise, and streams that of what they show."""

from collections.abc import AsyncIterator
from enum import Enum
from typing import Literal, assert_type

from attrs import frozen

import stepfold as sf


@frozen
class Report:
    city: str


@frozen
class Refusal:
    reason: str


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


assert_type(sf.text(), sf.Output[str])
assert_type(sf.object_of(Report), sf.Output[Report])
assert_type(sf.object_of(Report | Refusal, retries=2), sf.Output[Report | Refusal])
assert_type(sf.object_of(list[Report], strategy="tool"), sf.Output[list[Report]])
assert_type(sf.array_of(Report), sf.Output[tuple[Report, ...]])
assert_type(sf.array_of(Report | None, max_items=3), sf.Output[tuple[Report | None, ...]])
assert_type(sf.choice_of(Literal["yes", "no"]), sf.Output[Literal["yes", "no"]])
assert_type(sf.choice_of(Size), sf.Output[Size])
chosen: sf.Output[str] = sf.choice_of("yes", "no", "maybe", strategy="prompt")


@sf.tool
async def booked(context: sf.ToolContext[Size], seat: int) -> Report:
    return Report(str(seat))


@sf.tool
def tried(seat: int) -> sf.Outcome[Report, Refusal]:
    return sf.Failure(Refusal("full")) if seat else sf.Success(Report(""))


@sf.tool
async def growing(seat: int) -> AsyncIterator[list[Report]]:
    yield [Report(str(seat))]


@sf.tool(calls=[booked, tried, growing])
async def calling(context: sf.ToolContext[Size]) -> None:
    assert_type(await context.call(booked, {"seat": 7}), Report)
    assert_type(await context.call(tried, {"seat": 7}), Report)
    assert_type(await context.call(growing, {"seat": 7}), list[Report])


@sf.tool(calls=[booked])
async def wrong_deps(context: sf.ToolContext[str]) -> None:
    await context.call(booked, {"seat": 7})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]


assert_type(sf.result_of(booked), sf.Output[Report])
assert_type(sf.result_of(tried, retries=2), sf.Output[Report])
assert_type(sf.result_of(growing), sf.Output[list[Report]])
booking = sf.Agent(model="acme/one", deps_type=Size, tools=[booked], output=sf.result_of(booked))
assert_type(booking, sf.Agent[Size, Report])
sf.result_of(Report)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
wrong_result: sf.Output[Refusal] = sf.result_of(booked)  # type: ignore[arg-type]  # pyright: ignore[reportAssignmentType]
some_json: sf.Output[sf.JsonValue] = sf.json()

sf.object_of(Report, strategy="magic")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.object_of(Report, retries="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.object_of(Report, min_items=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
sf.array_of(Report, min_items="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.choice_of("yes", 2)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
sf.choice_of()  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
sf.json(Report)  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
wrong: sf.Output[Refusal] = sf.object_of(Report)  # type: ignore[arg-type]  # pyright: ignore[reportAssignmentType]
wrong_array: sf.Output[tuple[Refusal, ...]] = sf.array_of(Report)  # type: ignore[arg-type]  # pyright: ignore[reportAssignmentType]

reports = sf.Agent(model="acme/one", output=sf.array_of(Report))
assert_type(reports, sf.Agent[object, tuple[Report, ...]])
single = sf.Agent(model="acme/one", output=sf.object_of(Report))


def shown_to(partial: sf.PartialJson) -> sf.PartialJson:
    match partial:
        case sf.PartialObject():
            return partial["title"]
        case sf.PartialArray():
            assert_type(partial[1:], tuple[sf.PartialJson, ...])
            return partial[0]
        case None | bool() | int() | float() | str():
            return partial


async def shown() -> None:
    async with reports.stream("Go.") as stream:
        assert_type(stream.elements(), AsyncIterator[Report])
        async for element in stream.elements():
            assert_type(element, Report)
        partials: AsyncIterator[sf.PartialJson] = stream.partial_output()
        async for partial in partials:
            shown_to(partial)
    async with single.stream("Go.") as one:
        one.elements()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def told(error: sf.NoOutput) -> str:
    assert_type(error.cause, sf.NoOutputCause)
    match error.cause:
        case "no-answer" | "invalid-json" | "schema-mismatch":
            return error.message
        case "refused":
            return error.text


# --- transforms -------------------------------------------------------------------------------


def unchanged(_: sf.StreamControl) -> sf.PartTransform:
    return lambda part: (part,)


def slower(_: sf.StreamControl) -> sf.PartTransform:
    return lambda part: (part, sf.Pause(1))


def of_text(text: str) -> str:
    return text


assert_type(sf.smooth_stream(delay=None, chunking="line"), sf.StreamTransform)
sf.smooth_stream(chunking=lambda text: text[:1] or None)
single.stream("Go.", transform=unchanged)
single.stream("Go.", transform=[sf.smooth_stream(), slower])
assert_type(
    sf.stream_text("Go.", model="a/b", output=sf.json(), transform=slower),
    sf.RunStream[sf.JsonValue],
)

single.stream("Go.", transform=of_text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # long: mypy writes out the parts
single.stream("Go.", transform=sf.smooth_stream)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # long: mypy writes out the parts
sf.smooth_stream(chunking="letter")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
