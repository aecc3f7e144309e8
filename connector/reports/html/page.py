"""From a report's figures to a page."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from connector.reports.formats import Unsupported
from connector.reports.names import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Engine

    from connector.domain.config import ProjectConfig

NEEDS = "HTML needs Jinja2 and matplotlib: pip install 'crowdresolve[html]'"


def check() -> None:
    """Raise Unsupported where the packages that pages are made with are missing."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError:
        raise Unsupported(NEEDS) from None


def write(
    file: BinaryIO,
    engine: Engine,
    kind: str,
    project: str | None,
    configs: Mapping[str, ProjectConfig],
    limit: int,
    only: Sequence[str] = (),
) -> None:
    """Write the page of a report.

    Args:
        file: where to.
        engine: of the database.
        kind: workers, tasks, project or resolutions.
        project: only this one.
        configs: the projects that it is about.
        limit: most rows of a table.
        only: workers that the page about workers is to show, if not all.

    Raises:
        UnknownWorker: there is none of a name in `only`.
        Unsupported: a package is missing.
        DependencyError, ConfigurationError: the database.
    """
    check()
    import jinja2

    from .projects import project_page
    from .tasks import resolutions_page, tasks_page
    from .workers import workers_page

    pages: Mapping[str, Callable[..., dict[str, Any]]] = {
        "workers": partial(workers_page, only=only),
        "tasks": tasks_page,
        "project": project_page,
        "resolutions": resolutions_page,
    }
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("connector.reports.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count": "{:,}".format, "share": "{:.3f}".format, "name": visible}
    environment.filters["moment"] = _moment
    values = pages[kind](engine, project, configs, limit)
    text = environment.get_template(f"{kind}.html.j2").render(values)
    file.write(text.encode())


def _moment(at: int) -> str:
    """Of microseconds since 1970, to the minute: `2026-01-02 03:04 UTC`."""
    return f"{datetime.fromtimestamp(at / 1e6, UTC):%Y-%m-%d %H:%M} UTC"
