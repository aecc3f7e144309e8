"""`python -m tests.docs`: bring the generated parts of README.md up to date."""

from __future__ import annotations

from .readme import README, renewed


def main() -> None:
    before = README.read_text(encoding="utf-8")
    after = renewed(before)
    README.write_text(after, encoding="utf-8")
    print("README.md is up to date" if before == after else "README.md was brought up to date")


if __name__ == "__main__":
    main()
