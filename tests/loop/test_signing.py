"""Signatures of requests for approval: the form of the AI SDK, to the byte."""

import copy
import json
import pickle
import traceback

import pytest

from stepfold.codec import encode
from stepfold.loop import ApprovalSecret, Program
from stepfold.loop._signing import javascript_json
from stepfold.values import UsageError
from tests.loop._scenario import ONE, call, guarded, program, started

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("ids", "arguments", "signature"),
    [
        (("id-1", "t1", "ask"), "{}", "A4Bf2n9uGUG3bS-BdtiF-2UtAi2QMXXsWpkHuUB6yQY"),
        (("id-3", "t3", "ok"), '{"x":1}', "zr0SpWG6McO3EO2nls7wTB8qxO7hYobvcebn1G_tCoU"),
        (("id-2", "t2", "deny"), "{}", "azLICMUh2Crbdf4oSvt7hkRXbMSoPNnpRGffIGQ432Q"),
    ],
)
def test_signatures_are_those_of_the_ai_sdk(
    ids: tuple[str, str, str], arguments: str, signature: str
) -> None:
    """Made by the AI SDK itself with this secret."""
    secret = ApprovalSecret(SECRET)

    assert secret.signature_of(*ids, arguments) == signature
    assert secret.has_signed(signature, *ids, arguments)
    assert ApprovalSecret(SECRET.encode()).has_signed(signature, *ids, arguments)
    assert not ApprovalSecret("another").has_signed(signature, *ids, arguments)


def test_the_older_form_counts_where_its_lines_are_unambiguous() -> None:
    """It is the ids and the digest, a line each: a line break in an id could move an end."""
    secret = ApprovalSecret(SECRET)
    older = "AUvazxC9Sgjgz39TqcUCiU4j8iabdJeTBqTHW2kd6NU"
    moved = "dK3UARmd7v3UKmdp1Pzq6CArOsAE3bgyNwo4Jqgo0UI"

    assert secret.has_signed(older, "id-1", "t1", "ask", "{}")
    assert not secret.has_signed(older, "id-1", "t1", "ask", '{"x":1}')
    assert not secret.has_signed(moved, "id-1\nt1", "ask", "pay", "{}")
    assert not secret.has_signed(moved, "id-1", "t1\nask", "pay", "{}")


def test_numbers_that_javascript_cannot_tell_apart_are_one() -> None:
    """A client that reads and writes the arguments has not changed them."""
    secret = ApprovalSecret(SECRET)
    signature = secret.signature_of("i", "c", "t", "[9007199254740993]")

    assert secret.has_signed(signature, "i", "c", "t", "[9007199254740992.0]")
    assert not secret.has_signed(signature, "i", "c", "t", "[9007199254740994]")


def test_half_a_character_is_no_reason_to_fail() -> None:
    """Signatures come from outside, and secrets from wherever they are kept."""
    odd = ApprovalSecret("\ud800")

    assert odd.has_signed(odd.signature_of("i", "c", "t", "{}"), "i", "c", "t", "{}")
    assert not odd.has_signed("\ud800", "i", "c", "t", "{}")


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ('{"b": 1.0, "a": [true, null, "x"]}', '{"a":[true,null,"x"],"b":1}'),
        ("[1e-7, 0.000001, 1.5e-7, 123.456, -0.0, -0]", "[1e-7,0.000001,1.5e-7,123.456,0,0]"),
        ("[1.0, 0.5, 0.001, 0.0205, 100.0, 10.50]", "[1,0.5,0.001,0.0205,100,10.5]"),
        (r'{"b":1,"\ud800":2,"a":3}', r'{"a":3,"b":1,"\ud800":2}'),
        ("[1e20, 1e21, 1.25e22, 5e-324]", "[100000000000000000000,1e+21,1.25e+22,5e-324]"),
        ("[9007199254740993, -1.50, 1e400]", "[9007199254740992,-1.5,null]"),
        ("123456789012345678901", "123456789012345680000"),
        (r'"\u001f\u007f\u2028\"\\\/\n"', '"\\u001f\x7f\u2028\\"\\\\/\\n"'),
        (r'"\ud83d\ude00 \ud800 \uDC00"', '"\U0001f600 \\ud800 \\udc00"'),
        ('{"\ue000": 1, "\U0001f600": 2, "10": 3, "9": 4}', '{"10":3,"9":4,"😀":2,"\ue000":1}'),
    ],
)
def test_arguments_are_digested_as_javascript_writes_them(document: str, text: str) -> None:
    """Numbers are doubles, keys are sorted by UTF-16 code units: what `node` gave for these."""
    assert javascript_json(json.loads(document, parse_int=float)) == text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("", "expected a secret, got an empty one"),
        (b"", "got an empty one, which signs nothing"),
        (12345678, "expected text or bytes, got int"),
    ],
)
def test_what_is_no_secret_is_refused_and_not_shown(given: str | bytes, told: str) -> None:
    """An error goes into logs."""
    with pytest.raises(UsageError) as caught:
        ApprovalSecret(given)

    assert told in str(caught.value)
    assert "12345678" not in str(caught.value)


def test_nothing_shows_a_secret() -> None:
    """Neither a repr, a traceback with its variables, a state, a journal nor a fingerprint."""
    signing = program(guarded(), tool_approval_secret=SECRET)
    run = started(signing)
    run.reply(call("pay"))

    def fail(program: Program) -> None:
        secret = program.tool_approval_secret
        raise ValueError(secret)

    with pytest.raises(ValueError, match="<approval secret>") as caught:
        fail(signing)
    shown = "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    )
    assert SECRET not in shown
    assert SECRET not in repr(signing)
    assert SECRET.encode() not in encode(run.state)
    assert signing.fingerprint == program(guarded()).fingerprint
    for duplicate in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            duplicate(signing.tool_approval_secret)


def test_programs_take_secrets_as_they_come() -> None:
    """Text, bytes, or one that is made already."""
    secret = ApprovalSecret(SECRET)

    assert Program(models=(ONE,), tool_approval_secret=secret).tool_approval_secret is secret
    assert Program(models=(ONE,), tool_approval_secret=None).tool_approval_secret is None
