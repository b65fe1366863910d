"""The chat server refuses what the real one refuses, and answers in its shape."""

import asyncio
import base64
from io import BytesIO
import json
from typing import Any

import aiohttp
import openai
from PIL import Image
import pytest

from simulator.models.brain.thoughts import Call, Question, Reply

from .support import BEARER, KEY, Client, serving

MODEL = "simulated-vision"
TAP = Reply(text="I tap it.", calls=(Call(name="tap", arguments={"x": 12, "y": 900}),))
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "tap",
        "description": "Touch the screen.",
        "parameters": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
            "required": ["x", "y"],
        },
    },
}


def picture(kind: str = "JPEG") -> str:
    """Return a small picture as a data URL."""
    buffer = BytesIO()
    Image.new("RGB", (48, 96), "teal").save(buffer, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def asked(call_id: str = "call_1") -> dict[str, Any]:
    """Return an assistant message that calls a tool."""
    function = {"name": "tap", "arguments": "{}"}
    return {
        "role": "assistant",
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


USER: Any = {"role": "user", "content": "turn it on"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "done"}


async def post(client: Client, **values: Any) -> tuple[int, Any]:
    """Post a completion and return the status and the body."""
    body = {"model": MODEL, "messages": [USER], **values}
    response = await client.post(
        "/v1/chat/completions",
        headers=BEARER,
        json={name: value for name, value in body.items() if value is not ...},
    )
    return response.status, await response.json()


def image_message(url: str, role: str = "user", **values: Any) -> dict[str, Any]:
    """Return a message with a picture."""
    return {
        "role": role,
        "content": [{"type": "image_url", "image_url": {"url": url}}],
        **values,
    }


REFUSED: list[tuple[dict[str, Any], str | None, str]] = [
    ({"model": ...}, None, "you must provide a model parameter"),
    ({"messages": ...}, "messages", "Missing required parameter: 'messages'."),
    ({"messages": []}, "messages", "empty array"),
    ({"num_ctx": 8192}, None, "Unrecognized request argument supplied: num_ctx"),
    ({"a": 1, "b": 2}, None, "Unrecognized request arguments supplied: a, b"),
    ({"messages": "hello"}, "messages", "expected an array, but got a string"),
    (
        {"messages": [{"role": "robot", "content": "x"}]},
        "messages[0].role",
        "Invalid value: 'robot'",
    ),
    (
        {"messages": [{"content": "x"}]},
        "messages[0].role",
        "Missing required parameter",
    ),
    ({"messages": [{**USER, "label": 1}]}, "messages[0].label", "Unknown parameter"),
    (
        {"messages": [{"role": "user", "content": None}]},
        None,
        "expected a string, got null",
    ),
    (
        {"messages": [USER, {"role": "assistant", "content": None}]},
        None,
        "expected a string, got null",
    ),
    (
        {"messages": [{"role": "user", "content": ""}]},
        "messages[0].content",
        "empty string",
    ),
    (
        {"messages": [{"role": "user", "content": []}]},
        "messages[0].content",
        "empty array",
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]},
        "messages[0].content[0].text",
        "empty string",
    ),
    (
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": "data:"}],
                }
            ]
        },
        "messages[0].content[0].image_url",
        "expected an object, but got a string",
    ),
    (
        {"messages": [image_message("https://example.invalid/a.png")]},
        "messages[0].content[0].image_url",
        "Failed to download image",
    ),
    (
        {"messages": [image_message("data:image/png;base64,###")]},
        "messages[0].content[0].image_url",
        "Invalid base64",
    ),
    (
        {"messages": [image_message("data:image/jpeg;base64,aGVsbG8=")]},
        "messages[0].content[0].image_url",
        "unsupported image",
    ),
    (
        {"messages": [image_message(picture()[:-400])]},
        "messages[0].content[0].image_url",
        "unsupported image",
    ),
    (
        {
            "messages": [
                USER,
                asked(),
                image_message(picture(), "tool", tool_call_id="call_1"),
            ]
        },
        "messages[2]",
        "Image URLs are only allowed for messages with role 'user', but this message with role 'tool'",
    ),
    (
        {"messages": [USER, RESULT]},
        "messages.[1].role",
        "must be a response to a preceeding message",
    ),
    (
        {"messages": [USER, asked(), USER]},
        "messages.[2].role",
        "did not have response messages: call_1",
    ),
    (
        {"messages": [USER, asked()]},
        "messages.[2].role",
        "did not have response messages: call_1",
    ),
    (
        {"messages": [USER, asked(), RESULT, RESULT]},
        "messages.[3].role",
        "preceeding message",
    ),
    (
        {
            "messages": [
                USER,
                {**asked(), "tool_calls": asked()["tool_calls"] * 2},
                RESULT,
            ]
        },
        "messages[1].tool_calls",
        "duplicate",
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": []}]},
        "messages[1].content",
        "empty string",
    ),
    (
        {
            "messages": [
                USER,
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "a",
                            "type": "function",
                            "function": {"name": "tap", "arguments": {}},
                        }
                    ],
                },
                RESULT,
            ]
        },
        "messages[1].tool_calls[0].function.arguments",
        "expected a string, but got an object",
    ),
    ({"tools": []}, "tools", "empty array"),
    ({"tools": [TOOL["function"]]}, "tools[0].type", "Missing required parameter"),
    (
        {"tools": [{"type": "function", "name": "x"}]},
        "tools[0].function",
        "Missing required parameter",
    ),
    (
        {"tools": [{"type": "function", "function": {"name": "3D Drucker an"}}]},
        "tools[0].function.name",
        "does not match pattern",
    ),
    ({"tools": [TOOL, TOOL]}, "tools[1].function.name", "more than once"),
    (
        {
            "tools": [
                {
                    "type": "function",
                    "function": {"name": "x", "parameters": {"type": "object"}},
                }
            ]
        },
        "tools[0].function.parameters",
        "Invalid schema for function 'x': In context=(), object schema missing properties.",
    ),
    (
        {
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "x",
                        "parameters": {
                            "type": "object",
                            "properties": {"a": {"type": "array"}},
                        },
                    },
                }
            ]
        },
        "tools[0].function.parameters",
        "In context=('properties', 'a'), array schema missing items.",
    ),
    (
        {
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "x",
                        "parameters": {
                            "type": "object",
                            "properties": {"a": {"type": "string", "enum": []}},
                        },
                    },
                }
            ]
        },
        "tools[0].function.parameters",
        "should be non-empty",
    ),
    (
        {
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "x",
                        "parameters": {
                            "type": "object",
                            "properties": {},
                            "required": ["a"],
                        },
                    },
                }
            ]
        },
        "tools[0].function.parameters",
        "which is not in 'properties'",
    ),
    ({"tool_choice": "auto"}, "tool_choice", "only allowed when 'tools' are specified"),
    (
        {"parallel_tool_calls": False},
        "parallel_tool_calls",
        "only allowed when 'tools' are specified",
    ),
    (
        {"tools": [TOOL], "tool_choice": "always"},
        "tool_choice",
        "Invalid value: 'always'",
    ),
    (
        {
            "tools": [TOOL],
            "tool_choice": {"type": "function", "function": {"name": "fly"}},
        },
        "tool_choice",
        "no function named 'fly'",
    ),
    ({"temperature": 3}, "temperature", "between 0 and 2"),
    ({"temperature": "hot"}, "temperature", "Invalid type"),
    ({"max_tokens": 0}, "max_tokens", "below minimum value"),
    ({"stream": "yes"}, "stream", "expected a boolean"),
    (
        {"stream_options": {"include_usage": True}},
        "stream_options",
        "only allowed when 'stream'",
    ),
]


