"""What the README and the documentation show is what happens, without a network."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepfold.testing import no_network
from tests.docs.pages import PAGES, ROOT, examples_in, examples_on, name_of, run_page, source_of

WITH_EXAMPLES = [page for page in PAGES if examples_on(page)]


@pytest.fixture(autouse=True)
def offline() -> Iterator[None]:
    with no_network():
        yield


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_of_a_page_run_and_show_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    run_page(page)


def test_examples_are_typed(tmp_path: Path) -> None:
    """Strict as the library itself, each page as one module."""
    for page in WITH_EXAMPLES:
        name = name_of(page).replace("/", "_").replace("-", "_")
        # As for tests: pages show decorators of pytest and hypothesis as well.
        lenient = "# mypy: disallow-any-decorated=False\n"
        (tmp_path / f"{name}.py").write_text(lenient + source_of(page), "utf-8")
    settings = ("--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache/pages")

    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *settings, "--no-error-summary", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_provider_has_under_100_lines() -> None:
    """As the page says that shows one."""
    provider, _, _ = source_of(ROOT / "docs" / "how-to" / "write-a-provider.md").partition(
        "from stepfold.testing"
    )

    assert 50 < sum(bool(line.strip()) for line in provider.splitlines()) < 100


def test_text_counts_as_output_only_right_after_the_code() -> None:
    code = "```python\nprint(1)\n```\n"
    text = "```text\n1\n```\n"

    [shown] = examples_in(code + "\n" + text)
    [silent] = examples_in(code + "\nIt prints nothing that matters.\n\n" + text)

    assert (shown.line, shown.code, shown.shown) == (2, "print(1)\n", "1\n")
    assert silent.shown is None
