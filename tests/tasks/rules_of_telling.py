"""Rules of telling: who claims, tells, hears and reads endings."""

from hypothesis import strategies as st

from custom_components.aiden_duplex.tasks.model import Heard

from .counting import rule
from .machine import NUMBERS, Machine, has_tasks, ids

SESSIONS = st.sampled_from(["s1", "s2"])


class TellingRules(Machine):
    """Claim, begin, acknowledge, hear, release."""

    @has_tasks
    @rule(session=SESSIONS)
    def claim(self, session: str) -> None:
        """Claim."""
        claimed = self.call(lambda: self.house.manager.claim(session))
        assert ids(claimed) == self.model.claim(session)

    @has_tasks
    @rule(session=SESSIONS, numbers=st.sets(NUMBERS, max_size=4))
    def begin(self, session: str, numbers: set[int]) -> None:
        """Begin."""
        wanted = {self.any_task(number) for number in numbers}
        begun = self.call(lambda: self.house.manager.begin(session, wanted))
        assert ids(begun) == self.model.begin(session, wanted)

    @has_tasks
    @rule(numbers=st.sets(NUMBERS, max_size=4))
    def acknowledge(self, numbers: set[int]) -> None:
        """Acknowledge."""
        wanted = {self.any_task(number) for number in numbers}
        self.wait(self.house.manager.acknowledge(wanted))
        self.model.acknowledge(wanted)
        self.after()

    @has_tasks
    @rule(numbers=st.sets(NUMBERS, max_size=4), again=st.booleans())
    def hear_or_tell_again(self, numbers: set[int], again: bool) -> None:
        """Somebody hears endings, or they are told once more."""
        wanted = {self.any_task(number) for number in numbers}
        manager = self.house.manager
        if again:
            self.call(lambda: manager.retell(wanted))
            self.model.retell(wanted)
        else:
            self.call(lambda: manager.hear(wanted, Heard.SHOWN))
            self.model.hear(wanted)

    @has_tasks
    @rule(session=SESSIONS)
    def release(self, session: str) -> None:
        """End a session."""
        self.call(lambda: self.house.manager.release(session))
        self.model.release(session)
        self.after()

    @has_tasks
    @rule(number=NUMBERS)
    def read(self, number: int) -> None:
        """Read by a query."""
        task_id = self.any_task(number)
        self.wait(self.house.manager.mark_delivered(task_id))
        self.model.read(task_id)
        self.after()
