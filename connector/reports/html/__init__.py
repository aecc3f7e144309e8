"""Reports as one self-contained page each, which opens from disk and asks for nothing.

Pictures are SVG inside the page, in the page's own colours, so that they follow light and dark;
heat maps are tables, so that a screen reader can walk them.
"""

from .page import NEEDS, check, write

__all__ = ["NEEDS", "check", "write"]
