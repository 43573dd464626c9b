"""The engine on each of its databases, for one test; asyncio only, as it is itself."""

import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
import sqlalchemy as sa
from dbos import DBOS

import stepfold as sf
from stepfold.durable.dbos import DbosAgent
from tests.durable._dbos import config_of, prepared


@pytest.fixture(scope="module", params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Name the event loop that the engine knows."""
    return str(request.param)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the engine's tables once, in a file to be copied."""
    path = tmp_path_factory.mktemp("dbos") / "template.db"
    prepared(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres_url: str) -> str:
    """Make the engine's tables once, in a database to be copied."""
    _execute(postgres_url, "CREATE DATABASE template")
    prepared(_database(postgres_url, "template"))
    return postgres_url


def _database(url: str, name: str) -> str:
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)


def _execute(url: str, *statements: str) -> None:
    address = sa.make_url(url).set(drivername="postgresql+psycopg")
    administrator = sa.create_engine(address, isolation_level="AUTOCOMMIT")
    with administrator.connect() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    administrator.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a database in which the engine has its tables, and nothing else."""
    if request.param == "sqlite":
        path = tmp_path / "dbos.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        return f"sqlite:///{path}"
    server: str = request.getfixturevalue("postgres_template")
    drop = "DROP DATABASE IF EXISTS engine WITH (FORCE)"
    _execute(server, drop, "CREATE DATABASE engine TEMPLATE template")
    return _database(server, "engine")


Serve = Callable[..., "DbosAgent[str]"]


@pytest.fixture
def serve(url: str) -> Generator[Serve]:
    """Give a function that launches the engine with one agent, in place of what was launched."""

    def served(agent: sf.Agent, **options: object) -> DbosAgent[str]:
        DBOS.destroy(destroy_registry=True)
        DBOS(config=config_of(url))
        runs: DbosAgent[str] = DbosAgent(agent, name="tried", polling_seconds=0.05, **options)  # type: ignore[call-overload]
        DBOS.launch()
        return runs

    yield served
    DBOS.destroy(destroy_registry=True)
