"""What each screen of the virtual phone does when HID reports come."""

import pytest

from simulator.phone.glass import TouchSpace
from simulator.phone.keyboard import Command
from simulator.phone.persona import make_persona
from simulator.phone.phone import VirtualPhone
from simulator.phone.state import parse_time
from simulator.phone.truth import truth
from simulator.phone.widgets import MOTION_S, Motion

from .kit import AC_BACK, AC_HOME, BACKSPACE, ENTER, ESCAPE, META, RECENT_APPS, Hand


def test_a_tap_on_a_row_switches_it_and_the_row_says_so() -> None:
    """Name, summary and switch are one thing to touch."""
    hand = Hand()
    hand.open("settings")
    hand.scroll_to(hand.name("bluetooth"))
    before = hand.toggle("bluetooth")
    hand.tap_label(hand.name("bluetooth"))
    assert hand.toggle("bluetooth") is not before
    row = next(
        thing
        for thing in truth(hand.phone)["visible"]
        if thing["label"] == hand.name("bluetooth")
    )
    assert row["summary"] == ("Off" if before else "On")


@pytest.mark.parametrize("seed", range(1, 11))
def test_airplane_mode_can_be_reached_from_home(seed: int) -> None:
    """By names alone: home, settings, perhaps a page, scroll, tap."""
    hand = Hand(seed)
    facts = truth(hand.phone)
    assert not hand.toggle("airplane_mode")
    hand.open("settings")
    page = facts["pages"]["airplane_mode"]
    if page != "top":
        hand.scroll_to(facts["page_names"][page])
        hand.tap_label(facts["page_names"][page])
    hand.scroll_to(hand.name("airplane_mode"))
    hand.tap_label(hand.name("airplane_mode"))
    assert hand.toggle("airplane_mode")
    assert hand.phone.frame().status.airplane


def test_ten_seeds_are_different_phones() -> None:
    """Names, places, looks and font scales vary; the same seed is the same phone."""
    phones = [truth(Hand(seed).phone) for seed in range(1, 11)]
    assert {p["pages"]["airplane_mode"] for p in phones} == {"top", "network"}
    assert len({p["names"]["airplane_mode"] for p in phones}) == 3
    assert len({p["names"]["settings"] for p in phones}) >= 2
    assert {p["theme"] for p in phones} == {"light", "dark", "coloured"}
    assert len({p["font_scale"] for p in phones}) >= 3
    assert len({str(p["visible"]) for p in phones}) == 10
    assert truth(Hand(7).phone) == phones[6]


def test_the_settings_list_is_longer_than_the_screen() -> None:
    """Something has to be scrolled for."""
    for seed in range(1, 11):
        hand = Hand(seed)
        hand.open("settings")
        assert hand.phone.view().scene.max_offset > 300


def test_a_list_follows_the_finger_and_goes_on_after_it() -> None:
    """A fling slows down and rests within about a second; then nothing moves any more."""
    hand = Hand()
    hand.open("settings")
    hand.swipe((500, 800), (500, 600), seconds=0.12)
    lifted = hand.phone.view().offset
    assert lifted > 300
    assert hand.moves()
    hand.wait(0.2)
    assert hand.phone.view().offset > lifted
    hand.wait(1.5)
    assert not hand.moves()
    rest = hand.phone.view().offset
    hand.wait(1.0)
    assert hand.phone.view().offset == rest <= hand.phone.view().scene.max_offset


def test_a_tap_on_a_flying_list_stops_it_and_touches_nothing() -> None:
    """As on a real phone: the first touch only catches the list."""
    hand = Hand()
    hand.open("settings")
    hand.swipe((500, 800), (500, 650), seconds=0.1)
    toggles = dict(hand.phone.state.toggles)
    hand.touch(500, 500)
    hand.wait(0.06)
    hand.touch(500, 500, down=False)
    assert not hand.moves()
    assert hand.phone.state.toggles == toggles
    assert hand.screen == "settings"


def test_a_slow_drag_with_a_pause_does_not_fly_on() -> None:
    """Who stops before lifting wants the list to stay."""
    hand = Hand()
    hand.open("settings")
    hand.swipe((500, 800), (500, 700), seconds=0.5, pause=0.3)
    assert not hand.moves()


