"""Types that travel as strings: the pattern accepts what the reader reads, and nothing else."""

import json
import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal, localcontext
from typing import Any
from uuid import UUID

import pytest

from stepfold.schema import bind, form_of, unbind
from stepfold.schema._grammars import written_decimal, written_duration
from stepfold.values._outcome import Success


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (date, "2024-02-29", date(2024, 2, 29)),
        (date, "0001-01-01", date.min),
        (date, "9999-12-31", date.max),
        (date, "2000-02-29", date(2000, 2, 29)),
        (datetime, "2024-01-01T10:00:00", datetime(2024, 1, 1, 10)),  # noqa: DTZ001
        (datetime, "2024-01-01T10:00:00.5Z", datetime(2024, 1, 1, 10, 0, 0, 500_000, UTC)),
        (
            datetime,
            "2024-01-01T10:00:00-05:30",
            datetime(2024, 1, 1, 10, tzinfo=timezone(-timedelta(hours=5, minutes=30))),
        ),
        (
            datetime,
            "1900-01-01T00:00:00+00:19:32.000001",
            datetime(
                1900, 1, 1, tzinfo=timezone(timedelta(minutes=19, seconds=32, microseconds=1))
            ),
        ),
        (time, "23:59:59.999999", time.max),
        (time, "10:00:00Z", time(10, tzinfo=UTC)),
        (timedelta, "PT0S", timedelta(0)),
        (timedelta, "P2W", timedelta(weeks=2)),
        (timedelta, "P1DT2H3M4.5S", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        (timedelta, "PT90M", timedelta(minutes=90)),
        (timedelta, "-PT0.000001S", timedelta(microseconds=-1)),
        (Decimal, "-12.50", Decimal("-12.50")),
        (Decimal, "1e-6", Decimal("0.000001")),
        (UUID, "00000000-0000-0000-0000-00000000000A", UUID(int=10)),
        (bytes, "aGk=", b"hi"),
        (bytes, "", b""),
    ],
    ids=str,
)
def test_text_is_read(kind: type, text: str, value: object) -> None:
    form = form_of(kind, where="test")

    assert bind(form, text) == Success(value)
    assert bind(form, unbind(value)) == Success(value)


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (date, ["2023-02-29", "1900-02-29", "0000-01-01", "2024-04-31", "2024-1-1", "20240101"]),
        (date, ["2024-01-01\n", "2024-01-01T00:00:00", "\u0662024-01-01", "2024-00-10"]),
        (datetime, ["2024-01-01", "2024-01-01 10:00:00", "2024-01-01T24:00:00"]),
        (datetime, ["2024-01-01T10:00", "2024-01-01T10:00:00+24:00", "2024-01-01T10:00:60"]),
        (time, ["10:00", "24:00:00", "10:00:00.1234567", "10:00:00+1"]),
        (timedelta, ["", "P", "PT", "P1DT", "P1Y", "P1M", "P1.5D", "PT1S1M", "1D", "P1W1D"]),
        (timedelta, ["P999999999D", "PT1234567890S"]),
        (Decimal, ["", "NaN", "Infinity", "1.", ".5", "+1", "1e1234567", "1_000", " 1"]),
        (UUID, ["0", "{00000000-0000-0000-0000-000000000000}", "0" * 32]),
        (bytes, ["a", "aGk", "aG=k", "aGk=\n", "a-_=", "===="]),
    ],
    ids=str,
)
def test_other_text_is_refused(kind: type, texts: list[str]) -> None:
    decoder = form_of(kind, where="test").decoder

    assert [text for text in texts if decoder.accepts(text)] == []


def test_every_day_of_the_calendar_is_read_and_no_other() -> None:
    pattern: Any = json.loads(form_of(date, where="test").schema.text)["pattern"]
    for year in (1, 4, 100, 400, 1900, 2000, 2023, 2024, 9999):
        for month in range(14):
            for day in range(33):
                text = f"{year:04}-{month:02}-{day:02}"
                try:
                    date.fromisoformat(text)
                    expected = True
                except ValueError:
                    expected = False

                assert (re.search(pattern, text) is not None) == expected, text


def test_durations_beyond_the_grammar_are_not_written() -> None:
    assert written_duration(timedelta(days=99_999_999, seconds=1)) == "P99999999DT1S"
    assert written_duration(timedelta(days=100_000_000)) is None
    assert written_duration(timedelta.min) is None
    assert written_duration(timedelta.max) is None


def test_no_time_at_all_has_no_sign() -> None:
    assert written_duration(timedelta(0)) == "PT0S"


@pytest.mark.parametrize("sign", ["", "-"])
def test_decimals_with_exponents_that_could_not_be_read_are_not_written(sign: str) -> None:
    assert written_decimal(Decimal(f"1E{sign}499999")) is not None
    assert written_decimal(Decimal(f"1E{sign}500000")) is None


def test_decimals_are_written_the_same_in_every_context() -> None:
    with localcontext() as context:
        context.capitals = 0
        context.prec = 2
        written = written_decimal(Decimal("123.456E+10"))

    assert written == "1.23456E+12"
    assert written_decimal(Decimal("sNaN")) is None