@pytest.mark.parametrize(("values", "param", "message"), REFUSED)
async def test_a_wrong_request_is_400_and_never_reaches_the_model(
    values: dict[str, Any], param: str | None, message: str
) -> None:
    """A wrong request is 400 and never reaches the model."""
    async with serving() as (client, script):
        status, body = await post(client, **values)
    assert status == 400, body
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["param"] == param
    assert message in body["error"]["message"]
    assert script.asked == []


async def test_a_body_that_is_no_json_is_400() -> None:
    """A body that is no JSON is 400."""
    async with serving() as (client, _):
        response = await client.post("/v1/chat/completions", headers=BEARER, data="{")
        body = await response.json()
    assert response.status == 400
    assert "could not parse the JSON body" in body["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, None),
        ({"Authorization": "Basic abc"}, None),
        ({"Authorization": "Bearer sk-wrong-0123456789"}, "invalid_api_key"),
    ],
)
async def test_a_wrong_key_is_401_and_is_not_repeated(
    headers: dict[str, str], code: str | None
) -> None:
    """A wrong key is 401 and is not repeated."""
    async with serving() as (client, _):
        for path in ("/v1/chat/completions", "/v1/models"):
            method = "POST" if path.endswith("completions") else "GET"
            response = await client.request(method, path, headers=headers)
            text = await response.text()
            assert response.status == 401
            assert json.loads(text)["error"]["code"] == code
            assert "sk-wrong-0123456789" not in text


