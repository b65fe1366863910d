"""Rules of the endings on their way to a person."""

from typing import Literal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from custom_components.aiden_duplex.tasks.model import Heard, Task
from tests.tasks.house import House

from .acts import of_all, of_task
from .base import NUMBERS, Machine, has_tasks
from .reference import Model

SESSIONS = st.sampled_from(["s1", "s2"])
SOME = st.sets(NUMBERS, max_size=4)

has_untold = precondition(
    lambda machine: any(
        task.ended and task.outstanding for task in machine.model.tasks.values()
    )
)
has_unheard = precondition(lambda machine: machine.model.unheard())


class Telling(Machine):
    """Sessions claim, tell, acknowledge, hear, or end in the middle."""

    @has_untold
    @rule(session=SESSIONS, begins=st.booleans())
    def claim(self, session: str, begins: bool) -> None:
        """Claim; a session that is free begins to tell at once."""

        async def start(house: House) -> object:
            claimed = _ids(house.manager.claim(session))
            if not begins:
                return claimed
            return _ids(house.manager.begin(session, claimed))

        def expect(model: Model) -> object:
            claimed = model.claim(session)
            return model.begin(session, claimed) if begins else claimed

        self.do("claim and tell" if begins else "claim", start, of_all(expect))

    @has_untold
    @rule(session=SESSIONS, numbers=SOME)
    def begin_to_tell(self, session: str, numbers: set[int]) -> None:
        """Begin."""
        wanted = self.some_tasks(numbers)

        async def start(house: House) -> object:
            return _ids(house.manager.begin(session, wanted))

        self.do("begin", start, of_all(lambda model: model.begin(session, wanted)))

    @has_untold
    @rule(numbers=st.none() | SOME)
    def acknowledge(self, numbers: set[int] | None) -> None:
        """Acknowledge; None for all that is being told."""
        wanted = self.some_tasks(range(12) if numbers is None else numbers)

        async def start(house: House) -> None:
            await house.manager.acknowledge(wanted)

        self.do("acknowledge", start, of_all(lambda model: model.acknowledge(wanted)))

    @has_unheard
    @rule(numbers=SOME, how=st.sampled_from(["hear", "tell again"]))
    def hear(self, numbers: set[int], how: Literal["hear", "tell again"]) -> None:
        """Somebody hears endings, or they are told once more; nobody waits for the disk."""
        wanted = self.some_tasks(numbers)

        async def start(house: House) -> None:
            if how == "hear":
                house.manager.hear(wanted, Heard.SHOWN)
            else:
                house.manager.retell(wanted)

        def expect(model: Model) -> None:
            if how == "hear":
                model.hear(wanted)
            else:
                model.retell(wanted)

        self.do(how, start, of_all(expect), promised=False)

    @has_untold
    @rule(session=SESSIONS)
    def release(self, session: str) -> None:
        """End a session."""

        async def start(house: House) -> None:
            house.manager.release(session)

        self.do(
            "release",
            start,
            of_all(lambda model: model.release(session)),
            promised=False,
        )

    @has_tasks
    @rule(number=NUMBERS)
    def read(self, number: int) -> None:
        """Read by a query."""
        task_id = self.any_task(number)

        async def start(house: House) -> None:
            await house.manager.mark_delivered(task_id)

        self.do("read", start, of_task(task_id, Model.read))

    @has_untold
    @rule()
    def open_a_session(self) -> None:
        """Note that a session was opened for all that has ended."""

        async def start(house: House) -> None:
            house.manager.activated(house.manager.terminal_sequence)

        def expect(model: Model) -> None:
            model.opened_session(model.endings)

        self.do("open a session", start, of_all(expect), promised=False)


def _ids(tasks: list[Task]) -> list[str]:
    return [task.id for task in tasks]
