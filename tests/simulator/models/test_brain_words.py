"""Names, goals and what a person means."""

import pytest

from simulator.models.brain.goals import WishKind, parse_goal, parse_time
from simulator.models.brain.intents import Intent, goal_of, read_intent, same_goal
from simulator.models.brain.screen import Box, Line, group_lines
from simulator.models.brain.thesaurus import likeness, relation
from simulator.models.brain.words import alike, normalise


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ("airplane mode", "Flight mode"),
        ("flight mode", "Aeroplane mode"),
        ("wifi", "WLAN"),
        ("Wi-Fi", "Wireless network"),
        ("dark mode", "Night theme"),
        ("do not disturb", "Silent mode"),
        ("rotate screen", "Auto-rotate"),
        ("the alarm app", "Clock"),
        ("preferences", "System settings"),
        ("garden lights", "Garden lights"),
        ("airplane mode", "Airplanc mode"),
        ("clock", "Cloc k"),
    ],
)
def test_names_for_the_same_thing(wanted: str, seen: str) -> None:
    """Names for the same thing."""
    assert likeness(wanted, seen) >= 0.75


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ("wifi", "Wireless & networks"),
        ("airplane mode", "Hotspot"),
        ("rotate screen", "Screen"),
        ("battery saver", "Battery"),
        ("garden lights", "Lights"),
        ("07:40", "07:30"),
        ("notes", "Notifications"),
        ("mobile data", "Data usage"),
    ],
)
def test_names_for_different_things(wanted: str, seen: str) -> None:
    """Names for different things."""
    assert likeness(wanted, seen) < 0.75


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("airplane mode", "Network & internet"),
        ("airplane mode", "Connections"),
        ("airplane mode", "Preferences"),
        ("dark mode", "Display"),
        ("do not disturb", "Sounds & vibration"),
        ("battery saver", "Battery & power"),
        ("smart plug", "Smart plug and lamps"),
    ],
)
def test_where_things_belong(wanted: str, place: str) -> None:
    """Where things belong."""
    assert relation(wanted, place) >= 0.45


@pytest.mark.parametrize("place", ["Photos", "Display", "Weather", "About phone"])
def test_where_things_do_not_belong(place: str) -> None:
    """Where things do not belong."""
    assert relation("airplane mode", place) < 0.45


def test_misread_words_are_alike_and_numbers_never() -> None:
    """Misread words are alike and numbers never."""
    assert alike("aeroplane", "aeropiane")
    assert alike("setting", "settings")
    assert not alike("07:30", "07:40")
    assert not alike("on", "off")
    assert normalise("Wi-Fi & Réseau") == "wifi and reseau"


NOUNS = [
    "airplane mode",
    "Wi-Fi",
    "the garden lights",
    "bluetooth",
    "dark theme",
    "Turbo Boost",
]


@pytest.mark.parametrize("noun", NOUNS)
@pytest.mark.parametrize(
    ("pattern", "on"),
    [
        ("turn on {}", True),
        ("Turn {} off", False),
        ("please switch {} on", True),
        ("Could you disable {} on my phone?", False),
        ("enable {}.", True),
        ("make sure that {} is off", False),
        ("toggle {}", None),
    ],
)
def test_switching_anything(noun: str, pattern: str, on: bool | None) -> None:
    """Switching anything."""
    [wish] = parse_goal(pattern.format(noun))
    assert (wish.kind, wish.on) == (WishKind.SWITCH, on)
    assert wish.target.lower() == noun.lower().removeprefix("the ")


@pytest.mark.parametrize(
    ("goal", "kind", "values"),
    [
        ("Open the Weather app", WishKind.OPEN, {"target": "Weather"}),
        ("check whether bluetooth is on", WishKind.READ, {"target": "bluetooth"}),
        (
            "put the phone in flight mode",
            WishKind.SWITCH,
            {"target": "flight mode", "on": True},
        ),
        (
            "Send a message to Anna saying I'll be late",
            WishKind.MESSAGE,
            {"person": "Anna", "text": "I'll be late"},
        ),
        (
            "text Ben that dinner is ready",
            WishKind.MESSAGE,
            {"person": "Ben", "text": "dinner is ready"},
        ),
        (
            "tell Clara: see you",
            WishKind.MESSAGE,
            {"person": "Clara", "text": "see you"},
        ),
        ("write a note saying milk and eggs", WishKind.NOTE, {"text": "milk and eggs"}),
        ("set an alarm for 7:30", WishKind.ALARM, {"time": "07:30"}),
        ("wake me up at 6 am", WishKind.ALARM, {"time": "06:00"}),
        ("turn off the 6:30 alarm", WishKind.SWITCH, {"target": "06:30", "on": False}),
        ("the storage page", WishKind.FIND, {"target": "storage"}),
    ],
)
def test_other_wishes(goal: str, kind: WishKind, values: dict[str, object]) -> None:
    """Other wishes."""
    [wish] = parse_goal(goal)
    assert wish.kind is kind
    assert {name: getattr(wish, name) for name in values} == values


