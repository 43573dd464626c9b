"""Errors say whose fault it was, and whether trying again may help."""

import pickle
from typing import get_args

import pytest

from stepfold.values import (
    HookFailed,
    IllegalEvent,
    ModelError,
    ModelErrorKind,
    ModelErrorReason,
    StepfoldError,
    ToolFault,
    UsageError,
)

RETRYABLE = {"rate-limit", "overloaded", "server", "connection", "timeout", "protocol"}


@pytest.mark.parametrize("kind", get_args(ModelErrorKind))
def test_only_what_may_pass_is_worth_a_retry(kind: ModelErrorKind) -> None:
    """A request that was refused for what it is will be refused again."""
    assert (kind in RETRYABLE) == ModelErrorReason(kind, "no").is_retryable


def test_a_reason_reads_as_one_line() -> None:
    """Kind, status if there was one, and message."""
    assert str(ModelErrorReason("server", "try later", status=503)) == "server (503): try later"
    assert str(ModelErrorReason("connection", "reset")) == "connection: reset"


def test_a_model_error_carries_its_reason_through_a_pickle() -> None:
    """Workers in other processes raise the same error."""
    reason = ModelErrorReason("rate-limit", "slow down", status=429, retry_after=1_000_000_000)
    error: object = pickle.loads(pickle.dumps(ModelError(reason)))

    assert isinstance(error, ModelError)
    assert reason == error.reason
    assert str(error) == "rate-limit (429): slow down"


def test_every_error_has_one_base_and_misuse_is_a_value_error() -> None:
    """Who catches `StepfoldError` catches all; misuse is also what Python calls a wrong value."""
    for error in (UsageError, IllegalEvent, ToolFault, ModelError):
        assert issubclass(error, StepfoldError)
    assert issubclass(IllegalEvent, UsageError)
    assert issubclass(UsageError, ValueError)


def test_tracebacks_show_the_name_that_users_import() -> None:
    """That is also where a pickle finds the class; a class of the user's keeps its own module."""
    for error in (StepfoldError, UsageError, IllegalEvent, ToolFault, ModelError):
        assert error.__module__ == "stepfold"
        assert pickle.loads(pickle.dumps(error)) is error

    class OutOfStock(ToolFault):
        pass

    assert OutOfStock.__module__ == __name__


def test_a_failed_hook_names_the_hook_and_the_exception() -> None:
    """The exception's own text is not kept: it may differ between two processes."""
    assert HookFailed("prepare_step", "KeyError").message == "prepare_step raised KeyError"
