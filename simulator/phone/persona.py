"""What differs from phone to phone: names, order, looks; all drawn from one seed."""

from dataclasses import dataclass
from enum import StrEnum
import random


class App(StrEnum):
    """Every app on the home screen."""

    SETTINGS = "settings"
    MESSAGES = "messages"
    NOTES = "notes"
    ALARMS = "alarms"
    BANK = "bank"
    CAMERA = "camera"
    PHOTOS = "photos"
    MUSIC = "music"
    WEATHER = "weather"
    MAPS = "maps"
    CALCULATOR = "calculator"
    CONTACTS = "contacts"


class Toggle(StrEnum):
    """Every switch in the settings, by its canonical key."""

    AIRPLANE_MODE = "airplane_mode"
    WIFI = "wifi"
    BLUETOOTH = "bluetooth"
    LOCATION = "location"
    DARK_THEME = "dark_theme"
    BATTERY_SAVER = "battery_saver"
    DO_NOT_DISTURB = "do_not_disturb"
    AUTO_ROTATE = "auto_rotate"
    NFC = "nfc"
    MOBILE_DATA = "mobile_data"
    HOTSPOT = "hotspot"


class Page(StrEnum):
    """Every page of the settings; TOP is the list itself."""

    TOP = "top"
    NETWORK = "network"
    DISPLAY = "display"
    SOUND = "sound"
    BATTERY = "battery"
    APPS = "apps"
    STORAGE = "storage"
    SECURITY = "security"
    ABOUT = "about"


APP_NAMES: dict[App, tuple[str, ...]] = {
    App.SETTINGS: ("Settings", "Preferences", "System settings"),
    App.MESSAGES: ("Messages", "Messaging", "Texts"),
    App.NOTES: ("Notes", "Notepad", "Memos"),
    App.ALARMS: ("Alarms", "Clock", "Alarm clock"),
    App.BANK: ("Bank",),
    App.CAMERA: ("Camera",),
    App.PHOTOS: ("Photos", "Gallery"),
    App.MUSIC: ("Music", "Player"),
    App.WEATHER: ("Weather", "Forecast"),
    App.MAPS: ("Maps", "Navigation"),
    App.CALCULATOR: ("Calculator",),
    App.CONTACTS: ("Contacts", "People"),
}

TOGGLE_NAMES: dict[Toggle, tuple[str, ...]] = {
    Toggle.AIRPLANE_MODE: ("Airplane mode", "Flight mode", "Aeroplane mode"),
    Toggle.WIFI: ("Wi-Fi", "WLAN", "Wireless network"),
    Toggle.BLUETOOTH: ("Bluetooth",),
    Toggle.LOCATION: ("Location", "Location services", "Location access"),
    Toggle.DARK_THEME: ("Dark theme", "Dark mode", "Night mode"),
    Toggle.BATTERY_SAVER: ("Battery saver", "Power saving", "Low power mode"),
    Toggle.DO_NOT_DISTURB: ("Do not disturb", "Quiet mode", "Silent mode"),
    Toggle.AUTO_ROTATE: ("Auto-rotate", "Rotate screen"),
    Toggle.NFC: ("NFC", "Contactless"),
    Toggle.MOBILE_DATA: ("Mobile data", "Cellular data"),
    Toggle.HOTSPOT: ("Hotspot", "Portable hotspot"),
}

PAGE_NAMES: dict[Page, tuple[str, ...]] = {
    Page.NETWORK: ("Network & internet", "Connections", "Wireless & networks"),
    Page.DISPLAY: ("Display", "Screen"),
    Page.SOUND: ("Sound", "Sounds & vibration"),
    Page.BATTERY: ("Battery", "Battery & power"),
    Page.APPS: ("Apps", "Installed apps"),
    Page.STORAGE: ("Storage", "Memory & storage"),
    Page.SECURITY: ("Security", "Security & privacy"),
    Page.ABOUT: ("About phone", "About this phone"),
}

_WORDS: dict[str, tuple[str, ...]] = {
    "new_message": ("New message", "Start chat", "Compose"),
    "send": ("Send",),
    "new_note": ("New note", "Add note"),
    "save": ("Save", "Done"),
    "add_alarm": ("Add alarm", "New alarm"),
    "allow": ("Allow", "Allow access"),
    "deny": ("Don't allow", "Deny"),
}

_CONTACTS = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo")
_GREETINGS = (
    "See you tomorrow!",
    "Did you feed the cat?",
    "Thanks a lot",
    "Are we still on for lunch?",
    "The parcel has arrived",
    "Call me when you are home",
)
_NOTES = (
    "Milk, bread, apples",
    "Water the plants on Friday",
    "Ideas for the garden",
    "Book: The Blue Door",
)
_NESTED_WITH: dict[Toggle, Page] = {
    Toggle.AIRPLANE_MODE: Page.NETWORK,
    Toggle.WIFI: Page.NETWORK,
    Toggle.DARK_THEME: Page.DISPLAY,
    Toggle.BATTERY_SAVER: Page.BATTERY,
    Toggle.DO_NOT_DISTURB: Page.SOUND,
}