async def test_a_revoked_key_is_refused_by_both_servers_and_never_shown() -> None:
    """The new key is the only one, until that of the start is taken again."""
    new = {"Authorization": "Bearer sk-another"}

    async def statuses(client: Client) -> list[int]:
        return [
            (await client.get(path, headers=headers)).status
            for path in ("/v1/models", "/v1/realtime?model=gpt-realtime")
            for headers in (BEARER, new)
        ]

    async with serving() as (client, _):
        # An upgrade with the right key gets as far as being no WebSocket.
        assert await statuses(client) == [200, 401, 400, 401]
        order = await client.post("/control/models", json={"api_key": "sk-another"})
        assert "sk-another" not in await order.text()
        assert await statuses(client) == [401, 200, 401, 400]
        shown = await (await client.get("/control/models")).text()
        assert "sk-another" not in shown
        await client.post("/control/models", json={"api_key": ""})
        assert await statuses(client) == [200, 401, 400, 401]


async def test_a_model_that_cannot_see_refuses_pictures_only() -> None:
    """The refusal is the vendor's; a text is answered."""
    async with serving() as (client, _):
        await client.post("/control/models", json={"chat": {"mode": "no_pictures"}})
        status, body = await post(client, messages=[image_message(picture())])
        assert (status, body["error"]["code"]) == (400, None)
        assert "image_url is only supported" in body["error"]["message"]
        status, _ = await post(client)
        assert status == 200


async def test_an_unknown_model_is_404() -> None:
    """An unknown model is 404."""
    async with serving() as (client, _):
        status, body = await post(client, model="gpt-nothing")
    assert status == 404
    assert body["error"] == {
        "message": "The model `gpt-nothing` does not exist or you do not have access to it.",
        "type": "invalid_request_error",
        "param": None,
        "code": "model_not_found",
    }


def official(client: Client) -> openai.AsyncOpenAI:
    """Return the vendor's client for the server."""
    return openai.AsyncOpenAI(
        api_key=KEY, base_url=str(client.make_url("/v1")), max_retries=0
    )


async def test_the_official_client_takes_a_call_and_its_continuation() -> None:
    """The official client takes a call and its continuation."""
    async with (
        serving(TAP, Reply(text="It is on.")) as (client, script),
        official(client) as vendor,
    ):
        assert [m.id for m in (await vendor.models.list()).data] == [
            MODEL,
            "gpt-realtime",
        ]
        messages: list[Any] = [USER, image_message(picture())]
        first = await vendor.chat.completions.create(
            model=MODEL, messages=messages, tools=[TOOL]
        )
        message = first.choices[0].message
        assert message.tool_calls is not None
        call = message.tool_calls[0]
        messages += [
            message.model_dump(exclude_none=True, exclude={"annotations"}),
            {"role": "tool", "tool_call_id": call.id, "content": "tapped"},
            image_message(picture("PNG")),
        ]
        second = await vendor.chat.completions.create(
            model=MODEL, messages=messages, tools=[TOOL]
        )
    assert call.type == "function"
    assert (call.function.name, json.loads(call.function.arguments)) == (
        "tap",
        {"x": 12, "y": 900},
    )
    assert first.choices[0].finish_reason == "tool_calls"
    assert message.content == "I tap it."
    assert first.usage is not None
    assert first.usage.prompt_tokens > 700
    assert first.model_extra == {}
    assert second.choices[0].message.content == "It is on."
    assert second.choices[0].finish_reason == "stop"
    roles = [m.role for m in script.asked[1].messages]
    assert roles == ["user", "user", "assistant", "tool", "user"]
    assert script.asked[1].messages[2].calls[0].arguments == {"x": 12, "y": 900}
    assert script.asked[1].messages[4].images[0].startswith(b"\x89PNG")


