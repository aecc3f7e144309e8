"""Write connector/asyncapi.yaml anew: `python -m tests.contract`."""

from __future__ import annotations

from .document import PATH, text


def main() -> None:
    PATH.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
