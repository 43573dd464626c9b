"""The commands and their options; what they do is in the modules beside this one."""

import sys
from importlib.metadata import version
from inspect import cleandoc
from typing import Annotated

import typer

from stepfold.cli._exit import exit_after
from stepfold.cli._laws_command import LAWS_EXIT_CODES, laws
from stepfold.cli._setup import Setup

_EXIT_CODES = (
    "Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 stopped by a condition or a limit, "
    "4 blocked on an approval, 130 interrupted by Ctrl-C."
)
_DECODE_EXIT_CODES = (
    "Exit codes: 0 a reply or an error of the provider, 1 what is no reply of the protocol, "
    "2 wrong usage."
)
_PROTOCOL_HELP = (
    "The protocol: anthropic-messages, bedrock-converse, cohere-chat, google-generate, "
    "mistral-chat, openai-chat or openai-responses."
)

_EXPLORE_EXIT_CODES = (
    "Exit codes: 0 every state was seen and is lawful, 1 a law is broken, 2 wrong usage, "
    "3 no law is broken in what was seen, and a bound was hit."
)

Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="ID",
        help="provider/model, such as openai/gpt-5.4, or module:name, a model of your own.",
    ),
]
Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        "-t",
        metavar="MODULE:NAME",
        help="A tool made by @sf.tool, or a list of them; module:name,name for several. "
        "May be given more than once. The current folder is looked into.",
    ),
]
Instructions = Annotated[
    str, typer.Option("--instructions", "-i", help="What the model is told before the prompt.")
]
MaxSteps = Annotated[int, typer.Option(min=1, help="Stop after so many steps.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="The longest reply, in tokens; as the model likes.")
]
Temperature = Annotated[float | None, typer.Option(min=0.0, help="How much chance; 0 is none.")]
Seed = Annotated[int | None, typer.Option(help="Makes chance repeatable, if the model can.")]
_DEFAULT = Setup()

app = typer.Typer(
    name="stepfold",
    help="Run language models in a tool loop whose every decision is a pure function.",
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands it over so
    if wanted:
        typer.echo(f"stepfold {version('stepfold')}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Nothing is done before a command is."""


@app.command("demo")
def _demo(
    *,
    celsius: Annotated[
        float, typer.Option(help="What the tool shall measure: choose a number of your own.")
    ] = 17.3,
    stream: Annotated[
        bool, typer.Option(help="Whether tokens are shown as they come, or replies in one piece.")
    ] = True,
) -> None:
    """Watch a small model on this machine call a tool; needs no key and no network.

    The exit code is 1 unless the tool's result is in the journal and in the model's answer.
    """
    from stepfold.cli._demo import demo
    from stepfold.cli._ending import carried_out
    from stepfold.cli._screen import Screen

    screen = Screen()
    raise typer.Exit(carried_out(lambda: demo(screen, celsius=celsius, streams=stream), screen))


@app.command("run", epilog=_EXIT_CODES)
def _run(
    *,
    prompt: Annotated[
        str, typer.Argument(metavar="PROMPT", help="What to ask; - reads it from standard input.")
    ],
    model: Model = _DEFAULT.model,
    tools: Tools = None,
    instructions: Instructions = "",
    max_steps: MaxSteps = _DEFAULT.max_steps,
    max_tokens: MaxTokens = None,
    temperature: Temperature = None,
    seed: Seed = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write JSON lines: each part and note, then the run."),
    ] = False,
) -> None:
    """Run one prompt: tokens as they come, tool calls and results as they happen."""
    from stepfold.cli._ending import carried_out
    from stepfold.cli._run import run_once
    from stepfold.cli._screen import Screen

    setup = Setup(
        model=model,
        tools=tuple(tools or ()),
        instructions=instructions,
        max_steps=max_steps,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    screen = Screen()
    asked = sys.stdin.read() if prompt == "-" else prompt
    raise typer.Exit(carried_out(lambda: run_once(setup, asked, screen, as_json=as_json), screen))


@app.command("chat", epilog=_EXIT_CODES)
def _chat(
    *,
    model: Model = _DEFAULT.model,
    tools: Tools = None,
    instructions: Instructions = "",
    max_steps: MaxSteps = _DEFAULT.max_steps,
    max_tokens: MaxTokens = None,
    temperature: Temperature = None,
    seed: Seed = None,
) -> None:
    """Talk with a model: it keeps the history, and asks before a tool that needs approval runs.

    Ctrl-D ends the conversation; Ctrl-C cancels the reply and ends it with 130.
    """
    from stepfold.cli._chat import chat
    from stepfold.cli._ending import carried_out
    from stepfold.cli._screen import Screen

    setup = Setup(
        model=model,
        tools=tuple(tools or ()),
        instructions=instructions,
        max_steps=max_steps,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    screen = Screen()
    raise typer.Exit(carried_out(lambda: chat(setup, screen), screen))


@app.command("decode", epilog=_DECODE_EXIT_CODES)
def _decode(
    *,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What was received; - reads standard input.")
    ],
    protocol: Annotated[str, typer.Option("--protocol", "-p", metavar="NAME", help=_PROTOCOL_HELP)],
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read a stream: SSE, one JSON event a line, lines that begin with data:, or "
            "for Bedrock the binary event stream.",
        ),
    ] = False,
) -> None:
    """Show what a provider sent, as stepfold reads it: one JSON object a line.

    Without --stream, FILE is the body of a reply, and one line is written, the reply. With it,
    each part of the stream comes first, in order. For example:

    {"type":"text-delta","id":"0","delta":"Hi"}

    {"type":"tool-call","tool_call_id":"call_1","tool_name":"weather","input":"{...}"}

    {"type":"reply","content":[...],"usage":{...},"finish_reason":{...},"warnings":[...]}

    The form is that of the journal. What a provider does not say is left out: usage that is not
    known is not 0. The request is not known here, so nothing is made of it.

    An error that the provider reports is one line, {"type":"error","error":{"reason":...}}, and
    then a reply that ends with `error`. What is no reply of the protocol (no last event, bad
    JSON, an impossible order) is told on standard error with its line or byte, after the parts up
    to there, and there is no reply.
    """
    from stepfold.cli._decode import decode_file

    exit_after(lambda screen: decode_file(file, protocol, is_stream=stream, screen=screen))


@app.command("graph")
def _graph(
    *,
    target: Annotated[str, typer.Argument(metavar="MODULE:NAME", help="A pipeline, an sf.Stage.")],
    form: Annotated[
        str, typer.Option("--format", "-f", help="tree, mermaid (a flow chart), or json.")
    ] = "tree",
) -> None:
    """Show a pipeline before it runs: its stages, or the schemas of what goes in and out."""
    from stepfold.cli._graph import graph_named
    from stepfold.cli._screen import OutputClosed, Screen
    from stepfold.values import UsageError

    try:
        code = graph_named(target, form)
    except UsageError as error:
        Screen().complain(str(error))
        code = 2
    except OutputClosed:
        code = 1
    raise typer.Exit(code)


@app.command("explore", epilog=_EXPLORE_EXIT_CODES)
def _explore(
    *,
    target: Annotated[
        str, typer.Argument(metavar="MODULE:NAME", help="An sf.Agent, or an sf.Program.")
    ],
    calls: Annotated[int, typer.Option(min=1, help="The most tool calls in a reply.")] = 2,
    steps: Annotated[int, typer.Option(min=1, help="In how many steps tools may be called.")] = 2,
    laws: Annotated[
        list[str] | None,
        typer.Option(
            "--law",
            metavar="MODULE:NAME",
            help="A law of your own: a function of a stepfold.testing.Trace that raises "
            "AssertionError. May be given more than once.",
        ),
    ] = None,
    max_states: Annotated[int, typer.Option(min=1, help="Stop after so many states.")] = 20_000,
    max_seconds: Annotated[float, typer.Option(min=0.0, help="Stop after so long.")] = 300.0,
    graph: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the graph there, as a Mermaid diagram."),
    ] = None,
) -> None:
    """Go through everything that can become of a run, and check every law in each state.

    No model is asked and no tool is run. In each step a model may give a final answer or call the
    tools in every mix, with arguments that are made from their schemas; model calls and tools may
    fail, people agree or not, and the run may be cancelled, in every order.

    Whatever breaks a law is shown with a shortest way there.
    """
    from stepfold.cli._explore import explore_named

    exit_after(
        lambda screen: explore_named(
            target,
            screen,
            calls=calls,
            steps=steps,
            laws=tuple(laws or ()),
            max_states=max_states,
            max_seconds=max_seconds,
            graph=graph,
        )
    )