async def test_the_official_client_streams_the_same_answer() -> None:
    """The official client streams the same answer."""
    async with serving(TAP) as (client, _), official(client) as vendor:
        stream = await vendor.chat.completions.create(
            model=MODEL,
            messages=[USER],
            tools=[TOOL],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    calls = [call for delta in deltas for call in delta.tool_calls or []]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == "I tap it."
    assert (calls[0].id or "").startswith("call_")
    assert calls[0].function is not None
    assert calls[0].function.name == "tap"
    arguments = "".join(c.function.arguments or "" for c in calls if c.function)
    assert json.loads(arguments) == {"x": 12, "y": 900}
    assert len(calls) > 2
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "tool_calls"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert all(chunk.model_extra == {} for chunk in chunks)


async def test_the_official_client_knows_every_error() -> None:
    """The official client knows every error."""
    async with serving(TAP) as (client, _), official(client) as vendor:
        for mode, error in (
            ("unauthorized", openai.AuthenticationError),
            ("forbidden", openai.PermissionDeniedError),
            ("model_not_found", openai.NotFoundError),
            ("rate_limited", openai.RateLimitError),
            ("quota", openai.RateLimitError),
            ("error500", openai.InternalServerError),
            ("error503", openai.InternalServerError),
            ("context_length", openai.BadRequestError),
            ("reset", openai.APIConnectionError),
        ):
            await client.post(
                "/control/models", json={"chat": {"mode": mode, "times": 1}}
            )
            with pytest.raises(error):
                await vendor.chat.completions.create(model=MODEL, messages=[USER])
        reply = await vendor.chat.completions.create(model=MODEL, messages=[USER])
    assert reply.choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("mode", "finish", "check"),
    [
        ("empty", "stop", lambda m: m["content"] is None and "tool_calls" not in m),
        ("refusal", "stop", lambda m: m["refusal"] and m["content"] is None),
        ("content_filter", "content_filter", lambda m: m["content"] is None),
        (
            "length",
            "length",
            lambda m: m["tool_calls"][0]["function"]["arguments"] == '{"x": 12,',
        ),
        (
            "object_arguments",
            "tool_calls",
            lambda m: m["tool_calls"][0]["function"]["arguments"]["y"] == 900,
        ),
        (
            "broken_arguments",
            "tool_calls",
            lambda m: m["tool_calls"][0]["function"]["arguments"].endswith('"y": '),
        ),
        ("no_call_id", "tool_calls", lambda m: "id" not in m["tool_calls"][0]),
        (
            "text_call",
            "stop",
            lambda m: m["content"].startswith('<tool_call>{"name": "tap"'),
        ),
    ],
)
async def test_answers_can_be_spoiled(mode: str, finish: str, check: Any) -> None:
    """Answers can be spoiled."""
    async with serving(TAP) as (client, _):
        await client.post("/control/models", json={"chat": {"mode": mode, "times": 1}})
        _, spoiled = await post(client, tools=[TOOL])
        _, sound = await post(client, tools=[TOOL])
    assert spoiled["choices"][0]["finish_reason"] == finish
    assert check(spoiled["choices"][0]["message"])
    assert sound["choices"][0]["finish_reason"] == "tool_calls"


async def test_after_lets_calls_pass_and_rate_limits_say_how_long() -> None:
    """After lets calls pass and rate limits say how long."""
    async with serving() as (client, _):
        order = {
            "chat": {"mode": "rate_limited", "after": 1, "times": 1, "retry_after_s": 7}
        }
        await client.post("/control/models", json=order)
        results = []
        for _ in range(3):
            response = await client.post(
                "/v1/chat/completions",
                headers=BEARER,
                json={"model": MODEL, "messages": [USER]},
            )
            results.append((response.status, response.headers.get("Retry-After")))
    assert results == [(200, None), (429, "7"), (200, None)]


async def test_a_web_page_instead_of_an_answer() -> None:
    """A web page instead of an answer."""
    async with serving() as (client, _):
        await client.post("/control/models", json={"chat": {"mode": "html"}})
        response = await client.post(
            "/v1/chat/completions",
            headers=BEARER,
            json={"model": MODEL, "messages": [USER]},
        )
        text = await response.text()
    assert (response.status, response.content_type) == (200, "text/html")
    assert text.startswith("<html>")


async def test_a_hanging_answer_ends_with_its_client_and_does_not_hold_the_server() -> (
    None
):
    """A hanging answer ends with its client and does not hold the server."""
    async with serving() as (client, script):
        await client.post("/control/models", json={"chat": {"mode": "hang"}})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await post(client)
        waiting = asyncio.create_task(post(client))
        await asyncio.sleep(0)
    with pytest.raises(aiohttp.ClientError):
        await waiting
    assert script.asked == []


async def test_the_record_holds_the_request_without_its_picture() -> None:
    """The record holds the request without its picture."""
    async with serving(recorded=2) as (client, _):
        for _ in range(3):
            await post(client, messages=[USER, image_message(picture())])
        shown = (await (await client.get("/control/models")).json())["chat"]["requests"]
    assert [entry["number"] for entry in shown] == [2, 3]
    assert shown[-1]["status"] == 200
    assert shown[-1]["body"]["messages"][0] == USER
    url = shown[-1]["body"]["messages"][1]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/jpeg;base64,<")
    assert len(url) < 100


@pytest.mark.parametrize(
    ("choice", "usable"),
    [
        ("auto", ["tap", "wait"]),
        ("required", ["tap", "wait"]),
        ("none", []),
        ({"type": "function", "function": {"name": "wait"}}, ["wait"]),
    ],
)
async def test_the_tool_choice_reaches_the_brain(
    choice: Any, usable: list[str]
) -> None:
    """The tool choice reaches the brain."""
    wait = {"type": "function", "function": {"name": "wait"}}
    async with serving(lambda q: Reply(text=" ".join(sorted(q.usable)) or "none")) as (
        client,
        script,
    ):
        await post(client, tools=[TOOL, wait], tool_choice=choice)
    question: Question = script.asked[0]
    assert sorted(question.usable) == usable
