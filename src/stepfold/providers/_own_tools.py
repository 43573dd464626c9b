"""Tools that providers have of their own: what their declarations share.

A tool that the provider runs is a `ProviderTool`. One that the provider only defines, so that its
models know it well, and that runs here is a `ProviderDefined`: a decorator that makes a tool of
your function.
"""

import json
from collections.abc import Callable, Mapping
from typing import Concatenate, Never, ParamSpec, TypeVar, final, overload

from attrs import field, frozen
from typing_extensions import Unpack

from stepfold.providers._json import object_of
from stepfold.shell import (
    AnyTool,
    ClientToolDecorator,
    ClientToolKeywords,
    ShownToolDecorator,
    Tool,
    ToolContext,
    ToolDecorator,
    ToolKeywords,
    ToolOptions,
    client_tool,
    is_unbound_method,
    provider_tool,
)
from stepfold.values import JsonObject, JsonText, ProviderTool, ToolOutput, UsageError

D = TypeVar("D")
I = TypeVar("I")  # noqa: E741 - the instance that a method is bound to
P = ParamSpec("P")
Q = ParamSpec("Q")
Returned = TypeVar("Returned")
T = TypeVar("T")


@final
@frozen(order=False, kw_only=True)
class UserLocation:
    """About where the user is, as far as a search may know; what is `None` is not said.

    `country` is a code of two letters (`NO`), `timezone` a name of the IANA (`Europe/Oslo`).
    """

    city: str | None = None
    region: str | None = None
    country: str | None = None
    timezone: str | None = None

    @property
    def on_the_wire(self) -> Mapping[str, object]:
        """The place as a JSON object."""
        place = said(
            city=self.city, region=self.region, country=self.country, timezone=self.timezone
        )
        return {"type": "approximate", **place}


def said(**members: object) -> dict[str, object]:
    """The members that are not `None`."""
    return {name: value for name, value in members.items() if value is not None}


def hosted_tool(
    id: str,
    name: str | None = None,
    *,
    supports_deferred_results: bool = False,
    **members: object,
) -> ProviderTool:
    """A tool that the provider runs, with those members of its definition that are not `None`."""
    return provider_tool(
        id, name, said(**members), supports_deferred_results=supports_deferred_results
    )


class _NamedKeywords(ToolKeywords):
    name: str


@final
@frozen(order=False, kw_only=True)
class ProviderDefined:
    """A tool that a provider defines and that your function does: a decorator.

    `@tools.bash()` makes a tool of a function; `with_options` takes what `stepfold.tool` takes
    beside, and `by_client` declares a tool that somebody else runs. The model calls it `name`,
    with the arguments that the provider's documentation tells, whatever the function is called.
    A model of another provider is told of it as of any other function.

    `definition` is what the provider is told, `samples` are arguments with which its models call
    the tool: a function has to take every one of them.
    """

    provider: str
    name: str
    definition: JsonText
    samples: tuple[JsonText, ...] = field(default=(), repr=False)

    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], Returned], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Returned]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], Returned], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], Returned]: ...
    @overload
    def __call__(self, function: Callable[P, Returned], /) -> Tool[object, P, Returned]: ...
    def __call__(self, function: object, /) -> object:
        """Make a tool of a function.

        Raises:
            UsageError: it does not take what models give to this tool; the text says what.
        """
        return self._decorator(ToolOptions(**self._named({})))(function)

    @overload
    def with_options(
        self, *, to_model_output: None = None, **options: Unpack[ToolKeywords]
    ) -> ToolDecorator: ...
    @overload
    def with_options(
        self, *, to_model_output: Callable[[T], ToolOutput], **options: Unpack[ToolKeywords]
    ) -> ShownToolDecorator[T]: ...
    def with_options(
        self,
        *,
        to_model_output: Callable[[Never], ToolOutput] | None = None,
        **options: Unpack[ToolKeywords],
    ) -> object:
        """A decorator with the options of `stepfold.tool`, such as `needs_approval`."""
        named = self._named(options)
        return self._decorator(ToolOptions(to_model_output=to_model_output, **named))

    def by_client(self, **options: Unpack[ClientToolKeywords]) -> ClientToolDecorator:
        """A decorator that declares a tool which somebody else runs; see `client_tool`."""
        options["provider_options"] = self._merged(options.get("provider_options"))
        make = client_tool(name=self.name, **options)

        def decorate(function: Callable[P, Returned], /) -> AnyTool[object, Returned]:
            made = make(function)
            self._require_samples(made)
            return made

        return decorate

    def _named(self, given: ToolKeywords) -> _NamedKeywords:
        merged = self._merged(given.get("provider_options"))
        return {**given, "name": self.name, "provider_options": merged}

    def _decorator(self, options: ToolOptions) -> Callable[[object], object]:
        def decorate(function: object) -> object:
            if isinstance(function, AnyTool):
                function = function.function  # the same function, offered otherwise
            if not callable(function):
                what = f"{self.provider} {self.name}: expected a function, got {function!r:.100}"
                raise UsageError(what)
            made = Tool[object, [], object](function, options)
            self._require_samples(made)
            return made

        return decorate

    def _merged(self, given: Mapping[str, object] | None) -> Mapping[str, object]:
        others = dict(given or {})
        definition = self.definition.value
        own: Mapping[str, object] = definition if isinstance(definition, JsonObject) else {}
        return {**others, self.provider: {**own, **object_of(others.get(self.provider))}}

    def _require_samples(self, made: AnyTool[object, object]) -> None:
        if is_unbound_method(made.function):
            return
        for sample in self.samples:
            faults = made.spec.check(json.loads(sample.text))
            if faults:
                where = faults[0].pointer or "its arguments"
                raise UsageError(
                    f"{self.provider} {self.name}: expected a function that takes {sample.text}, "
                    f"as models call it, got one that does not ({where}: {faults[0].message}): "
                    f"give the parameters these names, and defaults to those that may be missing"
                )
