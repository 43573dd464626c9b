"""`stepfold graph`: a pipeline to look at."""

import json
from typing import Final, cast

from stepfold.cli._lines import write_line
from stepfold.cli._named import kind_of, object_named
from stepfold.pipeline import Stage
from stepfold.values import UsageError

FORMS: Final = ("tree", "mermaid", "json")


def graph_named(target: str, form: str) -> int:
    """Write a pipeline as a tree, a Mermaid flow chart or JSON, and give the exit code.

    Raises:
        UsageError: there is no such pipeline, or no such form.
    """
    if form not in FORMS:
        raise UsageError(f"--format: expected one of {', '.join(FORMS)}, got {form!r}")
    found = object_named(target, option="graph", example="my_pipelines:research")
    if not isinstance(found, Stage):
        raise UsageError(f"graph {target}: expected a pipeline (sf.Stage), got {kind_of(found)}")
    pipeline = cast("Stage[object, object, object]", found)
    if form == "tree":
        write_line(pipeline.tree().encode())
    elif form == "mermaid":
        write_line(pipeline.mermaid().encode())
    else:
        schemas = {
            name: None if schema is None else json.loads(schema.text)
            for name, schema in pipeline.schemas().items()
        }
        shown = {"schemas": schemas, "tree": pipeline.tree()}
        write_line(json.dumps(shown, ensure_ascii=False).encode())
    return 0
