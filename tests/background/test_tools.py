"""The tools of the phone's model: what is valid, and what it does on the phone."""

import asyncio
import json
from typing import Any

import pytest

from custom_components.aiden_duplex.background import tools
from custom_components.aiden_duplex.models.tools import ToolArgumentError, ToolCall
from custom_components.aiden_duplex.phone.types import Key
from tests import virtual_time

from .fakes import Did, FakePhone, call


def _do(name: str, **arguments: Any) -> tuple[str, list[Did], float]:
    """Return what the model is told, what the phone did, and how long it took."""

    async def scenario() -> tuple[str, list[Did], float]:
        phone = FakePhone()
        lease = phone.acquire("t")
        await phone.observe(lease)
        started = asyncio.get_running_loop().time()
        command = tools.parse(call(name, **arguments))
        told = await tools.perform(command, phone=phone, lease=lease)
        return told, phone.did, asyncio.get_running_loop().time() - started

    return virtual_time.run(scenario())


@pytest.mark.parametrize(
    ("name", "arguments", "did"),
    [
        ("tap", {"x": 10, "y": 990}, Did("tap", (10, 990))),
        ("tap", {"x": "10", "y": "990.0"}, Did("tap", (10, 990))),
        ("tap", {"x": 0, "y": 1}, Did("tap", (0, 1))),
        ("long_press", {"x": 1, "y": 2}, Did("long_press", (1, 2, 600))),
        (
            "long_press",
            {"x": 1, "y": 2, "hold_ms": 900},
            Did("long_press", (1, 2, 900)),
        ),
        (
            "swipe",
            {"x1": 1, "y1": 2, "x2": 3, "y2": 4},
            Did("swipe", (1, 2, 3, 4, 400)),
        ),
        ("type_text", {"text": "a b"}, Did("type_text", ("a b",))),
        ("type_text", {"text": " "}, Did("type_text", (" ",))),
        ("type_text", {"text": "hi", "submit": True}, Did("type_text", ("hi\n",))),
        ("press_key", {"key": "back"}, Did("press_key", (Key.BACK,))),
    ],
)
def test_acts(name: str, arguments: dict[str, Any], did: Did) -> None:
    """One call is one act, with the defaults that the descriptions name."""
    assert _do(name, **arguments)[1] == [did]


@pytest.mark.parametrize("arguments", [{"seconds": 7}, {"seconds": "7"}])
def test_waiting_sends_nothing(arguments: dict[str, Any]) -> None:
    """Waiting takes its time and touches nothing."""
    assert _do("wait", **arguments)[1:] == ([], 7)
    assert _do("screenshot")[1:] == ([], 0)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("tap", '{"x": 540, "y": 1200}', "not pixels"),
        ("tap", '{"x": -1, "y": 5}', "between 0 and 1000"),
        ("tap", '{"x": 0.5, "y": 0.25}', "look like fractions"),
        ("tap", '{"x": [500, 300], "y": 5}', "must be of type number"),
        ("tap", '{"point": [500, 300]}', "the parameters are: x, y"),
        ("tap", '{"x": NaN, "y": 5}', "between 0 and 1000"),
        ("tap", '{"x": true, "y": 5}', "must be of type number"),
        ("tap", '{"x": 1, "y": ', "not valid JSON"),
        ("tap", "", "x is missing"),
        ("tap", "[" * 100_000, "tap"),
        ("swipe", '{"x1": 1, "y1": 2, "x2": 3, "y2": 4000}', "not pixels"),
        ("wait", '{"seconds": 60}', "between 0 and 10"),
        ("press_key", '{"key": "any"}', "must be one of home, back"),
        ("type_text", '{"text": ""}', "one line and not empty"),
        ("type_text", '{"text": "a\\nb"}', "set submit"),
        ("finish", '{"outcome": "success", "result": "x"}', "must be one of achieved"),
        ("finish", '{"outcome": "achieved", "result": " "}', "result must not be empty"),
        ("request_user_action", '{"reason": "held", "details": "d", "suggested_action": "s"}', "must be one of"),
        ("open_app", "{}", "The tools are: tap, swipe"),
        ("x" * 500, "{}", "There is no tool"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_says_what_can(
    name: str, arguments: str, words: str
) -> None:
    """Pixels, fractions, arrays, broken JSON: refused with the right form, never guessed."""
    with pytest.raises(ToolArgumentError) as caught:
        tools.parse(ToolCall(call_id="c", name=name, arguments=arguments))
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500


def test_catalogue_is_what_every_server_takes() -> None:
    """Valid names, closed schemas, every parameter described or listed."""
    for spec in tools.CATALOGUE:
        assert spec.name.isidentifier()
        assert spec.name in tools.STEPS
        assert spec.parameters["additionalProperties"] is False
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
        for schema in spec.parameters["properties"].values():
            assert "description" in schema or "enum" in schema or "minimum" in schema
        json.dumps(spec.parameters)