_JOURNAL_EXIT_CODES = "Exit codes: 0 done, 1 the journal and the program part, 2 wrong usage."

JournalFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A journal: a file of durable.FileStore or durable.record."
    ),
]
ProgramName = Annotated[
    str, typer.Option("--program", metavar="MODULE:NAME", help="An Agent, a Program or a Stage.")
]

Redact = Annotated[
    bool, typer.Option("--redact", help="Show no texts, arguments and results: how long they are.")
]


@app.command("inspect", epilog=_JOURNAL_EXIT_CODES)
def _inspect(
    *,
    file: JournalFile,
    events: Annotated[bool, typer.Option("--events", help="Show every event, too.")] = False,
    redact: Redact = False,
) -> None:
    """Show the steps of a recorded run, or the stages of a pipeline's. Needs no program."""
    from stepfold.cli._journals import inspect_file

    exit_after(lambda screen: inspect_file(file, screen, shows_events=events, redacts=redact))


@app.command("replay", epilog=_JOURNAL_EXIT_CODES)
def _replay(
    *,
    file: JournalFile,
    program: ProgramName,
    allow_other: Annotated[
        bool,
        typer.Option("--allow-other", help="Also with another program than it was recorded with."),
    ] = False,
) -> None:
    """Decide a recorded run anew, event by event, without a model and without running a tool.

    Stops at the first event at which the program decides otherwise than it did, and shows which
    commands were expected (-) and which came (+).
    """
    from stepfold.cli._journals import replay_file

    exit_after(lambda screen: replay_file(file, program, screen, allows_other=allow_other))


