"""What the virtual phone knows, and what each app does with it; nothing here has a look."""

from dataclasses import dataclass, field

from simulator.phone.persona import App, Page, Persona, Theme, Toggle
from simulator.phone.screen_code import ScreenId
from simulator.phone.scroll import Scroll

TOAST_S = 2.0
MAX_TEXT = 2000
_LONGEST_LIST = 200

SCREEN_OF_APP: dict[App, ScreenId] = {
    App.SETTINGS: ScreenId.SETTINGS,
    App.MESSAGES: ScreenId.MESSAGES,
    App.NOTES: ScreenId.NOTES,
    App.ALARMS: ScreenId.ALARMS,
    App.BANK: ScreenId.BANK,
}
SCREEN_OF_PAGE: dict[Page, ScreenId] = {
    Page.TOP: ScreenId.SETTINGS,
    Page.NETWORK: ScreenId.SETTINGS_NETWORK,
    Page.DISPLAY: ScreenId.SETTINGS_DISPLAY,
    Page.SOUND: ScreenId.SETTINGS_SOUND,
    Page.BATTERY: ScreenId.SETTINGS_BATTERY,
    Page.APPS: ScreenId.SETTINGS_APPS,
    Page.STORAGE: ScreenId.SETTINGS_STORAGE,
    Page.SECURITY: ScreenId.SETTINGS_SECURITY,
    Page.ABOUT: ScreenId.SETTINGS_ABOUT,
}

FIELD_NOTE = "note_body"
FIELD_TO = "compose_to"
FIELD_COMPOSE = "compose_text"
FIELD_ALARM = "alarm_time"
FIELD_REPLY = "reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in the phone one is: a screen and what it is about."""

    screen: ScreenId
    argument: str = ""
    """App of OTHER_APP and PERMISSION, contact of THREAD, index of a note ("" is a new one)."""


