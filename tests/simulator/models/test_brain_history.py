"""What the brain takes for its own past."""

import pytest

from simulator.models.brain.acts import Act, Verb
from simulator.models.brain.history import read_history
from simulator.models.brain.thoughts import Call, Message


def _messages(result: str) -> list[Message]:
    """Return a goal, one tap, and what the tool answered."""
    act = Act(verb=Verb.TAP, label="Settings", why="It may be there.")
    call = Call(name="tap", arguments={"x": 1, "y": 2}, call_id="c1")
    return [
        Message(role="user", text="Goal: turn on airplane mode"),
        Message(role="assistant", text=act.sentence(), calls=(call,)),
        Message(role="tool", text=result, call_id="c1"),
    ]


@pytest.mark.parametrize(
    ("result", "tries"),
    [
        ('{"ok": true}', 1),
        ('{"ok": false, "error": "the act may or may not have happened"}', 1),
        ('{"ok": false, "error": "look at the screen first; nothing was sent"}', 0),
    ],
)
def test_an_act_that_never_reached_the_phone_is_no_try(result: str, tries: int) -> None:
    """It gave up with "I could not find it" after the only way in had not been sent."""
    history = read_history(_messages(result))
    assert [step.act.label for step in history.steps] == ["Settings"] * tries
    assert history.goal == "turn on airplane mode"


def test_what_was_tried_before_an_interruption_was_not_tried() -> None:
    """A person took over meanwhile: it once avoided the way it had just begun to go."""
    notice = "[NOTICE]: Interrupt [take_over]. The person took the phone over here."
    messages = [*_messages('{"ok": true}'), Message(role="user", text=notice)]
    assert read_history(messages).steps == []
