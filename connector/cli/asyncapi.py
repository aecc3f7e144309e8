"""`crowdresolve asyncapi`."""

from __future__ import annotations

import sys
from importlib.resources import files

from connector.settings import Loaded

from .options import command_with


@command_with()
def asyncapi(loaded: Loaded) -> None:
    """Print the AsyncAPI document: every topic and message, for tools that read such."""
    sys.stdout.write(files("connector").joinpath("asyncapi.yaml").read_text(encoding="utf-8"))
