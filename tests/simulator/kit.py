"""A virtual phone with a clock that tests move, driven by HID reports alone."""

from hardware_bridge.firmware.aiden_bridge import profiles
from simulator.phone.glass import TouchSpace
from simulator.phone.persona import make_persona
from simulator.phone.phone import VirtualPhone
from simulator.phone.truth import truth

SHIFT = 0x02
META = 0x08
ENTER = 0x28
ESCAPE = 0x29
BACKSPACE = 0x2A
SPACE = 0x2C
AC_HOME = 0x223
AC_BACK = 0x224
RECENT_APPS = 0x29F
_DOWN = profiles.TIP | profiles.IN_RANGE
_FULL = 0x7FFF


def usage_of(character: str) -> tuple[int, int]:
    """Return modifiers and usage of a letter, digit or space on a US keyboard."""
    if character == " ":
        return 0, SPACE
    if character == "\n":
        return 0, ENTER
    if character.isdigit():
        return 0, 0x1E + (int(character) - 1) % 10
    return SHIFT if character.isupper() else 0, 0x04 + ord(character.lower()) - ord("a")


class Hand:
    """Sends reports of the firmware's own descriptor to a phone, and lets time pass."""

    def __init__(
        self,
        seed: int = 1,
        *,
        locked: bool = False,
        touch_space: TouchSpace = TouchSpace.FRAME,
    ) -> None:
        """Attach the board to a new phone."""
        self.now = 0.0
        self.touch_space = touch_space
        self.phone = VirtualPhone(
            make_persona(seed),
            clock=lambda: self.now,
            locked=locked,
            touch_space=touch_space,
        )
        self.phone.attach(profiles.report_descriptor(profiles.ANDROID_TOUCH))

    def wait(self, seconds: float) -> None:
        """Let time pass in pictures' steps."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            self.now = min(end, self.now + 0.03)
            self.phone.frame()

    def touch_raw(self, x: int, y: int, *, down: bool = True, contact: int = 0) -> None:
        """Send one touch report."""
        report = profiles.touch_report(contact, _DOWN if down else 0, x, y)
        self.phone.report(profiles.TOUCH_ID, report)

    def touch(self, x: float, y: float, *, down: bool = True) -> None:
        """Send one touch report for a place in thousandths of the screen."""
        share = x / 1000
        if self.touch_space is TouchSpace.FRAME:
            share = (717 + share * 486) / 1920
        self.touch_raw(round(share * _FULL), round(y / 1000 * _FULL), down=down)

    def tap(self, x: float, y: float, hold: float = 0.06) -> None:
        """Touch a place and let the screen come to rest."""
        self.touch(x, y)
        self.wait(hold)
        self.touch(x, y, down=False)
        self.wait(0.6)

    def tap_label(self, label: str, hold: float = 0.06) -> None:
        """Touch what is called so."""
        for thing in truth(self.phone)["visible"]:
            if thing["label"] == label and thing["kind"] != "text":
                self.tap(thing["x"], thing["y"], hold)
                return
        raise AssertionError(f"{label!r} is not on the screen: {self.labels()}")

    def swipe(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        seconds: float = 0.3,
        pause: float = 0.0,
    ) -> None:
        """Draw a line."""
        self.touch(*start)
        for step in range(1, 13):
            self.wait(seconds / 12)
            share = step / 12
            self.touch(
                start[0] + (end[0] - start[0]) * share,
                start[1] + (end[1] - start[1]) * share,
            )
        if pause:
            self.wait(pause)
        self.touch(*end, down=False)

    def key(self, usage: int, mods: int = 0, hold: float = 0.03) -> None:
        """Press and release a key."""
        self.phone.report(profiles.KEYBOARD_ID, profiles.keyboard_report(mods, [usage]))
        self.wait(hold)
        self.phone.report(profiles.KEYBOARD_ID, profiles.keyboard_report(0, []))

    def type(self, text: str) -> None:
        """Type on the keyboard."""
        for character in text:
            mods, usage = usage_of(character)
            self.key(usage, mods)

    def consumer(self, usage: int) -> None:
        """Press a consumer control and let the screen come to rest."""
        self.phone.report(profiles.CONSUMER_ID, profiles.consumer_report(usage))
        self.wait(0.05)
        self.phone.report(profiles.CONSUMER_ID, profiles.consumer_report(0))
        self.wait(0.6)

    @property
    def screen(self) -> str:
        """Return the name of the screen."""
        return str(truth(self.phone)["screen"])

    def moves(self) -> bool:
        """Tell whether something on the screen moves by itself."""
        return self.phone.moving

    def labels(self) -> list[str]:
        """Return what can be read."""
        return [thing["label"] for thing in truth(self.phone)["visible"]]

    def name(self, key: str) -> str:
        """Return this phone's name of an app or switch."""
        return str(truth(self.phone)["names"][key])

    def word(self, key: str) -> str:
        """Return this phone's word for something."""
        return self.phone.state.persona.words[key]

    def toggle(self, key: str) -> bool:
        """Return the truth about a switch."""
        return bool(truth(self.phone)["toggles"][key])

    def open(self, app: str) -> None:
        """Go home and open an app by its icon; allow what it asks for."""
        self.consumer(AC_HOME)
        self.tap_label(self.name(app))
        if self.screen == "permission":
            self.tap_label(self.word("allow"))

    def scroll_to(self, label: str) -> None:
        """Scroll a list until something is on the screen whole."""
        for _ in range(6):
            for widget, rect in self.phone.view().visible():
                if widget.label == label and rect.height == widget.rect.height:
                    return
            self.swipe((500, 800), (500, 450), seconds=0.5, pause=0.2)
            self.wait(0.3)
        raise AssertionError(f"{label!r} is nowhere in the list")
