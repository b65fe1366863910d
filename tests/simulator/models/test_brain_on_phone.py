"""The background brain works the virtual phone by its pictures alone, with real reading.

The tools and the words around the pictures are the component's own; the finger goes
straight to the glass.
"""

from collections.abc import AsyncIterator, Callable
from io import BytesIO

import pytest

from custom_components.aiden_duplex.background import prompts
from custom_components.aiden_duplex.background.tools import CATALOGUE
from custom_components.aiden_duplex.models.tools import parse_arguments
from simulator.models.brain.background import BackgroundBrain
from simulator.models.brain.eyes import Eyes
from simulator.models.brain.thoughts import Call, Message, Question, Tool
from simulator.phone.draw.renderer import Renderer
from simulator.phone.keyboard import Command
from simulator.phone.persona import Toggle, make_persona
from simulator.phone.phone import VirtualPhone
from simulator.phone.state import PhoneState

SPECS = {spec.name: spec for spec in CATALOGUE}
TOOLS = {
    spec.name: Tool(
        name=spec.name, description=spec.description, parameters=spec.parameters
    )
    for spec in CATALOGUE
}
_KEYS = {"home": Command.HOME, "back": Command.BACK}
_RENDERER = Renderer()


class Operated:
    """A phone, a clock that the test moves, and the brain that works it."""

    def __init__(self, seed: int, eyes: Eyes) -> None:
        """Start on the home screen of the phone of a seed."""
        self._now = 1000.0
        self.phone = VirtualPhone(make_persona(seed), clock=lambda: self._now)
        self._brain = BackgroundBrain(eyes.look)
        self._messages = [Message(role="system", text=prompts.SYSTEM)]

    @property
    def state(self) -> PhoneState:
        """Return the truth."""
        return self.phone.state

    @property
    def effects(self) -> list[str]:
        """Return what the brain said of the calls that commit."""
        calls = [call for message in self._messages for call in message.calls]
        return [c.arguments["effect"] for c in calls if c.arguments.get("commits")]

    async def run(
        self,
        goal: str,
        *,
        answer: Callable[[VirtualPhone], str] | None = None,
        most: int = 20,
    ) -> Call:
        """Work until the brain finishes or asks something that nobody answers."""
        words = prompts.labelled("GOAL", goal)
        for number in range(most):
            call = await self._step(words, number)
            words = ""
            if call.name == "finish":
                return call
            if call.name == "request_user_action":
                if answer is None:
                    return call
                words = prompts.answer(answer(self.phone), question_known=True)
            self._act(call)
        raise AssertionError("no end")

    async def _step(self, words: str, number: int) -> Call:
        self._now += 2.0
        shown = prompts.labelled("SCREEN", "This is the phone now.")
        text = f"{words}\n\n{shown}".strip()
        self._messages.append(
            Message(role="user", text=text, images=(self._picture(),))
        )
        reply = await self._brain.reply(Question(messages=self._messages, tools=TOOLS))
        [call] = reply.calls
        arguments = parse_arguments(SPECS[call.name], call.as_json())
        past = Call(name=call.name, arguments=arguments, call_id=f"call_{number}")
        self._messages += [
            Message(role="assistant", text=reply.text, calls=(past,)),
            Message(role="tool", text=prompts.ok("Done."), call_id=past.call_id),
        ]
        return past

    def _picture(self) -> bytes:
        buffer = BytesIO()
        _RENDERER.render(self.phone.frame()).save(buffer, "JPEG", quality=80)
        return buffer.getvalue()

    def _act(self, call: Call) -> None:
        given = call.arguments
        match call.name:
            case "tap":
                self._drag([(given["x"], given["y"])])
            case "swipe":
                x, y, dy = given["x1"], given["y1"], given["y2"] - given["y1"]
                self._drag([(x, y + dy * part / 20) for part in range(21)])
            case "type_text":
                self.phone.write(given["text"])
            case "press_key":
                self.phone.command(_KEYS[given["key"]])

    def _drag(self, points: list[tuple[float, float]]) -> None:
        self.phone.finger_down(points[0][0] * 1.08, points[0][1] * 2.4)
        for x, y in points:
            self._now += 0.02
            self.phone.finger_move(x * 1.08, y * 2.4)
        self.phone.finger_up()


@pytest.fixture
async def eyes() -> AsyncIterator[Eyes]:
    """Return eyes that are closed again."""
    opened = Eyes()
    yield opened
    opened.close()


@pytest.mark.parametrize("seed", [1, 9])
async def test_turn_on_airplane_mode(eyes: Eyes, seed: int) -> None:
    """Turn on airplane mode."""
    operated = Operated(seed, eyes)
    end = await operated.run("turn on airplane mode")
    assert end.arguments["outcome"] == "achieved"
    assert operated.state.toggles[Toggle.AIRPLANE_MODE] is True
    name = operated.state.persona.toggle_names[Toggle.AIRPLANE_MODE]
    assert f"“{name}” shows “On”" in end.arguments["evidence"]


async def test_a_locked_phone_is_given_to_the_person_and_then_worked(
    eyes: Eyes,
) -> None:
    """A locked phone is given to the person and then worked."""
    operated = Operated(2, eyes)
    operated.phone.change(PhoneState.lock)

    def unlock(phone: VirtualPhone) -> str:
        phone.change(PhoneState.unlock)
        return "I unlocked it."

    end = await operated.run("turn off wifi", answer=unlock)
    assert end.arguments["outcome"] == "achieved"
    assert operated.state.toggles[Toggle.WIFI] is False


async def test_a_protected_app_is_given_to_the_person(eyes: Eyes) -> None:
    """A protected app is given to the person."""
    end = await Operated(3, eyes).run("open the bank app")
    assert (end.name, end.arguments["reason"]) == (
        "request_user_action",
        "black_screen",
    )


async def test_a_permission_is_the_persons_to_give(eyes: Eyes) -> None:
    """A permission is the person's to give."""
    end = await Operated(3, eyes).run("open the camera")
    assert (end.name, end.arguments["reason"]) == (
        "request_user_action",
        "sensitive_operation",
    )


async def test_a_message_is_written_and_sent(eyes: Eyes) -> None:
    """A message is written and sent."""
    operated = Operated(3, eyes)
    end = await operated.run(
        "send a message to Grace saying the soup is ready",
        answer=lambda _: "Yes, allow it.",
    )
    assert end.arguments["outcome"] == "achieved"
    assert operated.state.sent == [("Grace", "the soup is ready")]
    assert operated.effects == ["Send “the soup is ready” to Grace"]


async def test_an_alarm_is_set(eyes: Eyes) -> None:
    """An alarm is set."""
    operated = Operated(2, eyes)
    end = await operated.run("set an alarm for 7:45", answer=lambda _: "Yes, allow it.")
    assert end.arguments["outcome"] == "achieved"
    assert "07:45" in [alarm.time for alarm in operated.state.alarms if alarm.on]
    assert operated.effects == []
