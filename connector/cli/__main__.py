"""`python -m connector.cli`."""

from . import main

main()
