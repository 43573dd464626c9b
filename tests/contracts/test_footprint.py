"""`import stepfold` is quick and brings in nothing that its user may never use."""

import subprocess
import sys

MOST_MILLISECONDS = 150
UNWANTED = ("httpx", "hypothesis", "pydantic", "typer")

MEASURE = """
import sys, time
started = time.process_time()
import stepfold
print((time.process_time() - started) * 1000, *sys.modules)
"""


def _imported() -> tuple[float, set[str]]:
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    milliseconds, *names = ran.stdout.split()
    return float(milliseconds), set(names)


def test_heavy_and_optional_packages_are_not_imported() -> None:
    _, names = _imported()

    assert names.isdisjoint(UNWANTED)


def test_import_is_quick() -> None:
    # Processor time, and the least of several: the machine's other work is no fault of ours.
    milliseconds = min(_imported()[0] for _ in range(5))

    assert milliseconds < MOST_MILLISECONDS


PLUGINS = """
import sys
import stepfold.plugins._pytest
from stepfold.plugins._hypothesis import register
register()
print(*sys.modules)
"""


def test_plugins_import_nothing_before_they_are_used() -> None:
    # pytest and hypothesis load them in every project where stepfold is installed.
    ran = subprocess.run(
        [sys.executable, "-c", PLUGINS], capture_output=True, text=True, check=True
    )
    names = set(ran.stdout.split())

    ours = {name for name in names if name.startswith("stepfold.")}
    assert ours == {"stepfold.plugins", "stepfold.plugins._pytest", "stepfold.plugins._hypothesis"}
    assert names.isdisjoint({*UNWANTED, "anyio", "attrs", "cattrs", "returns", "typing_extensions"})


AGENT = """
import sys
import stepfold as sf
sf.Agent, sf.tool, sf.openai_responses, sf.Completed
print(*sys.modules)
"""


def test_an_agent_brings_in_no_pipeline_and_no_http_client() -> None:
    # What a process pays before its first request; most of it is the making of classes.
    ran = subprocess.run([sys.executable, "-c", AGENT], capture_output=True, text=True, check=True)
    names = set(ran.stdout.split())

    assert names.isdisjoint({*UNWANTED, "stepfold.pipeline", "stepfold.durable"})