HOME = Place(screen=ScreenId.HOME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a thread."""

    text: str
    mine: bool


@dataclass(slots=True, kw_only=True)
class Alarm:
    """An alarm; ``time`` is "HH:MM"."""

    time: str
    on: bool


@dataclass(slots=True)
class PhoneState:
    """The phone's data and where its person is."""

    persona: Persona
    locked: bool = False
    pin_shown: bool = False
    pin_typed: str = ""
    pin_wrong: bool = False
    toggles: dict[Toggle, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    threads: dict[str, list[Message]] = field(default_factory=dict)
    sent: list[tuple[str, str]] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    permissions: dict[App, bool] = field(default_factory=dict)
    stack: list[Place] = field(default_factory=list)
    """Open places, the last one on top; empty is the home screen."""
    recents: list[App] = field(default_factory=list)
    scrolls: dict[Place, Scroll] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    focus: str = ""
    selected: bool = False
    volume: int = 7
    toast: str = ""
    toast_until: float = 0.0

    def __post_init__(self) -> None:
        """Fill in what the persona says."""
        self.toggles = dict(self.persona.toggles)
        self.notes = list(self.persona.notes)
        self.threads = {
            contact: [Message(text=text, mine=False)]
            for contact, text in self.persona.threads
        }
        self.alarms = [Alarm(time=time, on=on) for time, on in self.persona.alarms]

    @property
    def place(self) -> Place:
        """Return what is on the screen."""
        if self.locked:
            return Place(screen=ScreenId.PIN if self.pin_shown else ScreenId.LOCK)
        return self.stack[-1] if self.stack else HOME

    @property
    def theme(self) -> Theme:
        """Return the look."""
        if self.toggles[Toggle.DARK_THEME]:
            return Theme.DARK
        return self.persona.theme

    @property
    def scroll(self) -> Scroll:
        """Return the scrolling of what is on the screen."""
        return self.scrolls.setdefault(self.place, Scroll())

    # Where one is.

    def open_app(self, app: App) -> None:
        """Open an app at its first screen; ask for its permission if it never was answered."""
        screen = SCREEN_OF_APP.get(app, ScreenId.OTHER_APP)
        place = Place(
            screen=screen, argument=app if screen is ScreenId.OTHER_APP else ""
        )
        self.unfocus()
        self.stack = [place]
        self.scrolls.pop(place, None)
        self.recents = [app, *(other for other in self.recents if other is not app)]
        if app in self.persona.asking and app not in self.permissions:
            self.stack.append(Place(screen=ScreenId.PERMISSION, argument=app))

    def push(self, place: Place) -> None:
        """Open a place on top, scrolled to its top."""
        self.unfocus()
        self.scrolls.pop(place, None)
        self.stack.append(place)

    def back(self) -> None:
        """Close what is on top; a permission that is not answered closes its app."""
        self.unfocus()
        if self.locked:
            self.hide_pin()
        elif self.stack and self.stack.pop().screen is ScreenId.PERMISSION:
            self.stack.clear()

    def home(self) -> None:
        """Go home; the lock screen stays."""
        self.unfocus()
        self.hide_pin()
        self.stack.clear()

    def hide_pin(self) -> None:
        """Return from the PIN pad to the lock screen."""
        self.pin_shown = False
        self.pin_typed = ""
        self.pin_wrong = False

    def lock(self) -> None:
        """Lock; what was open is open again after unlocking."""
        self.unfocus()
        self.hide_pin()
        self.locked = True

    def unlock(self) -> None:
        """Unlock without a PIN, as a person's fingerprint does."""
        self.hide_pin()
        self.locked = False

    def pin_enter(self) -> bool:
        """Try what was typed; tell whether it was right."""
        right = self.pin_typed == self.persona.pin
        self.pin_typed = ""
        self.pin_wrong = not right
        if right:
            self.unlock()
        return right

    def pin_key(self, digit: str) -> None:
        """Type a digit."""
        self.pin_wrong = False
        self.pin_typed = (self.pin_typed + digit)[:12]

    # Text.

    def unfocus(self) -> None:
        """Take the caret away."""
        self.focus = ""
        self.selected = False

    def write(self, text: str) -> None:
        """Write into the focused field; without one, nothing happens."""
        if not self.focus:
            return
        old = "" if self.selected else self.texts.get(self.focus, "")
        self.texts[self.focus] = (old + text)[:MAX_TEXT]
        self.selected = False

    def backspace(self) -> None:
        """Delete the last character, or all that is selected."""
        if not self.focus:
            return
        old = "" if self.selected else self.texts.get(self.focus, "")[:-1]
        self.texts[self.focus] = old
        self.selected = False

    def say(self, text: str, now: float) -> None:
        """Show a short note at the bottom."""
        self.toast = text
        self.toast_until = now + TOAST_S

    # Apps.

    def send(self, contact: str, field_id: str) -> bool:
        """Send a field's text; tell whether there was anything to send and anybody to send to."""
        text = self.texts.get(field_id, "").strip()
        if not text or not contact.strip():
            return False
        contact = next(
            (name for name in self.threads if name.lower() == contact.strip().lower()),
            contact.strip(),
        )
        messages = self.threads.pop(contact, [])
        messages.append(Message(text=text, mine=True))
        self.threads = {contact: messages[-_LONGEST_LIST:], **self.threads}
        self.sent = [*self.sent, (contact, text)][-_LONGEST_LIST:]
        self.texts[field_id] = ""
        return True

    def save_note(self, argument: str) -> bool:
        """Keep the note that is edited; tell whether there was anything in it."""
        text = self.texts.get(FIELD_NOTE, "").strip()
        if not text:
            return False
        if argument:
            self.notes[int(argument)] = text
        else:
            self.notes = [text, *self.notes][:_LONGEST_LIST]
        return True

    def save_alarm(self) -> str | None:
        """Add an alarm at the time typed; return it as "HH:MM", None when it is no time."""
        time = parse_time(self.texts.get(FIELD_ALARM, ""))
        if time is None:
            return None
        self.alarms = [a for a in self.alarms if a.time != time][:_LONGEST_LIST]
        self.alarms.append(Alarm(time=time, on=True))
        self.alarms.sort(key=lambda alarm: alarm.time)
        return time


def parse_time(text: str) -> str | None:
    """Return "HH:MM" of "7:30", "07:30", "730" or "7"; None when it is no time of day."""
    text = text.strip().replace(".", ":")
    hours, colon, minutes = text.partition(":")
    if not colon and len(text) in {3, 4}:
        hours, minutes = text[:-2], text[-2:]
    minutes = minutes or "0"
    if not (hours.isascii() and hours.isdigit()):
        return None
    if not (minutes.isascii() and minutes.isdigit()):
        return None
    if int(hours) > 23 or int(minutes) > 59:
        return None
    return f"{int(hours):02}:{int(minutes):02}"
