"""What it costs to write a run down: events a second on each store, beside bare inserts.

Wall time, since most of it is waiting for the disk. A bare insert is what a careful program would
do by hand with the same bytes, one at a time: a line and `fsync`, or a row and a commit. Growth is
what an append at the end of the run costs, over one near its beginning.
"""

import os
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import anyio
import psycopg
import sqlalchemy as sa

from stepfold import durable
from stepfold.durable.sql import SqlStore
from stepfold.ports import JournalRecord, JournalStore
from stepfold.values import Success
from tests.bench import loop
from tests.bench.measure import Figure
from tests.durable._postgres import AbsentError, postgres

APPENDS = 300
STEPS = 1_000
RECORD = JournalRecord(b'{"v":1,"type":"entry","entry":"' + b"x" * 600 + b'"}', 1, "running")

Insert = Callable[[], object]


def report() -> None:
    """Print the figures of each store, and of whole runs with a journal and without."""
    heads = (f"records of {len(RECORD.data)} bytes", "bare/s", "store/s", "x bare", "growth")
    print("{:>26} {:>9} {:>9} {:>7} {:>7}".format(*heads))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stores: list[tuple[str, JournalStore, Callable[[], object]]] = [
            ("memory", durable.MemoryStore(), _memory()),
            ("file", durable.FileStore(folder / "runs"), stack.enter_context(_file(folder))),
            (
                "SQLite",
                SqlStore(f"sqlite:///{folder / 'runs.db'}"),
                stack.enter_context(_sqlite(folder)),
            ),
        ]
        try:
            url = stack.enter_context(postgres())
            stores.append(("PostgreSQL", SqlStore(url), stack.enter_context(_postgres(url))))
        except AbsentError as absent:
            print(f"{'PostgreSQL':>26} not here: {absent}")
        for name, store, insert in stores:
            floor = _per_second(insert)
            times = anyio.run(_appended, store)
            own = len(times) / sum(times)
            tenth = len(times) // 10
            growth = _median(times[-tenth:]) / _median(times[tenth : 2 * tenth])
            row = f"{floor:>9,.0f} {own:>9,.0f} {floor / own:>7.2f} {growth:>7.2f}"
            print(f"{name:>26} {row}")
        _whole_runs(stores)
    print()


def _per_second(insert: Insert) -> float:
    started = time.perf_counter()
    for _ in range(APPENDS):
        insert()
    return APPENDS / (time.perf_counter() - started)


async def _appended(store: JournalStore) -> list[float]:
    times: list[float] = []
    for number in range(APPENDS):
        started = time.perf_counter()
        outcome = await store.append("bench", RECORD, expected=number)
        times.append(time.perf_counter() - started)
        if outcome != Success(number + 1):
            raise AssertionError(outcome)
    return times


def _median(times: Sequence[float]) -> float:
    return sorted(times)[len(times) // 2]


# --- bare inserts -----------------------------------------------------------------------------


def _memory() -> Insert:
    kept: list[bytes] = []
    return lambda: kept.append(RECORD.data)


@contextmanager
def _file(folder: Path) -> Generator[Insert]:
    with (folder / "bare").open("ab") as file:

        def insert() -> None:
            file.write(RECORD.data + b"\n")
            file.flush()
            os.fsync(file.fileno())

        yield insert


@contextmanager
def _sqlite(folder: Path) -> Generator[Insert]:
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE bare (number INTEGER PRIMARY KEY, data BLOB)")
    yield lambda: connection.execute("INSERT INTO bare (data) VALUES (?)", (RECORD.data,))
    connection.close()


@contextmanager
def _postgres(url: str) -> Generator[Insert]:
    parsed = sa.make_url(url)
    with psycopg.connect(
        host=str(parsed.query["host"]),
        user=parsed.username,
        dbname=parsed.database,
        autocommit=True,
    ) as connection:
        connection.execute("CREATE TABLE bare (number SERIAL PRIMARY KEY, data BYTEA)")
        yield lambda: connection.execute("INSERT INTO bare (data) VALUES (%s)", (RECORD.data,))


# --- whole runs -------------------------------------------------------------------------------


def _whole_runs(stores: Sequence[tuple[str, JournalStore, object]]) -> None:
    """A run of 1,000 steps with its journal, beside the same run without, and its replay."""
    bare = _timed(partial(_run, None))
    print(f"{'a run of 1,000 steps':>26} {'CPU ms':>9} {'wall ms':>9} {'events/s':>9}")
    print(f"{'no journal':>26} {bare.cpu * 1e3:>9.0f} {bare.wall * 1e3:>9.0f}")
    for name, store, _ in stores:
        figure = _timed(partial(_run, store))
        recording = anyio.run(durable.recording_of, store, "run").unwrap()
        events = len(recording.entries)
        row = f"{figure.cpu * 1e3:>9.0f} {figure.wall * 1e3:>9.0f} {events / figure.wall:>9,.0f}"
        print(f"{name:>26} {row}")
    program = loop.agent_of(loop.Fake(STEPS)).program
    recording = anyio.run(durable.recording_of, stores[0][1], "run").unwrap()
    started = time.perf_counter()
    durable.replayed(program, recording).unwrap()
    replays = len(recording.entries) / (time.perf_counter() - started)
    print(f"a replay decides {replays:,.0f} events a second")


async def _run(store: JournalStore | None) -> None:
    journal = None if store is None else durable.RunJournal(store)
    agent = loop.agent_of(loop.Fake(STEPS))
    run = await agent.generate("go", run_id="run", seed=0, journal=journal)
    if len(run.steps) != STEPS + 1:
        raise AssertionError(run)


def _timed(work: Callable[[], Awaitable[None]]) -> Figure:
    wall, cpu = time.perf_counter(), time.process_time()
    anyio.run(work)
    return Figure(time.process_time() - cpu, time.perf_counter() - wall)
