"""Tool calls that a small model wrote as text."""

import json

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.aiden_duplex.models.chat import plain_calls
from tests.examples import examples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<tool_call>{"name":"tap","arguments":{"x":1,"y":2}}</tool_call>',
            [("tap", {"x": 1, "y": 2})],
        ),
        (
            '<tool_call>{"name":"tap","args":{"x":1,"y":2}}</tool_call>',
            [("tap", {"x": 1, "y": 2})],
        ),
        (
            '<tool_call>\n{"name":"tap","parameters":{"x":1}}\n',
            [("tap", {"x": 1})],
        ),
        (
            'First <tool_call>{"name":"a","args":{}}{"name":"b","args":{"k":"}"}}</tool_call> done',
            [("a", {}), ("b", {"k": "}"})],
        ),
        (
            '<TOOL_CALL>{"function":{"name":"tap","arguments":{"x":3}}}</TOOL_CALL>',
            [("tap", {"x": 3})],
        ),
        (
            '<tool_calls>[{"name":"a","args":{"n":1}},{"tool":"b","args":{"n":2}}]</tool_calls>',
            [("a", {"n": 1}), ("b", {"n": 2})],
        ),
        (
            '<function_call>{"name":"tap","arguments":"{\\"x\\": 4}"}</function_call>',
            [("tap", {"x": 4})],
        ),
    ],
)
def test_wrapped_calls_are_found(
    text: str, expected: list[tuple[str, dict[str, object]]]
) -> None:
    """Known wrappers, both spellings of the arguments, an end tag that is missing."""
    found = plain_calls.find(text)
    assert [(call.name, json.loads(call.arguments)) for call in found.calls] == expected
    assert "tool_call" not in found.text.lower()


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "tap", "arguments": {"x": 5}}',
        '```json\n{"name": "tap", "arguments": {"x": 5}}\n```',
    ],
)
def test_bare_json_counts_only_for_an_offered_tool(text: str) -> None:
    """JSON that is the whole text is a call; the same JSON for no known tool is not."""
    (call,) = plain_calls.find(text, tool_names={"tap"}).calls
    assert (call.name, call.arguments) == ("tap", '{"x": 5}')
    assert plain_calls.find(text, tool_names={"swipe"}).calls == ()


@pytest.mark.parametrize(
    "text",
    [
        'I could call {"name": "tap", "arguments": {"x": 5}} next.',
        '<tool_call>{"name": "tap", "args": {"x": 1,</tool_call>',
        "<tool_call>tap(1, 2)</tool_call>",
        '<tool_call>{"args": {"x": 1}}</tool_call>',
        '<tool_call>[[["tap"]]]</tool_call>',
        '<tool_call>{"name": 5, "args": {}}</tool_call>',
        '[{"name": "tap"}, 3] and more',
        "",
    ],
)
def test_what_is_no_call_stays_text(text: str) -> None:
    """Nothing is guessed from broken JSON, prose around JSON, or a missing name."""
    found = plain_calls.find(text, tool_names={"tap"})
    assert found.calls == ()
    assert found.text == text.strip()


def test_arguments_that_are_broken_are_never_none() -> None:
    """A text in the place of the arguments is kept, so that its validation fails."""
    (call,) = plain_calls.find(
        '<tool_call>{"name": "cancel", "args": "{\\"id\\": 1"}</tool_call>'
    ).calls
    assert call.arguments == '{"id": 1'


@pytest.mark.parametrize(
    ("text", "visible", "thinking"),
    [
        ("<think>hmm</think>Tap it.", "Tap it.", "hmm"),
        ("<think>one</think>a<think>two</think>b", "ab", "one\ntwo"),
        ("<THINKING>x</THINKING> y", "y", "x"),
        ("<think>never closed", "", "never closed"),
        ("opened by the template</think>answer", "answer", "opened by the template"),
        ("no thinking", "no thinking", ""),
    ],
)
def test_thinking_is_taken_out(text: str, visible: str, thinking: str) -> None:
    """The thinking is no part of what was said."""
    split = plain_calls.split_thinking(text)
    assert (split.text, split.thinking) == (visible, thinking)


def test_call_at_the_end_of_unclosed_thinking_counts() -> None:
    """A model that forgot to close its thinking still meant its last call."""
    thinking = 'I should not <tool_call>{"name":"a"}</tool_call> but <tool_call>{"name":"b"}</tool_call>'
    assert [call.name for call in plain_calls.find("", thinking=thinking).calls] == [
        "b"
    ]


def test_call_quoted_in_thinking_does_not_count() -> None:
    """A call inside the thinking is no call when something else was said, or follows."""
    thinking = 'maybe <tool_call>{"name":"pay"}</tool_call>'
    assert plain_calls.find("I will look first.", thinking=thinking).calls == ()
    assert plain_calls.find("", thinking=thinking + " no, wait").calls == ()


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_deep_nesting_is_no_call(opening: str) -> None:
    """JSON nested past the parser's limit ends in text, not in an exception."""
    text = f"<tool_call>{opening * 200_000}</tool_call>"
    assert plain_calls.find(text).calls == ()


_PIECES = st.lists(
    st.sampled_from(
        [
            *'<>/{}[]":,\\ ',
            *("name", "args", "tap", "<think>", "</think>", "```"),
            *("<tool_call>", "</tool_call>", '{"name":"tap","args":{"x":1}}'),
        ]
    ),
    max_size=40,
).map("".join)


@given(_PIECES | st.text(max_size=80))
@settings(max_examples=examples(300), deadline=None)
def test_any_text_is_parsed_without_an_exception(text: str) -> None:
    """Whatever a model writes: calls have names, texts arguments, and no thinking is left."""
    split = plain_calls.split_thinking(text)
    found = plain_calls.find(split.text, thinking=split.thinking, tool_names={"tap"})
    assert len(found.text) <= len(text)
    for call in found.calls:
        assert call.name
        assert isinstance(call.arguments, str)


@given(
    name=st.text(alphabet="abc_", min_size=1, max_size=8),
    arguments=st.dictionaries(
        st.text(max_size=6),
        st.integers() | st.text(max_size=10) | st.booleans() | st.none(),
        max_size=4,
    ),
    key=st.sampled_from(["arguments", "args", "parameters"]),
    before=st.text(alphabet="abc .\n", max_size=10),
)
@settings(max_examples=examples(150), deadline=None)
def test_wrapped_call_survives_whatever_it_holds(
    name: str, arguments: dict[str, object], key: str, before: str
) -> None:
    """Name and arguments come back as written, braces and quotes in them included."""
    text = (
        f"{before}<tool_call>{json.dumps({'name': name, key: arguments})}</tool_call>"
    )
    (call,) = plain_calls.find(text).calls
    assert (call.name, json.loads(call.arguments)) == (name, arguments)
