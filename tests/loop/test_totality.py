"""Text without a UTF-8 form, wherever a model puts it, does not stop a run."""

from stepfold.loop import Done, LoopState, Program, begin, step
from stepfold.loop.commands import ModelCallKey
from stepfold.loop.events import ModelReplied
from stepfold.testing import reply
from stepfold.values import (
    AssistantMessage,
    Completed,
    ErrorJsonOutput,
    FinishReason,
    JsonText,
    ModelReply,
    Stop,
    Stopped,
    Text,
    ToolCall,
    ToolError,
    ToolResult,
)


def after(said: ModelReply) -> LoopState:
    program = Program(models=("m/m",))
    started = begin(program, "Hello", run="r", seed=0, at=0).state
    return step(program, started, ModelReplied(ModelCallKey(0, 0), said, 1, started=0)).state


def test_a_lone_surrogate_in_the_final_text_is_replaced() -> None:
    output = JsonText('"a\ufffd"')

    assert after(reply("a\ud800")).phase == Done(Completed(output), output)


def test_a_lone_surrogate_in_a_finish_reason_is_replaced() -> None:
    said = ModelReply((Text("a"),), FinishReason("other", "\ud800"))

    assert after(said).phase == Done(Stopped(Stop("other", JsonText('{"raw":"\ufffd"}'))))


def test_a_lone_surrogate_in_the_error_of_a_provider_is_replaced() -> None:
    call = ToolCall("c", "search", "{}", provider_executed=True)
    error = ToolError("c", "search", "\ud800", provider_executed=True)

    told = ToolResult("c", "search", ErrorJsonOutput(JsonText('"\ufffd"')), provider_executed=True)
    assert after(reply(call, error)).messages[-1] == AssistantMessage((call, told))