def test_a_touch_in_the_letterbox_is_ignored_until_it_is_lifted() -> None:
    """Also when it slides onto the screen."""
    hand = Hand()
    hand.open("settings")
    toggles, offset = dict(hand.phone.state.toggles), hand.phone.view().offset
    hand.touch_raw(4000, 0x4000)
    hand.wait(0.06)
    hand.touch_raw(0x4000, 0x4000)
    hand.touch_raw(0x4000, 0x2000)
    hand.touch_raw(0x4000, 0x2000, down=False)
    hand.wait(0.5)
    assert hand.screen == "settings"
    assert hand.phone.view().offset == offset
    assert hand.phone.state.toggles == toggles
    hand.tap_label(hand.labels()[1])
    assert (hand.screen, hand.phone.state.toggles) != ("settings", toggles)


def test_touch_coordinates_may_span_the_screen_alone() -> None:
    """Without an external display, Android maps the digitizer to its own panel."""
    hand = Hand(touch_space=TouchSpace.SCREEN)
    hand.open("settings")
    assert hand.screen == "settings"


def test_a_touch_while_the_screen_changes_is_lost() -> None:
    """Who does not wait for the screen to settle touches nothing."""
    hand = Hand()
    hand.tap_label(hand.name("settings"))
    hand.phone.report(2, b"\x23\x02")
    assert hand.moves()
    hand.touch(500, 500)
    hand.wait(0.6)
    hand.touch(500, 500, down=False)
    hand.wait(0.6)
    assert hand.screen == "home"


def test_a_screen_takes_time_to_come() -> None:
    """150 to 400 ms, with pictures in between that are neither the one nor the other."""
    hand = Hand()
    home = hand.phone.frame()
    thing = next(
        t for t in truth(hand.phone)["visible"] if t["label"] == hand.name("settings")
    )
    hand.touch(thing["x"], thing["y"])
    hand.touch(thing["x"], thing["y"], down=False)
    start, steps = hand.now, set()
    while (transition := hand.phone.frame().transition) is not None:
        assert transition.before == home.view
        steps.add(transition.progress)
        hand.now += 0.01
    assert 0.15 <= hand.now - start <= 0.42
    assert len(steps) > 5


def test_speed_shortens_what_moves_by_itself() -> None:
    """Not the finger's times: half a second stays a long press."""
    now = [0.0]
    phone = VirtualPhone(make_persona(1), clock=lambda: now[0], speed=4)
    phone.command(Command.RECENTS)
    assert phone.moving
    now[0] += MOTION_S[Motion.SHRINK] / 4
    assert phone.frame().transition is None


def test_writing_needs_a_field_that_was_touched() -> None:
    """Keys before that go nowhere."""
    hand = Hand()
    hand.open("notes")
    hand.tap_label(hand.word("new_note"))
    hand.type("lost")
    assert truth(hand.phone)["focused"] is None
    hand.tap_label("note_body")
    hand.type("Buy milk\nand Eggs")
    assert truth(hand.phone)["focused_text"] == "Buy milk\nand Eggs"
    hand.key(BACKSPACE)
    hand.tap_label(hand.word("save"))
    assert hand.screen == "notes"
    assert truth(hand.phone)["notes"][0] == "Buy milk\nand Egg"


def test_a_note_that_was_not_saved_is_lost_and_the_phone_says_so() -> None:
    """Back is not save."""
    hand = Hand()
    hand.open("notes")
    before = truth(hand.phone)["notes"]
    hand.tap_label(hand.word("new_note"))
    hand.tap_label("note_body")
    hand.type("gone")
    hand.key(ESCAPE)
    assert hand.phone.frame().toast == "Note not saved"
    hand.wait(0.6)
    assert hand.screen == "notes"
    assert truth(hand.phone)["notes"] == before


def test_a_held_key_repeats() -> None:
    """A key that is stuck shows."""
    hand = Hand()
    hand.open("notes")
    hand.tap_label(hand.word("new_note"))
    hand.tap_label("note_body")
    hand.key(0x04, hold=1.0)
    hand.wait(1.0)
    assert truth(hand.phone)["focused_text"] == "a" * 12


def test_select_all_and_type_replaces() -> None:
    """Control and A marks everything."""
    hand = Hand()
    hand.open("notes")
    hand.tap_label(truth(hand.phone)["notes"][0])
    hand.tap_label("note_body")
    hand.key(0x04, 0x01)
    hand.type("new")
    assert truth(hand.phone)["focused_text"] == "new"


