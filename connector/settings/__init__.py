"""What the service can be told, and where it was told so.

`Settings` has every setting with its bounds and default; `load` fills it from flags, environment
variables and a file, and remembers the origin of each value.
"""

from .load import Loaded, load
from .model import FIELDS, PREFIX, Setting, Settings
from .origin import Origin

__all__ = ["FIELDS", "PREFIX", "Loaded", "Origin", "Setting", "Settings", "load"]
