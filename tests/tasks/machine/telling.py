"""Rules of the endings on their way to a person."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from custom_components.aiden_duplex.tasks.model import Heard, Task
from tests.tasks.house import House

from .acts import of_all, of_task
from .base import NUMBERS, SESSIONS, Machine, has_tasks
from .reference import Model

SETS = st.sets(NUMBERS, max_size=4)


class Telling(Machine):
    """Sessions claim, tell, acknowledge, hear, or end in the middle."""

    @rule(session=SESSIONS)
    def claim(self, session: str) -> None:
        """Claim."""

        async def start(house: House) -> object:
            return _ids(house.manager.claim(session))

        self.do("claim", start, of_all(lambda model: model.claim(session)))

    @has_tasks
    @rule(session=SESSIONS, numbers=SETS)
    def begin_to_tell(self, session: str, numbers: set[int]) -> None:
        """Begin."""
        wanted = self.some_tasks(numbers)

        async def start(house: House) -> object:
            return _ids(house.manager.begin(session, wanted))

        self.do("begin", start, of_all(lambda model: model.begin(session, wanted)))

    @rule(session=SESSIONS)
    def tell_all(self, session: str) -> None:
        """Claim and begin at once, as a session does that is free."""

        async def start(house: House) -> object:
            claimed = _ids(house.manager.claim(session))
            return _ids(house.manager.begin(session, claimed))

        def expect(model: Model) -> object:
            return model.begin(session, model.claim(session))

        self.do("tell all", start, of_all(expect))

    @has_tasks
    @rule(numbers=SETS)
    def acknowledge(self, numbers: set[int]) -> None:
        """Acknowledge."""
        wanted = self.some_tasks(numbers)

        async def start(house: House) -> object:
            return await house.manager.acknowledge(wanted)

        self.do("acknowledge", start, of_all(lambda model: model.acknowledge(wanted)))

    @rule()
    def acknowledge_all(self) -> None:
        """Acknowledge all that is being told."""
        wanted = frozenset(self.model.tasks)

        async def start(house: House) -> object:
            return await house.manager.acknowledge(wanted)

        self.do(
            "acknowledge all", start, of_all(lambda model: model.acknowledge(wanted))
        )

    @has_tasks
    @rule(numbers=SETS)
    def hear(self, numbers: set[int]) -> None:
        """Somebody hears endings."""
        wanted = self.some_tasks(numbers)

        async def start(house: House) -> object:
            return house.manager.hear(wanted, Heard.SHOWN)

        self.do(
            "hear", start, of_all(lambda model: model.hear(wanted)), promised=False
        )

    @has_tasks
    @rule(numbers=SETS)
    def tell_again(self, numbers: set[int]) -> None:
        """Endings that nobody heard are told once more."""
        wanted = self.some_tasks(numbers)

        async def start(house: House) -> object:
            return house.manager.retell(wanted)

        self.do(
            "tell again",
            start,
            of_all(lambda model: model.retell(wanted)),
            promised=False,
        )

    @rule(session=SESSIONS)
    def release(self, session: str) -> None:
        """End a session."""

        async def start(house: House) -> object:
            return house.manager.release(session)

        self.do("release", start, of_all(lambda model: model.release(session)))

    @has_tasks
    @rule(number=NUMBERS)
    def read(self, number: int) -> None:
        """Read by a query."""
        task_id = self.any_task(number)

        async def start(house: House) -> object:
            return await house.manager.mark_delivered(task_id)

        self.do("read", start, of_task(task_id, Model.read))

    @rule()
    def open_a_session(self) -> None:
        """Note that a session was opened for all that has ended."""

        async def start(house: House) -> object:
            return house.manager.activated(house.manager.terminal_sequence)

        def expect(model: Model) -> object:
            return model.opened_session(model.endings)

        self.do("open a session", start, of_all(expect))


def _ids(tasks: list[Task]) -> list[str]:
    return [task.id for task in tasks]
