"""Settings as flags: `@command_with("database", ...)` gives a command the flags of these settings.

The flags are texts, so that a wrong value is told in the same way whether it came from a flag, a
variable or the file.  What a command alone understands are parameters of its function.
"""

from __future__ import annotations

import functools
import inspect
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import structlog
import typer

from connector import logs
from connector.domain.errors import CrowdResolveError
from connector.settings import FIELDS, PREFIX, Setting, load

from .terminal import say, tell

log = structlog.get_logger("crowdresolve")

COMMON = ("log_format", "log_level", "debug")
"""Settings that every command has."""

KAFKA = ("bootstrap_servers", "kafka")
TOPICS = ("topic_annotations", "topic_resolved", "topic_assigned", "topic_dead")
ALL = tuple(name for name in FIELDS if name not in COMMON)

BOXED = shutil.get_terminal_size().columns >= 110
"""Whether the help is drawn in boxes: with less room they would cut long names of variables."""


def _described(text: str, variable: str, default: object) -> str:
    """The help of a setting: what it is, its variable, its default."""
    if BOXED:  # a bracket that is no markup has a backslash before it
        return rf"{text} [dim yellow]\[env var: {variable}][/] [dim]\[default: {default}][/]"
    return f"{text} [env var: {variable}] [default: {default}]"


_CONFIG = typer.Option(
    None,
    "--config",
    metavar="FILE",
    help=_described(
        "The file of settings.", "CROWDRESOLVE_CONFIG", "crowdresolve.toml, if it is here"
    ),
    show_default=False,
    allow_from_autoenv=False,
    rich_help_panel="Where",
)


def command_with(
    *names: str, service: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn `function(loaded, ...)` into a command that also takes the flags of these settings.

    Args:
        names: of the settings, beside those that every command has.
        service: what it says goes to the log, whose lines may all have to be JSON.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        chosen = [FIELDS[name] for name in (*names, *COMMON)]

        @functools.wraps(function)
        def command(**given: Any) -> None:
            context = given.pop("context")
            if context.invoked_subcommand is not None:
                _nothing_before(context)
                return
            config = given.pop("config")
            flags = {setting.name: given.pop(setting.name) for setting in chosen}
            logged = False
            debug = bool(flags.get("debug") or os.environ.get("CROWDRESOLVE_DEBUG"))
            try:
                known = set(_variables(context.find_root().command))
                loaded = load(flags, os.environ, config, known)
                logs.configure(loaded.settings.log_format, loaded.settings.log_level)
                debug = loaded.settings.debug
                logged = service and loaded.settings.log_format == "json"
                for warning in loaded.warnings:
                    if logged:
                        log.warning("unknown_variable", reason=warning)
                    else:
                        say(f"Warning: {warning}", "yellow")
                function(loaded, **given)
            except CrowdResolveError as error:
                if logged:
                    log.critical(
                        "failed",
                        kind=type(error).__name__,
                        reason=str(error),
                        exit_code=error.exit_code,
                        exc_info=debug,
                    )
                    raise typer.Exit(error.exit_code) from None
                raise typer.Exit(tell(error, debug)) from None

        _reshape(command, function, chosen)
        return command

    return decorate


def _nothing_before(context: typer.Context) -> None:
    """Refuse flags of a group that stand before one of its commands: they would do nothing."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(
                f"give it behind `{context.invoked_subcommand}`", param_hint=parameter.opts[0]
            )


def _reshape(command: Any, function: Callable[..., None], chosen: list[Setting]) -> None:
    """Let typer see the function's own parameters, and after them the settings."""
    hints = get_type_hints(function, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]
    ]
    added = [
        _parameter("config", str | None, _CONFIG),
        *(_parameter(s.name, _annotation(s), _option(s)) for s in chosen),
    ]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *own, *added]
    command.__signature__ = inspect.Signature(parameters)
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    del command.__wrapped__


def _parameter(name: str, annotation: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=annotation
    )


def _annotation(setting: Setting) -> Any:
    if setting.name == "kafka":
        return list[str] | None
    return bool | None if setting.switch else str | None


def _option(setting: Setting) -> Any:
    # Typer would read the variable itself, and its mistakes would be of another kind.
    flags = (setting.flag, f"--no-{setting.flag[2:]}") if setting.switch else (setting.flag,)
    return typer.Option(
        None,
        *flags,
        metavar=setting.metavar,
        help=_described(setting.description, setting.variable, setting.default),
        show_default=False,
        allow_from_autoenv=False,
        rich_help_panel=setting.panel,
    )


def _variables(command: Any, prefix: str = PREFIX) -> Iterator[str]:
    """Of every command's own flags, as click makes them."""
    for parameter in command.params:
        if getattr(parameter, "allow_from_autoenv", False):
            yield prefix + parameter.name.upper()
        given = parameter.envvar or ()
        yield from (given,) if isinstance(given, str) else given
    for name, child in getattr(command, "commands", {}).items():
        yield from _variables(child, f"{prefix}{name.upper().replace('-', '_')}_")
