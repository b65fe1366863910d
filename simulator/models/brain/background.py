"""The brain behind Chat Completions: it looks at a phone and works it."""

from collections.abc import Awaitable, Callable

from .acts import Act, Verb
from .colours import answer_by_choice
from .decisions import decide
from .goals import parse_goal
from .history import History, read_history, said_done
from .screen import Screen
from .situation import Situation
from .thoughts import Question, Reply
from .tools import call_for

type Look = Callable[[bytes], Awaitable[Screen]]


class BackgroundBrain:
    """Decides on every picture anew; all it remembers is in the messages."""

    def __init__(self, look: Look) -> None:
        """Take the eyes."""
        self._look = look

    async def reply(self, question: Question) -> Reply:
        """Return the next call with one sentence about it.

        Raises:
            BrainError: The picture cannot be read.

        """
        history = read_history(question.messages)
        tools = question.usable
        if not history.goal:
            return Reply(text="What should I do on the phone?")
        if history.picture is None:
            act = Act(verb=Verb.LOOK, why="I need to see the screen.")
            call = call_for(act, tools)
            if call is None:
                return Reply(text="I need a picture of the screen to go on.")
            return Reply(text=act.sentence(), calls=(call,))
        if call := answer_by_choice(history.picture, tools):
            return Reply(text="That is what I see.", calls=(call,))
        screen = await self._look(history.picture)
        act, done = _decided(Situation(screen=screen, history=history))
        text = "\n".join((*done, act.sentence()))
        call = call_for(act, tools)
        if call is None:
            return Reply(text=text)
        return Reply(text=text, calls=(call,))


def _decided(now: Situation) -> tuple[Act, list[str]]:
    """Return the next act; a wish that is done gives way to the next one."""
    done: list[str] = []
    history = now.history
    act = decide(now)
    while act.verb is Verb.FINISH and act.outcome == "achieved" and history.remaining:
        done.append(said_done(f"{act.why} {act.label}".strip()))
        history = _next(history, done[-1])
        act = decide(Situation(screen=now.screen, history=history))
    if act.verb is Verb.FINISH and history.done:
        act = _with_all(act, history.done)
    return act, done


def _next(history: History, line: str) -> History:
    wishes = parse_goal(history.goal)
    index = len(wishes) - history.remaining
    return History(
        goal=history.goal,
        wish=wishes[index],
        remaining=history.remaining - 1,
        done=[*history.done, line.partition(": ")[2]],
        picture=history.picture,
        total_acts=history.total_acts,
    )


def _with_all(act: Act, done: list[str]) -> Act:
    return Act(
        verb=act.verb,
        screen=act.screen,
        label=" ".join((*done, act.label)),
        outcome=act.outcome,
        why=" ".join((*done, act.why)),
    )
