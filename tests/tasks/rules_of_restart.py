"""Rules of the process: it stops, it crashes, it starts again."""

from datetime import timedelta

from hypothesis import strategies as st

from .counting import rule
from .house import House
from .machine import Machine


class RestartRules(Machine):
    """Stop or crash, and start again."""

    @rule(orderly=st.booleans(), hours=st.sampled_from([0, 0, 1]))
    def restart(self, orderly: bool, hours: int) -> None:
        """Stop or crash, and start again, perhaps much later."""
        self.collect_runs()
        stopped = self.wall if orderly else None
        journal = self.house.journal.crash()
        self.wait(self.house.close())
        if orderly:
            journal = self.house.journal.crash()
        away = self.house.away + timedelta(hours=hours)
        if not orderly:
            # What the dying house still published never happened.
            self.forget_unwritten(journal.records)
        self.house = self.wait(self.opened(House(journal=journal, away=away)))
        self.model.restart(self.wall, stopped)
        self.after()