def test_a_long_press_on_a_note_asks_before_it_deletes() -> None:
    """And what the question's cancel does."""
    hand = Hand()
    hand.open("notes")
    first, second = truth(hand.phone)["notes"]
    hand.tap_label(first, hold=0.7)
    assert hand.screen == "note_delete"
    hand.tap_label("Cancel")
    assert truth(hand.phone)["notes"] == [first, second]
    hand.tap_label(first, hold=0.7)
    hand.tap_label("Delete")
    assert truth(hand.phone)["notes"] == [second]


def test_a_message_is_written_and_sent() -> None:
    """To somebody new."""
    hand = Hand()
    hand.open("messages")
    hand.tap_label(hand.word("new_message"))
    hand.tap_label("compose_to")
    hand.type("Zoe")
    hand.key(ENTER)
    assert truth(hand.phone)["focused"] == "compose_text"
    hand.type("On my way")
    hand.tap_label(hand.word("send"))
    assert hand.screen == "thread"
    assert truth(hand.phone)["messages_sent"] == [{"to": "Zoe", "text": "On my way"}]
    assert "On my way" in hand.labels()


def test_enter_sends_a_reply_in_its_thread() -> None:
    """A stray line end can send: what agents have to know."""
    hand = Hand()
    hand.open("messages")
    contact = hand.phone.state.persona.threads[0][0]
    hand.tap_label(contact)
    hand.tap_label("reply")
    hand.type("yes\n")
    assert truth(hand.phone)["messages_sent"] == [{"to": contact, "text": "yes"}]
    hand.key(ENTER)
    assert len(truth(hand.phone)["messages_sent"]) == 1


def test_an_alarm_is_added_and_switched() -> None:
    """Times are typed."""
    hand = Hand()
    hand.open("alarms")
    hand.tap_label(hand.word("add_alarm"))
    hand.tap_label("alarm_time")
    hand.type("99\n")
    assert hand.phone.frame().toast == "Not a time of day"
    hand.key(BACKSPACE)
    hand.key(BACKSPACE)
    hand.type("0930")
    hand.tap_label(hand.word("save"))
    assert {"time": "09:30", "on": True} in truth(hand.phone)["alarms"]
    hand.tap_label("09:30")
    assert {"time": "09:30", "on": False} in truth(hand.phone)["alarms"]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("7:30", "07:30"),
        ("730", "07:30"),
        ("1930", "19:30"),
        ("7", "07:00"),
        ("7.05", "07:05"),
        ("24:00", None),
        ("7:60", None),
        ("", None),
        ("noon", None),
        ("-1:30", None),
    ],
)
def test_times_of_day(text: str, time: str | None) -> None:
    """What is taken as a time."""
    assert parse_time(text) == time


@pytest.mark.parametrize(("word", "given"), [("allow", True), ("deny", False)])
def test_an_app_asks_once(word: str, given: bool) -> None:
    """At its first opening only."""
    hand = Hand()
    hand.tap_label(hand.name("camera"))
    assert hand.screen == "permission"
    hand.tap_label(hand.word(word))
    assert hand.screen == "other_app"
    assert truth(hand.phone)["permissions"]["camera"] is given
    hand.consumer(AC_HOME)
    hand.tap_label(hand.name("camera"))
    assert hand.screen == "other_app"


def test_back_from_the_question_leaves_the_app() -> None:
    """Nothing was allowed or denied: it is asked again."""
    hand = Hand()
    hand.tap_label(hand.name("camera"))
    hand.consumer(AC_BACK)
    assert hand.screen == "home"
    hand.tap_label(hand.name("camera"))
    assert hand.screen == "permission"


def test_the_bank_shows_nothing_and_takes_no_touch() -> None:
    """But one gets out of it."""
    hand = Hand()
    hand.open("bank")
    assert hand.screen == "bank"
    assert truth(hand.phone)["visible"] == []
    hand.tap(500, 500)
    assert hand.screen == "bank"
    hand.consumer(AC_HOME)
    assert hand.screen == "home"


def test_a_swipe_up_shows_the_pin_pad_and_the_pin_unlocks() -> None:
    """By touch."""
    hand = Hand(locked=True)
    assert hand.screen == "lock"
    hand.swipe((500, 900), (500, 300))
    hand.wait(0.5)
    assert hand.screen == "pin"
    for digit in truth(hand.phone)["pin"]:
        hand.tap_label(digit)
    hand.tap_label("OK")
    assert hand.screen == "home"