@app.command("fork", epilog=_JOURNAL_EXIT_CODES)
def _fork(
    *,
    file: JournalFile,
    at: Annotated[
        str, typer.Option("--at", metavar="N", help="A record, or a stage: see inspect.")
    ],
    program: ProgramName,
    new: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="The fork's name; RUN-N by default.")
    ] = None,
) -> None:
    """Write a run that begins where a recorded one was, and may go on otherwise.

    The file is written beside FILE. With another program it goes on with that one's tools and
    model, if N is where a step had come to rest.
    """
    from stepfold.cli._journals import fork_file

    exit_after(lambda screen: fork_file(file, program, screen, at=at, new=new))


@app.command("view", epilog=_JOURNAL_EXIT_CODES)
def _view(
    *,
    file: JournalFile,
    program: Annotated[
        str | None,
        typer.Option(
            "--program",
            metavar="MODULE:NAME",
            help="An sf.Agent, or an sf.Program: shows what each event changes in the state.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PAGE", help="By default FILE's name, as .html."),
    ] = None,
    redact: Redact = False,
) -> None:
    """Write a page that shows a recorded run: a timeline, its messages, what each step changed.

    The page is one file, and loads nothing from elsewhere.
    """
    from stepfold.cli._journals import view_file

    exit_after(lambda screen: view_file(file, program, output, screen, redacts=redact))


@app.command("redact", epilog=_JOURNAL_EXIT_CODES)
def _redact(
    *,
    file: JournalFile,
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="A new file.")],
) -> None:
    """Write a journal without what was said: prompts, replies, arguments, results, files.

    It can be looked at by inspect and view; it is marked, and cannot be resumed or replayed.
    """
    from stepfold.cli._journals import redact_file

    exit_after(lambda screen: redact_file(file, output, screen))


app.command("laws", epilog=LAWS_EXIT_CODES)(laws)


def _flowing(text: str) -> str:
    """A docstring whose paragraphs are one line each, so that a terminal of any width fills it."""
    return "\n\n".join(part.replace("\n", " ") for part in cleandoc(text).split("\n\n"))


for _command in app.registered_commands:
    if _command.callback is not None and _command.callback.__doc__ is not None:
        _command.help = _flowing(_command.callback.__doc__)
