"""The runs of a project that have ended, and the parts of those that have not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from connector.domain.rows import Changes, PartRow, RunRow

if TYPE_CHECKING:
    from .storage import Storage


class Staging:
    """What a project knows of its runs, as far as it is in memory, and what is to be saved of it.

    Args:
        project_id: whose.
        stored: whether a storage may have more.
    """

    def __init__(self, project_id: int, stored: bool) -> None:
        self._project_id = project_id
        self._stored = stored
        self._new_parts: list[PartRow] = []
        self._new_runs: dict[str, RunRow] = {}
        self._dropped: list[tuple[int, str, int]] = []
        self.forget()

    def forget(self) -> None:
        """Drop what is in memory (only when nothing of it is unsaved)."""
        self._runs: dict[str, RunRow] = {}
        self._waiting: dict[str, dict[int, int]] | None = None

    @property
    def changed(self) -> bool:
        """Whether there is anything to save."""
        return bool(self._new_parts or self._new_runs or self._dropped)

    def collect(self, changes: Changes) -> None:
        """Hand over what is to be saved."""
        changes.new_parts += self._new_parts
        changes.runs += self._new_runs.values()
        changes.dropped += self._dropped
        self._new_parts, self._new_runs, self._dropped = [], {}, []
        self._stored = True

    def ended(self, storage: Storage, run: str) -> RunRow | None:
        """The run if its end has come, whatever became of it."""
        found = self._runs.get(run)
        if found is None and self._stored:
            found = storage.run(self._project_id, run)
        return found

    def waiting(self, storage: Storage) -> dict[str, dict[int, int]]:
        """Of each run whose end has not come, its parts and when they came."""
        if self._waiting is None:
            self._waiting = {}
            for head in storage.waiting_parts(self._project_id) if self._stored else ():
                self._waiting.setdefault(head.run, {})[head.part] = head.at
        return self._waiting

    def keep(self, storage: Storage, part: PartRow) -> bool:
        """Keep a part until the run's end; False if one of that number is there."""
        there = self.waiting(storage).setdefault(part.run, {})
        if part.part in there:
            return False
        there[part.part] = part.at
        self._new_parts.append(part)
        return True

    def drop(self, run: str, until: int) -> None:
        """A run's parts that came until then are no longer needed."""
        self._new_parts = [p for p in self._new_parts if p.run != run or p.at > until]
        self._dropped.append((self._project_id, run, until))

    def expire(self, storage: Storage, until: int) -> None:
        """Drop the parts that came until then and whose end has not."""
        waiting = self.waiting(storage)
        for run, parts in list(waiting.items()):
            if min(parts.values()) <= until:
                self.drop(run, until)
                waiting[run] = {number: at for number, at in parts.items() if at > until}
                if not waiting[run]:
                    del waiting[run]

    def note(self, storage: Storage, row: RunRow) -> None:
        """The run's end has come, or something was decided about it."""
        self.waiting(storage).pop(row.run, None)
        self._runs[row.run] = self._new_runs[row.run] = row