def test_several_wishes_in_one_goal() -> None:
    """Several wishes in one goal."""
    wishes = parse_goal(
        "Turn on airplane mode, and then open Notes and check if wifi is off"
    )
    assert [(w.kind, w.target) for w in wishes] == [
        (WishKind.SWITCH, "airplane mode"),
        (WishKind.OPEN, "Notes"),
        (WishKind.READ, "wifi"),
    ]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("at 7:30", "07:30"),
        ("at 7.30 pm", "19:30"),
        ("12 am", "00:00"),
        ("at seven", "07:00"),
        ("half past six", "06:30"),
        ("at 25:00", None),
        ("whenever", None),
    ],
)
def test_times_of_day(text: str, time: str | None) -> None:
    """Times of day."""
    assert parse_time(text) == time


@pytest.mark.parametrize(
    ("said", "intent"),
    [
        ("turn on airplane mode", Intent.COMMAND),
        ("Hi! Could you please open the camera?", Intent.COMMAND),
        ("is wifi on?", Intent.COMMAND),
        ("what are you doing?", Intent.STATUS),
        ("is it done?", Intent.STATUS),
        ("stop", Intent.CANCEL),
        ("never mind", Intent.CANCEL),
        ("cancel the alarm", Intent.CANCEL),
        ("stop the music", Intent.COMMAND),
        ("I did it", Intent.ANSWER),
        ("okay, I entered the PIN", Intent.ANSWER),
        ("what time is it in Tokyo?", Intent.TIME),
        ("goodbye", Intent.FAREWELL),
        ("that's all", Intent.FAREWELL),
        ("stop listening", Intent.FAREWELL),
        ("how do I say goodbye in French?", Intent.TALK),
        ("send goodbye to Anna", Intent.COMMAND),
        ("actually, open Notes instead", Intent.CHANGE),
        ("can you hear me?", Intent.TALK),
        ("tell me a joke", Intent.TALK),
        ("yes", Intent.TALK),
        ("", Intent.NOISE),
        (" . ", Intent.NOISE),
        ("Thank you for watching!", Intent.NOISE),
        ("(music)", Intent.NOISE),
        ("mm-hm", Intent.NOISE),
    ],
)
def test_what_a_person_means(said: str, intent: Intent) -> None:
    """What a person means."""
    assert read_intent(said) is intent


@pytest.mark.parametrize(
    ("said", "intent"),
    [
        ("yes", Intent.ANSWER),
        ("no", Intent.ANSWER),
        ("the first one", Intent.ANSWER),
        ("mm-hm", Intent.NOISE),
        ("stop", Intent.CANCEL),
    ],
)
def test_what_a_person_means_after_a_question(said: str, intent: Intent) -> None:
    """What a person means after a question."""
    assert read_intent(said, question_open=True) is intent


def test_the_goal_keeps_the_persons_words() -> None:
    """The goal keeps the person's words."""
    said = "Hello. Could you please send a message to Anna saying I'm late, sorry?"
    assert goal_of(said) == "Send a message to Anna saying I'm late, sorry"
    assert goal_of("How are you?") == ""


def test_same_goals_in_other_words() -> None:
    """Same goals in other words."""
    assert same_goal("Turn on airplane mode", "please enable flight mode")
    assert same_goal("find the blue door", "Find the blue door")
    assert not same_goal("Turn on airplane mode", "Turn off airplane mode")
    assert not same_goal("set an alarm for 7:30", "set an alarm for 7:40")
    assert not same_goal("tell Anna hi", "tell Ben hi")


def test_an_icon_beside_a_name_is_not_a_word_of_it() -> None:
    """An icon beside a name is not a word of it."""
    icon = Line(text="4", box=Box(left=57, top=141, right=105, bottom=178))
    words = [
        Line(text=text, box=Box(left=left, top=148, right=right, bottom=167))
        for text, left, right in (("Airplane", 160, 370), ("mode", 390, 549))
    ]
    lines = group_lines([icon, *words], 0.45)
    assert sorted(line.text for line in lines) == ["4", "Airplane mode"]
