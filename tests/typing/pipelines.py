"""Pipelines are exact, and a wiring that does not fit is refused where it is written."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal, Never, NoReturn, assert_type, final

from attrs import frozen
from returns.future import FutureResult
from returns.result import Result

import stepfold as sf
from stepfold.pipeline import OpenInput, PipelineState, Verdict
from stepfold.pipeline.interop import as_future_result, from_future_result, from_result
from stepfold.ports import JournalStore


@final
@frozen
class Question:
    text: str


@final
@frozen
class Answer:
    text: str


@final
@frozen
class Summary:
    words: int


@final
@frozen
class Refusal:
    reason: str


@final
@frozen
class Unreadable:
    why: str


@final
@frozen
class Offline:
    host: str


@sf.stage
def count(text: object) -> int:
    return len(str(text))


@sf.stage
def parse(text: str) -> sf.Outcome[Question, Unreadable]:
    return sf.Success(Question(text)) if text else sf.Failure(Unreadable("empty"))


@sf.stage
async def ask(question: Question) -> sf.Outcome[Answer | Refusal, Offline]:
    return sf.Success(Answer(question.text))


@sf.stage
async def summarise(answer: Answer) -> Summary:
    return Summary(len(answer.text))


@sf.stage
def shout(answer: Answer) -> str:
    return answer.text.upper()


@sf.stage
def apologise(refusal: Refusal) -> str:
    return refusal.reason


@sf.stage
def words(text: str) -> list[str]:
    return text.split()


# --- making -----------------------------------------------------------------------------------


def plain(text: str) -> int:
    return len(text)


async def later(text: str) -> int:
    return len(text)


def is_short(text: str) -> bool:
    return len(text) < 3


def only_success(text: str) -> sf.Success[int]:
    return sf.Success(1)


def only_failure(text: str) -> sf.Failure[Unreadable]:
    return sf.Failure(Unreadable(text))


def never(text: str) -> NoReturn:
    raise SystemExit(text)


@final
class Reader:
    async def read(self, text: str) -> sf.Outcome[int, Offline]:
        return sf.Success(len(text))

    def __call__(self, text: str) -> bool:
        return bool(text)


def optional(text: str, times: int = 2) -> str:
    return text * times


@sf.tool
def lookup(city: str) -> sf.Outcome[float, Offline]:
    """Look up."""
    return sf.Success(1.0)


def stages_are_exact() -> None:
    assert_type(parse, sf.Stage[str, Question, Unreadable])
    assert_type(ask, sf.Stage[Question, Answer | Refusal, Offline])
    assert_type(sf.stage(plain), sf.Stage[str, int, Never])
    assert_type(sf.stage(later), sf.Stage[str, int, Never])
    assert_type(sf.stage(only_success), sf.Stage[str, int, Never])
    assert_type(sf.stage(only_failure), sf.Stage[str, Never, Unreadable])
    assert_type(sf.stage(Reader().read), sf.Stage[str, int, Offline])
    assert_type(sf.stage(Reader()), sf.Stage[str, bool, Never])
    assert_type(sf.stage(optional), sf.Stage[str, str, Never])
    _partial: sf.Stage[str, str, Never] = sf.stage(partial(optional, times=3))
    assert_type(sf.stage(Question), sf.Stage[str, Question, Never])
    assert_type(sf.stage(lookup), sf.Stage[str, float, Offline])
    assert_type(sf.pure(plain), sf.Stage[str, int, Never])
    assert_type(sf.fallible(only_failure), sf.Stage[str, Never, Unreadable])
    assert_type(sf.given(str), sf.Stage[str, str, Never])
    _same: sf.Stage[str, str, Never] = sf.identity()
    _slept: sf.Stage[str, str, Never] = sf.sleep(1)


# --- composing --------------------------------------------------------------------------------


def chains_are_exact() -> None:
    assert_type(parse >> ask, sf.Stage[str, Answer | Refusal, Unreadable | Offline])
    assert_type(parse.then(ask), sf.Stage[str, Answer | Refusal, Unreadable | Offline])
    assert_type(sf.given(str) >> count, sf.Stage[str, int, Never])
    assert_type(sf.given(str) >> parse, sf.Stage[str, Question, Unreadable])
    assert_type(parse.map(lambda it: it.text), sf.Stage[str, str, Unreadable])
    assert_type(parse.then(sf.pure(lambda it: it.text)), sf.Stage[str, str, Unreadable])
    assert_type(parse.tap(print), sf.Stage[str, Question, Unreadable])
    assert_type(parse.durable().idempotent(), sf.Stage[str, Question, Unreadable])
    assert_type(parse.tap(lambda it: it.text), sf.Stage[str, Question, Unreadable])
    assert_type(sf.given(str).bind(only_failure), sf.Stage[str, Never, Unreadable])
    assert_type(sf.given(str).map(len).named("length"), sf.Stage[str, int, Never])
    assert_type(parse.bind(lambda it: only_failure(it.text)), sf.Stage[str, Never, Unreadable])


def failures_are_exact() -> None:
    both = parse >> ask
    assert_type(
        both.guard(lambda it: bool(it), lambda _: Refusal("empty")),
        sf.Stage[str, Answer | Refusal, Unreadable | Offline | Refusal],
    )
    assert_type(
        both.narrow(Answer, lambda it: Summary(0)),
        sf.Stage[str, Answer, Unreadable | Offline | Summary],
    )
    assert_type(parse.map_failure(lambda it: it.why), sf.Stage[str, Question, str])
    assert_type(parse.recover(lambda it: it.why), sf.Stage[str, Question | str, Never])
    assert_type(
        parse.recover_with(sf.pure(lambda it: it.why)), sf.Stage[str, Question | str, Never]
    )
    assert_type(parse.fallback(count), sf.Stage[str, Question | int, Never])
    assert_type(parse.retry(3), sf.Stage[str, Question, Unreadable])
    assert_type(parse.retry(sf.RetryPolicy()), sf.Stage[str, Question, Unreadable])
    assert_type(parse.timeout(1.5), sf.Stage[str, Question, Unreadable | sf.TimedOut])


@sf.stage
def slow(text: str) -> sf.Outcome[int, Offline]:
    return sf.Success(len(text))


def fans_are_exact() -> None:
    assert_type(
        sf.parallel(parse & slow), sf.Stage[str, tuple[Question, int], Unreadable | Offline]
    )
    assert_type(
        sf.parallel(parse & slow & words & count),
        sf.Stage[str, tuple[Question, int, list[str], int], Unreadable | Offline],
    )
    assert_type(sf.given(str).parallel(words & count), sf.Stage[str, tuple[list[str], int], Never])
    assert_type(sf.parallel_all([slow, slow]), sf.Stage[str, tuple[int, ...], Offline])
    assert_type(words.map_each(parse, limit=3), sf.Stage[str, tuple[Question, ...], Unreadable])
    assert_type(
        words.settle_each(parse, limit=3),
        sf.Stage[str, tuple[sf.Outcome[Question, Unreadable], ...], Never],
    )
    assert_type(parse.race(slow), sf.Stage[str, Question | int, Unreadable | Offline])


def choices_are_exact() -> None:
    handle = sf.branch(sf.case(Answer).then(shout) | sf.case(Refusal).then(apologise))
    assert_type(handle, sf.Stage[Answer | Refusal, str, Never])
    assert_type(ask >> handle, sf.Stage[Question, str, Offline])
    assert_type(
        ask.branch(sf.case(Answer).then(summarise) | sf.case(Refusal).then(apologise)),
        sf.Stage[Question, Summary | str, Offline],
    )
    _answered: sf.Stage[Answer, str, Never] = handle
    chosen = sf.when(is_short, slow).when(lambda text: bool(text), parse).otherwise(count)
    assert_type(chosen, sf.Stage[str, int | Question, Offline | Unreadable])


Kind = Literal["bug", "praise"]


@sf.stage
def kind_of(text: str) -> Kind:
    return "bug"


literal = sf.branch(sf.case(Literal["bug"]).then(count) | sf.case(Literal["praise"]).then(count))
assert_type(kind_of >> literal, sf.Stage[str, int, Never])


@sf.stage
def longer(text: str) -> sf.Outcome[str, Offline]:
    return sf.Success(text + "!")


@sf.stage
def evaluate(text: str) -> Verdict[Refusal]:
    return sf.Accepted() if text else sf.Improve(Refusal("empty"))


@sf.stage
def improve(revision: sf.Revision[str, Refusal]) -> str:
    return revision.draft + revision.feedback.reason


def loops_are_exact() -> None:
    assert_type(
        sf.given(str).loop_until(longer, lambda text: len(text) > 3, at_most=3),
        sf.Stage[str, str, Offline | sf.BoundReached[str]],
    )
    assert_type(
        sf.given(str).loop_while(longer, lambda text: len(text) < 3, at_most=3),
        sf.Stage[str, str, Offline | sf.BoundReached[str]],
    )
    assert_type(
        longer.improve_until_accepted(evaluate, improve, at_most=2),
        sf.Stage[str, str, Offline | sf.BoundReached[str]],
    )


# --- agents -----------------------------------------------------------------------------------


agent = sf.Agent(model="openai/gpt-5.4", output=sf.object_of(Answer))
knowing = sf.Agent(model="openai/gpt-5.4", deps_type=Question)


def prompt_of(question: Question) -> str:
    return question.text


def shared(text: str) -> str:
    return text


ROUTES = sf.to("parse", "when it can be read", parse) | sf.to("slow", "otherwise", slow)


def agents_are_exact() -> None:
    assert_type(agent.stage(prompt_of), sf.Stage[Question, Answer, sf.RunFailed])
    assert_type(
        parse.then(agent.stage(lambda it: it.text)),
        sf.Stage[str, Answer, Unreadable | sf.RunFailed],
    )
    assert_type(knowing.stage(prompt_of, deps=Question("?")), sf.Stage[Question, str, sf.RunFailed])
    assert_type(
        sf.model_stage(prompt_of, model="openai/gpt-5.4"), sf.Stage[Question, str, sf.RunFailed]
    )
    assert_type(
        sf.model_stage(prompt_of, model="openai/gpt-5.4", output=sf.object_of(Answer)),
        sf.Stage[Question, Answer, sf.RunFailed],
    )


def routes_are_exact() -> None:
    assert_type(ROUTES, sf.Routes[str, Question | int, Unreadable | Offline])
    assert_type(
        sf.route(ROUTES, model="openai/gpt-5.4", prompt=shared),
        sf.Stage[str, Question | int, Unreadable | Offline | sf.NotRouted],
    )


@sf.stage
def gather(questions: tuple[Question, ...]) -> Summary:
    return Summary(len(questions))


def plans_are_exact() -> None:
    assert_type(
        sf.orchestrate(words, parse, gather, at_most=3),
        sf.Stage[str, Summary, Unreadable | sf.BoundReached[int]],
    )
    assert_type(
        parse.then(sf.await_input(bool, name="ok", ask=lambda it: it.text)),
        sf.Stage[str, bool, Unreadable],
    )
    assert_type(
        parse.then(sf.await_input_with(bool, name="ok", ask=lambda it: it.text)),
        sf.Stage[str, tuple[Question, bool], Unreadable],
    )


async def running_is_exact(store: JournalStore) -> None:
    assert_type(await parse.run(""), sf.Outcome[Question, Unreadable])
    started = await parse.idempotent().start("", journal=store, run_id="r")
    assert_type(started, sf.PipelineRun[Question, Unreadable])
    match (await parse.resume("r", {"ok": True}, journal=store)).end:  # type: ignore[exhaustive-match]  # pyright: ignore[reportMatchNotExhaustive]
        case sf.Finished(sf.Success(question)):
            assert_type(question, Question)
        case sf.Finished(sf.Failure(unreadable)):
            assert_type(unreadable, Unreadable)
        case sf.Suspended(asked):
            assert_type(asked, tuple[OpenInput | sf.AgentAsks, ...])
        case sf.Cancelled() | sf.Crashed():
            pass
    assert_type(await count.value("x"), int)
    assert_type(parse.run_sync(""), sf.Outcome[Question, Unreadable])
    assert_type(await parse.replay("r", journal=store), sf.Outcome[PipelineState, sf.Diverged])
    assert_type(await parse.fork("r", "s", journal=store, at="parse"), PipelineState)
    match await (parse >> ask).run(""):
        case sf.Success(value):
            assert_type(value, Answer | Refusal)
        case sf.Failure(Unreadable(why)):
            assert_type(why, str)
        case sf.Failure(error):
            assert_type(error, Unreadable | Offline)


def of_result(text: str) -> Result[int, Offline]:
    return sf.Success(len(text))


def of_future(text: str) -> FutureResult[int, Offline]:
    return FutureResult.from_value(len(text))


def railways_are_exact() -> None:
    assert_type(from_result(of_result), sf.Stage[str, int, Offline])
    assert_type(from_future_result(of_future), sf.Stage[str, int, Offline])
    assert_type(as_future_result(parse)("x"), FutureResult[Question, Unreadable])  # type: ignore[unused-awaitable]


def stages_go_where_less_is_promised(texts: Callable[[str], Awaitable[int]]) -> None:
    _wider: sf.Stage[str, object, Unreadable | Offline] = parse
    _narrower: sf.Stage[str, int, Never] = count
    assert_type(sf.stage(texts), sf.Stage[str, int, Never])


# --- what is refused --------------------------------------------------------------------------

# fmt: off
parse >> summarise  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
parse.then(summarise)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse >> plain  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
parse.then(plain)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.map(lambda it: it.missing)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownLambdaType, reportUnknownMemberType]
parse.tap(plain)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.named(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.durable(3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
parse.idempotent(3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
parse.bind(plain)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.guard(plain, lambda _: 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.narrow("Answer", lambda _: 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.map_failure(lambda it: it.missing)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownLambdaType, reportUnknownMemberType]
parse.recover(plain)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.recover_with(sf.stage(plain))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.fallback(summarise)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.race(summarise)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.retry("3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse.timeout("soon")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parse & summarise  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
parse & slow & summarise  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
sf.parallel(parse)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.parallel_all([parse, summarise])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.given(str).parallel(parse & summarise)  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnknownArgumentType]
words.map_each(summarise, limit=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
count.map_each(parse, limit=2)  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
words.map_each(parse)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
words.settle_each(summarise, limit=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
longer.loop_until(parse, bool, at_most=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
longer.loop_until(longer, plain, at_most=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
longer.loop_while(longer, lambda text: True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
longer.improve_until_accepted(longer, improve, at_most=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
longer.improve_until_accepted(evaluate, longer, at_most=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ask.branch(sf.case(Answer).then(shout))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ask >> sf.branch(sf.case(Answer).then(shout))  # type: ignore[arg-type]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
kind_of >> sf.branch(sf.case(Literal["bug"]).then(count))  # type: ignore[arg-type]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
sf.case(Answer).then(apologise)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.case(Answer).then(shout) | shout  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
sf.when(is_short, summarise)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.when(plain, slow)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.when(is_short, slow).when(lambda text: text.missing, slow)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownLambdaType, reportUnknownMemberType]
sf.when(is_short, slow).otherwise(summarise)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.identity(3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
sf.stage(3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
sf.pure(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.fallible(plain)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.given(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.sleep("long")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
agent.stage("Answer.")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
knowing.stage(prompt_of)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
knowing.stage(prompt_of, deps="?")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
words >> agent.stage(prompt_of)  # type: ignore[arg-type]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
sf.to("parse", "when it can be read", parse) | sf.to("sum up", "otherwise", summarise)  # type: ignore[arg-type]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
sf.route(parse, model="openai/gpt-5.4", prompt=shared)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.route(ROUTES, model="openai/gpt-5.4", prompt=prompt_of)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.orchestrate(words, summarise, gather, at_most=3)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
sf.orchestrate(words, parse, summarise, at_most=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.orchestrate(count, parse, gather, at_most=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.orchestrate(words, parse, gather)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
sf.await_input(bool, name="ok", ask=count)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.await_input_with(bool, name="ok", ask=count)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def what_is_refused(store: JournalStore) -> None:
    await parse.value("")  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    await parse.run(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    parse.run_sync(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await parse.run("", cancel="now")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await parse.run("", timeout="soon")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await parse.start("", run_id="r")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await parse.fork("r", "s", journal=store, at=1.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await sf.when(is_short, slow).run("x")  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


_covered: sf.Stage[str, Question, Offline] = parse  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
_given: sf.Stage[object, int, Offline] = slow  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
_gives: sf.Stage[str, str, Offline] = slow  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
