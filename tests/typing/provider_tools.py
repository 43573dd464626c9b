"""Tools that providers define keep the type of their function, as any tool does."""

from typing import assert_type

from stepfold import ContentOutput, File, ToolContext, ToolOutput
from stepfold.providers.anthropic_messages import tools as anthropic
from stepfold.providers.google_generate import tools as google
from stepfold.providers.responses import tools as openai
from stepfold.shell import AnyTool
from stepfold.values import ProviderTool


@anthropic.bash()
def run(command: str = "", restart: bool = False) -> str:
    return command


@openai.shell().with_options(needs_approval=True, timeout=30)
async def shell(context: ToolContext[list[str]], action: openai.ShellAction) -> openai.ShellResult:
    context.deps.extend(action.commands)
    return openai.ShellResult(output=())


def as_picture(screen: bytes) -> ToolOutput:
    return ContentOutput((File(screen, "image/png"),))


@anthropic.computer(display_width_px=8, display_height_px=6).with_options(
    to_model_output=as_picture
)
def use(action: str) -> bytes:
    return b""


@openai.apply_patch().by_client()
def patch(operation: openai.PatchOperation) -> openai.PatchResult:
    raise NotImplementedError


def keeps_types() -> None:
    assert_type(run(command="ls"), str)
    assert_type(use("screenshot"), bytes)
    assert_type(patch, AnyTool[object, openai.PatchResult])
    assert_type(google.google_search(), ProviderTool)


def mistakes() -> None:
    run(command=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    openai.web_search(search_context_size="huge")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    anthropic.web_search(version="20240101")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    anthropic.bash().with_options(needs_aproval=True)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
