"""Whether a runtime has all that a program asks for."""

from typing import TypeVar

from stepfold.loop import LoopState, Program, pending
from stepfold.loop.commands import CallModel, RunTool
from stepfold.shell._hooks import missing_hooks
from stepfold.shell._runtime import Runtime
from stepfold.values import UsageError

D = TypeVar("D")


def require_fitting(program: Program, state: LoopState, runtime: Runtime[D]) -> None:
    """Refuse a program that a runtime cannot carry out.

    Raises:
        UsageError: a model, a tool or a hook that the program asks for is not here.
    """
    for command, hook in missing_hooks(program, runtime.hooks, runtime.tools):
        raise UsageError(
            f"hooks: the program issues {command}, which {hook} answers, and the runtime has "
            "none: give it one, or drive the loop by hand"
        )
    if program.output.binds and runtime.bind_output is None:
        raise UsageError(
            "bind_output: expected what runs the validators of the program's output, got None: "
            "give the runtime bind_output=output.decode"
        )
    owed = pending(state)
    models = [command.model for command in owed if isinstance(command, CallModel)]
    for name in (*program.every_model, *models):
        if name not in runtime.models:
            known = ", ".join(runtime.models) or "none"
            raise UsageError(f"models: expected one named {name!r}, got: {known}")
    tools = [command.tool_name for command in owed if isinstance(command, RunTool)]
    run_here = [name for name, spec in program.tools.items() if spec.executes]
    for name in (*run_here, *tools):
        if name not in runtime.tools:
            known = ", ".join(runtime.tools) or "none"
            raise UsageError(f"tools: expected one named {name!r}, got: {known}")
