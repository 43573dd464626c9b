r"""Types that travel as JSON strings: their grammar, how they are read and how they are written.

The grammar is a pattern that accepts exactly what the reader can read (days of the month and leap
years included), so that a value that passed the schema always binds. Where several spellings are
possible the writer uses one of them:

    date        ISO 8601 calendar date              2026-02-28
    date-time   RFC 3339, the offset optional       2026-02-28T09:30:00.5+01:00
    time        RFC 3339 full-time, offset optional 09:30:00Z
    duration    ISO 8601 without years and months   P3DT4H, PT0.5S, P2W, -PT90M
    decimal     digits, a point, an exponent        12.50, 1E+3
    uuid        RFC 9562, hyphenated                …
    bytes       RFC 4648 base64 with padding        aGk=

`$` of Python also matches before a newline at the end, that of ECMA 262 does not: `(?!\n)` makes
them agree.
"""

import base64
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Literal, TypeAlias, final
from uuid import UUID

from attrs import frozen

GrammarName: TypeAlias = Literal[
    "date", "date-time", "time", "duration", "decimal", "uuid", "bytes"
]

_END = r"$(?!\n)"
# Years 0001 to 9999, as `datetime` has them; written without look-ahead, since some providers
# refuse it. `to_dialect` takes the one at the end away for them.
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP_YEAR}-02-29)"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
# Seconds in an offset are not RFC 3339, but Python writes them for historical time zones.
_OFFSET = r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{6})?)?)?"
_SECONDS = r"[0-9]{1,9}(?:\.[0-9]{1,6})?S"
_SPAN = (
    f"(?:[0-9]{{1,9}}H(?:[0-9]{{1,9}}M)?(?:{_SECONDS})?|[0-9]{{1,9}}M(?:{_SECONDS})?|{_SECONDS})"
)
_HEX = "[0-9a-fA-F]"
_BASE64 = "[A-Za-z0-9+/]"

_duration = re.compile(
    r"(-?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?"
)
MOST_DAYS = 99_999_999
MOST_EXPONENT = 999_999


@final
@frozen(order=False, eq=False)
class Grammar:
    """One type that travels as a string.

    `words` is how a fault names it; `keyword` is the JSON Schema annotation, a pair, that tells
    more than the pattern.
    """

    name: GrammarName
    python: type[object]
    pattern: str
    words: str
    keyword: tuple[str, str] | None
    read: Callable[[str], object]


def _timedelta(text: str) -> timedelta:
    match = _duration.fullmatch(text)
    sign, weeks, days, hours, minutes, seconds, fraction = (
        match.groups() if match else ("",) * _duration.groups
    )
    micros = int((fraction or "").ljust(6, "0"))
    span = timedelta(
        days=int(days or 0) + 7 * int(weeks or 0),
        seconds=int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0),
        microseconds=micros,
    )
    return -span if sign else span


def _time(text: str) -> time:
    return time.fromisoformat(text)


def written_duration(span: timedelta) -> str | None:
    """Write a duration as days and seconds; None beyond 99,999,999 days either way."""
    sign = "-" if span < timedelta(0) else ""
    span = abs(span)
    if span.days > MOST_DAYS:
        return None
    hours, rest = divmod(span.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{span.microseconds:06}".rstrip("0") if span.microseconds else ""
    days = f"{span.days}D" if span.days else ""
    clock = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count) + (
        f"{seconds}{fraction}S" if seconds or fraction else ""
    )
    return f"{sign}P{days}T{clock}" if clock else f"{sign}P{days or 'T0S'}"


def written_decimal(number: Decimal) -> str | None:
    """Write a decimal exactly; None for NaN, infinities and exponents beyond six digits."""
    if not number.is_finite() or abs(number.adjusted()) > MOST_EXPONENT // 2:
        return None
    return str(number).upper()  # the case of the `E` depends on the context of the thread


GRAMMARS: dict[GrammarName, Grammar] = {
    grammar.name: grammar
    for grammar in (
        Grammar(
            "date", date, f"^{_DATE}{_END}", "a date as YYYY-MM-DD", ("format", "date"),
            date.fromisoformat,
        ),
        Grammar(
            "date-time", datetime, f"^{_DATE}T{_CLOCK}{_OFFSET}{_END}",
            "a date and time as YYYY-MM-DDThh:mm:ss with an optional offset (Z or +hh:mm)",
            ("format", "date-time"), datetime.fromisoformat,
        ),
        Grammar(
            "time", time, f"^{_CLOCK}{_OFFSET}{_END}",
            "a time as hh:mm:ss with an optional offset (Z or +hh:mm)", ("format", "time"), _time,
        ),
        Grammar(
            "duration", timedelta,
            f"^-?P(?:[0-9]{{1,7}}W|[0-9]{{1,8}}D(?:T{_SPAN})?|T{_SPAN}){_END}",
            "an ISO 8601 duration without years and months, such as PT90M",
            ("format", "duration"), _timedelta,
        ),
        Grammar(
            "decimal", Decimal,
            rf"^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{{1,6}})?{_END}",
            "a decimal number as a string, such as 12.50", None, Decimal,
        ),
        Grammar(
            "uuid", UUID, f"^{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}{_END}",
            "a UUID with hyphens", ("format", "uuid"), UUID,
        ),
        Grammar(
            "bytes", bytes,
            f"^(?:{_BASE64}{{4}})*(?:{_BASE64}{{2}}==|{_BASE64}{{3}}=)?{_END}",
            "base64 text with padding", ("contentEncoding", "base64"), base64.b64decode,
        ),
    )
}  # fmt: skip

GRAMMAR_OF_TYPE: dict[type[object], Grammar] = {
    grammar.python: grammar for grammar in GRAMMARS.values()
}
WORDS_OF_PATTERN: dict[str, str] = {grammar.pattern: grammar.words for grammar in GRAMMARS.values()}
