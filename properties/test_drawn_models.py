"""What the strategies say of scripts, layers and chunks is so."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepfold as sf
from stepfold.ports import Middleware
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, laws, reply
from stepfold.testing.strategies import byte_chunkings, middlewares, scripts
from stepfold.transport import SseDecoder
from stepfold.values import ModelRequest, UserMessage

STREAM = b'data: {"a": "\xc3\xa9"}\n\nevent: end\r\ndata: 7\r\n\r\n'


@given(byte_chunkings(data=STREAM))
def test_chunks_are_the_data_in_pieces(chunks: tuple[bytes, ...]) -> None:
    assert b"".join(chunks) == STREAM
    decoder = SseDecoder(1_000)
    found = [event for chunk in chunks for event in decoder.feed(chunk)]
    assert [event.data for event in found] == ['{"a": "é"}', "7"]


@given(first=middlewares(), second=middlewares(), third=middlewares(min_layers=1))
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_layers_are_lawful(
    first: Middleware, second: Middleware, third: Middleware, backend: str
) -> None:
    request = ModelRequest(messages=(UserMessage("Go."),))

    def model() -> ScriptedModel:
        return ScriptedModel([reply("<think>Hm.</think>Yes.")] * 20)

    async def main() -> None:
        await laws.middleware_is_a_monoid(first, second, third, model(), request)
        await laws.generate_is_the_folded_stream(third(model()), request)

    anyio.run(main, backend=backend)


@given(data=st.data())
def test_scripts_bring_runs_to_an_end(data: st.DataObject) -> None:
    script: list[Scripted] = data.draw(scripts(tools=()))
    agent = sf.Agent(
        model=ScriptedModel(script), retry=sf.RetryPolicy(max_retries=9, max_retry_after=1)
    )

    async def main() -> sf.Outcome[sf.Run[str], sf.RunFailed]:
        return await agent.try_generate("Hello", clock=VirtualClock())

    outcome = anyio.run(main)
    run = sf.fold(outcome, lambda it: it, lambda failed: failed.run)
    assert not isinstance(run.end, sf.Blocked)