def test_a_pin_on_the_keyboard_unlocks_and_a_wrong_one_does_not() -> None:
    """The first key only wakes the pad, as on a real lock screen."""
    hand = Hand(locked=True)
    hand.key(ENTER)
    hand.wait(0.5)
    pin = truth(hand.phone)["pin"]
    hand.type("0000" if pin != "0000" else "1111")
    hand.key(ENTER)
    assert (hand.screen, "Wrong PIN" in hand.labels()) == ("pin", True)
    hand.type(pin + "\n")
    hand.wait(0.5)
    assert hand.screen == "home"


def test_nothing_leaves_the_lock_screen_but_the_pin() -> None:
    """Home, back and recent apps do not."""
    hand = Hand(locked=True)
    for usage in (AC_HOME, AC_BACK, RECENT_APPS):
        hand.consumer(usage)
        assert hand.screen == "lock"


@pytest.mark.parametrize("way", ["consumer", "swipe", "meta"])
def test_ways_home(way: str) -> None:
    """AC Home, a swipe from the bottom edge, Meta and Enter."""
    hand = Hand()
    hand.open("settings")
    match way:
        case "consumer":
            hand.consumer(AC_HOME)
        case "swipe":
            hand.swipe((500, 995), (500, 600))
        case _:
            hand.key(ENTER, META)
    hand.wait(0.6)
    assert hand.screen == "home"


@pytest.mark.parametrize("way", ["consumer", "escape", "edge", "arrow"])
def test_ways_back(way: str) -> None:
    """AC Back, Escape, a swipe from the side, the arrow."""
    hand = Hand()
    hand.open("notes")
    hand.tap_label(hand.word("new_note"))
    match way:
        case "consumer":
            hand.consumer(AC_BACK)
        case "escape":
            hand.key(ESCAPE)
        case "edge":
            hand.swipe((2, 500), (500, 500))
        case _:
            hand.tap(70, 84)
    hand.wait(0.6)
    assert hand.screen == "notes"


@pytest.mark.parametrize("way", ["consumer", "swipe"])
def test_ways_to_recent_apps(way: str) -> None:
    """And from there into an app."""
    hand = Hand()
    hand.open("settings")
    if way == "consumer":
        hand.consumer(RECENT_APPS)
    else:
        hand.swipe((500, 995), (500, 600), pause=0.5)
        hand.wait(0.6)
    assert hand.screen == "recents"
    hand.tap_label(hand.name("settings"))
    assert hand.screen == "settings"


def test_the_clock_goes_on() -> None:
    """A minute a minute."""
    hand = Hand()
    before = hand.phone.frame().status.clock
    hand.now += 60
    after = hand.phone.frame().status.clock
    assert (int(after[-2:]) - int(before[-2:])) % 60 == 1


def test_a_cable_pulled_while_touching_is_no_tap() -> None:
    """The contact is cancelled; the next device starts with nothing down."""
    hand = Hand()
    hand.open("settings")
    toggles = dict(hand.phone.state.toggles)
    hand.touch(500, 500)
    hand.phone.detach()
    hand.wait(1.0)
    assert hand.phone.held() == {"keys": [], "consumer": [], "touches": []}
    assert (hand.screen, hand.phone.state.toggles) == ("settings", toggles)


def test_what_is_held_has_names() -> None:
    """For tests that look for stuck input."""
    hand = Hand()
    hand.phone.report(1, bytes((0x02, 0, 0x04, 0, 0, 0, 0, 0)))
    hand.phone.report(2, b"\x23\x02")
    hand.touch(500, 500)
    held = hand.phone.held()
    assert held["keys"] == ["a", "shift"]
    assert held["consumer"] == ["consumer 0x223 (home)"]
    assert held["touches"] == ["contact 0 at 0.500, 0.500"]


def test_a_report_of_another_length_or_id_does_nothing() -> None:
    """As a kernel drops it."""
    hand = Hand()
    for report_id, report in ((1, b"\x00\x00\x04"), (9, b"\x01"), (4, b"\x03")):
        decoded = hand.phone.report(report_id, report)
        assert decoded.text == "not in the descriptor"
    assert not any(hand.phone.held().values())


def test_caps_lock_writes_capitals_and_lights_its_led() -> None:
    """The LED goes back to the board."""
    hand = Hand()
    hand.open("notes")
    hand.tap_label(hand.word("new_note"))
    hand.tap_label("note_body")
    hand.key(0x39)
    hand.type("aB")
    assert hand.phone.leds == 0x02
    assert truth(hand.phone)["focused_text"] == "Ab"