class Theme(StrEnum):
    """The three looks."""

    LIGHT = "light"
    DARK = "dark"
    COLOURED = "coloured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """One phone, as its seed made it."""

    seed: int
    theme: Theme
    """LIGHT or COLOURED is the look while the dark theme is off."""
    accent: int
    """Index of the accent colour."""
    font_scale: float
    """0.9 to 1.25."""
    start_minute: int
    """Minute of the day at which the phone's clock starts."""
    battery_percent: int
    pin: str
    app_names: dict[App, str]
    toggle_names: dict[Toggle, str]
    page_names: dict[Page, str]
    words: dict[str, str]
    home: tuple[App, ...]
    """Order on the home grid."""
    rows: dict[Page, tuple[Toggle | Page, ...]]
    """What each settings page lists, in order."""
    toggles: dict[Toggle, bool]
    """How the switches stand at first."""
    asking: frozenset[App]
    """Apps that ask for a permission when first opened."""
    threads: tuple[tuple[str, str], ...]
    """Contact and the last thing they wrote."""
    notes: tuple[str, ...]
    alarms: tuple[tuple[str, bool], ...]
    """Time "HH:MM" and whether it is on."""

    def page_of(self, toggle: Toggle) -> Page:
        """Return the settings page that shows a switch."""
        return next(page for page, rows in self.rows.items() if toggle in rows)


def make_persona(seed: int) -> Persona:
    """Draw a phone from a seed; the same seed always gives the same phone."""
    rng = random.Random(seed)
    base = rng.choice((Theme.LIGHT, Theme.COLOURED))
    dark = rng.random() < 0.35
    home = list(App)
    rng.shuffle(home)
    return Persona(
        seed=seed,
        theme=base,
        accent=rng.randrange(6),
        font_scale=rng.choice((0.9, 1.0, 1.0, 1.1, 1.25)),
        start_minute=rng.randrange(7 * 60, 21 * 60),
        battery_percent=rng.randrange(34, 97),
        pin="".join(rng.choices("0123456789", k=4)),
        app_names={app: rng.choice(APP_NAMES[app]) for app in App},
        toggle_names={key: rng.choice(TOGGLE_NAMES[key]) for key in Toggle},
        page_names={key: rng.choice(names) for key, names in PAGE_NAMES.items()},
        words={key: rng.choice(names) for key, names in _WORDS.items()},
        home=tuple(home),
        rows=_make_rows(rng),
        toggles={
            Toggle.AIRPLANE_MODE: False,
            Toggle.WIFI: True,
            Toggle.BLUETOOTH: rng.random() < 0.5,
            Toggle.LOCATION: rng.random() < 0.5,
            Toggle.DARK_THEME: dark,
            Toggle.BATTERY_SAVER: False,
            Toggle.DO_NOT_DISTURB: False,
            Toggle.AUTO_ROTATE: rng.random() < 0.5,
            Toggle.NFC: True,
            Toggle.MOBILE_DATA: True,
            Toggle.HOTSPOT: False,
        },
        asking=frozenset(
            {App.CAMERA, rng.choice((App.MESSAGES, App.NOTES, App.ALARMS))}
        ),
        threads=tuple(
            zip(rng.sample(_CONTACTS, 4), rng.sample(_GREETINGS, 4), strict=True)
        ),
        notes=tuple(rng.sample(_NOTES, 2)),
        alarms=(
            (f"{rng.randrange(5, 9):02}:{rng.choice((0, 15, 30, 45)):02}", True),
            ("22:10", False),
        ),
    )


def _make_rows(rng: random.Random) -> dict[Page, tuple[Toggle | Page, ...]]:
    """Place every switch on a page, and shuffle the pages' lists."""
    network_nested = rng.random() < 0.5
    rows: dict[Page, list[Toggle | Page]] = {page: [] for page in Page}
    rows[Page.NETWORK] += [Toggle.MOBILE_DATA, Toggle.HOTSPOT]
    for toggle in Toggle:
        page = _NESTED_WITH.get(toggle)
        nested = network_nested if page is Page.NETWORK else rng.random() < 0.5
        if page is not None and nested:
            rows[page].append(toggle)
        elif toggle not in rows[Page.NETWORK]:
            rows[Page.TOP].append(toggle)
    rows[Page.TOP] += [p for p in Page if p not in {Page.TOP, Page.ABOUT}]
    for listed in rows.values():
        rng.shuffle(listed)
    rows[Page.TOP].append(Page.ABOUT)
    return {page: tuple(listed) for page, listed in rows.items()}
