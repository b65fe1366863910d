"""The virtual phone: HID reports in, frames out, its own clock passed in."""

from collections.abc import Callable

from simulator.phone import actions, commands, keyboard
from simulator.phone.actions import Effect
from simulator.phone.gestures import Drag, Gesture, LongPress, Release, Tap
from simulator.phone.glass import PERSON, Glass, TouchSpace, on_screen
from simulator.phone.hid_input import Decoded, HidInput, KeyChange, TouchChange
from simulator.phone.keyboard import Character, Command
from simulator.phone.layout import scene
from simulator.phone.motions import Motions
from simulator.phone.persona import Persona, Toggle
from simulator.phone.state import PhoneState
from simulator.phone.widgets import HEIGHT, WIDTH, Action, Frame, Scene, Status, View

REPEAT_AFTER_S = 0.5
REPEAT_EVERY_S = 0.05
CARET_S = 0.5
_MOST_REPEATS = 200
_EDGE_PX = 72
_SIDE_EDGE_PX = 36
_SWIPE_PX = 200
_RECENTS_PAUSE_S = 0.35


class VirtualPhone:
    """One phone.

    ``clock`` gives seconds that never go back; everything that moves follows it. Not
    thread-safe: one event loop owns it. Frames are frozen and may be drawn anywhere.
    """

    def __init__(
        self,
        persona: Persona,
        *,
        clock: Callable[[], float],
        touch_space: TouchSpace = TouchSpace.FRAME,
        locked: bool = False,
        speed: float = 1.0,
    ) -> None:
        """Start on the home screen, or locked; ``speed`` shortens what moves by itself."""
        self._clock = clock
        self._speed = speed
        self._touch_space = touch_space
        self._input: HidInput | None = None
        self._glass = Glass()
        self.reset(persona, locked=locked)

    def reset(self, persona: Persona, *, locked: bool = False) -> None:
        """Become another phone; the board stays attached."""
        self.state = PhoneState(persona, locked=locked)
        self._started = self._clock()
        self._motions = Motions(self._speed)
        self._caught = False
        self._repeat: tuple[int, float] | None = None
        self._caps = False
        self._scenes: tuple[tuple[object, ...], Scene] | None = None
        self._revision = 0

    # The HID side.

    def attach(self, descriptor: bytes) -> None:
        """Enumerate a HID interface; nothing is down in it."""
        self.detach()
        self._input = HidInput(descriptor)

    def detach(self) -> None:
        """Lose the interface: what was down is cancelled, as Android does."""
        self._input = None
        self._repeat = None
        self._glass.forget_contacts()

    def report(self, report_id: int, payload: bytes) -> Decoded:
        """Take in an input report, without the report id's byte."""
        now = self._advance()
        if self._input is None:
            return Decoded(text="no device", kind="other", released=True)
        decoded = self._input.feed(report_id, payload)
        for change in decoded.changes:
            match change:
                case TouchChange():
                    self._touch_changed(change)
                case KeyChange():
                    self._key_changed(change, now)
        return decoded

    def held(self) -> dict[str, list[str]]:
        """Return by name what is down in the HID interface: keys, consumer, touches."""
        if self._input is None:
            return {"keys": [], "consumer": [], "touches": []}
        return self._input.held()

    @property
    def leds(self) -> int:
        """Return the keyboard's LED bits that the phone sets."""
        return keyboard.CAPS_LOCK_LED if self._caps else 0

    # Looking.

    def frame(self) -> Frame:
        """Return all that can be seen now."""
        now = self._advance()
        state = self.state
        transition = self._motions.transition(now)
        blink = int(now / CARET_S) % 2 == 0
        return Frame(
            view=self._view(now),
            status=Status(
                clock=self._clock_text(now),
                battery_percent=state.persona.battery_percent,
                airplane=state.toggles[Toggle.AIRPLANE_MODE],
                wifi=state.toggles[Toggle.WIFI],
            ),
            transition=transition,
            caret=bool(state.focus) and blink and transition is None,
            toast=state.toast if now < state.toast_until else "",
        )

    @property
    def moving(self) -> bool:
        """Tell whether something on the screen moves by itself."""
        now = self._advance()
        if self._motions.transition(now) or self._motions.knobs(now):
            return True
        return self.state.scroll.flying(now, self._scene(now).max_offset)

    def view(self) -> View:
        """Return the screen without what moves over it."""
        return self._view(self._advance())

    @property
    def clock_text(self) -> str:
        """Return the phone's time as "HH:MM"."""
        return self._clock_text(self._clock())

    # The person's side. Positions in pixels of the 1080x2400 screen.

    def finger_down(self, x: float, y: float, *, owner: int = PERSON) -> None:
        """Put a finger on the glass; unheard beside another one and while the screen moves."""
        now = self._advance()
        deaf = self._motions.transition(now) is not None
        if self._glass.down(x, y, now, owner=owner, deaf=deaf):
            maximum = self._scene(now).max_offset
            self._caught = self.state.scroll.stop(now, maximum)

    def finger_move(self, x: float, y: float, *, owner: int = PERSON) -> None:
        """Move the finger."""
        now = self._advance()
        for gesture in self._glass.move(x, y, now, owner=owner):
            self._gesture(gesture, now)

    def finger_up(self, *, owner: int = PERSON) -> None:
        """Lift the finger."""
        now = self._advance()
        for gesture in self._glass.up(now, owner=owner):
            self._gesture(gesture, now)

    def command(self, command: Command) -> None:
        """Press one of the phone's own keys."""
        self._command(command, self._advance())

    def write(self, text: str) -> None:
        """Write into the focused field, as an on-screen keyboard does."""
        now = self._advance()
        self._do(lambda: commands.write(self.state, text), now)

    def change(self, change: Callable[[PhoneState], None]) -> None:
        """Change the state from outside, at once and without a transition."""
        self._advance()
        change(self.state)
        self._motions.stop()
        self._revision += 1

    # Time.

    def _advance(self) -> float:
        """Let everything happen that was due; return now."""
        now = self._clock()
        for gesture in self._glass.advance(now):
            self._gesture(gesture, now)
        for _ in range(_MOST_REPEATS):
            if self._repeat is None or self._repeat[1] > now:
                break
            usage, due = self._repeat
            self._repeat = (usage, due + REPEAT_EVERY_S)
            self._key(usage, due, repeated=True)
        return now

    def _clock_text(self, now: float) -> str:
        """Return the phone's time at a time."""
        start = self.state.persona.start_minute
        minute = (start + int((now - self._started) / 60)) % (24 * 60)
        return f"{minute // 60:02}:{minute % 60:02}"

    def _scene(self, now: float) -> Scene:
        """Lay the screen out, once per change."""
        knobs = self._motions.knobs(now)
        clock = self._clock_text(now)
        key = (self._revision, clock, *knobs.items())
        if self._scenes is None or self._scenes[0] != key:
            self._scenes = (key, scene(self.state, clock, knobs))
        return self._scenes[1]

    def _view(self, now: float) -> View:
        """Return the scene where it is scrolled to."""
        laid = self._scene(now)
        offset = self.state.scroll.at(now, laid.max_offset)
        return View(scene=laid, offset=round(offset))

    def _do(self, change: Callable[[], Effect], at: float) -> None:
        """Make a change and start what shows it."""
        before = self._view(at)
        effect = change()
        self._revision += 1
        if effect.motion is not None:
            self._motions.start(effect.motion, before, at)
        if effect.knob:
            self._motions.move_knob(effect.knob, effect.on, at)

    # Touch.

    def _touch_changed(self, change: TouchChange) -> None:
        """Follow one contact of the touchscreen."""
        x, y = on_screen(self._touch_space, change.x, change.y)
        if not change.down:
            self.finger_up(owner=change.contact)
        elif self._glass.known(change.contact):
            self.finger_move(x, y, owner=change.contact)
        else:
            self.finger_down(x, y, owner=change.contact)

    def _gesture(self, gesture: Gesture, now: float) -> None:
        """Act on what the finger did."""
        match gesture:
            case Tap(x=x, y=y):
                widget = self._view(now).at(x, y)
                if not self._caught and widget is not None and widget.action:
                    self._perform(widget.action, now)
            case LongPress(x=x, y=y, at=at):
                widget = self._view(now).at(x, y)
                if not self._caught and widget is not None and widget.long_action:
                    self._perform(widget.long_action, at)
            case Drag() if self._scrolls(gesture.start_x, gesture.start_y, now):
                self.state.scroll.drag(gesture.dy, now, self._scene(now).max_offset)
            case Release():
                self._release(gesture, now)
            case _:
                pass

    def _scrolls(self, x: float, y: float, now: float) -> bool:
        """Tell whether a drag that began there moves the list."""
        viewport = self._scene(now).viewport
        if viewport is None or not viewport.contains(x, y):
            return False
        return y < HEIGHT - _EDGE_PX and not _from_side(x)

    def _release(self, swipe: Release, now: float) -> None:
        """End a drag: a swipe of the system, or a fling of the list."""
        state = self.state
        sideways = abs(swipe.total_x) > max(_SWIPE_PX, abs(swipe.total_y))
        if state.locked:
            if not state.pin_shown and swipe.total_y < -_SWIPE_PX:
                self._do(lambda: commands.show_pin(state), now)
            elif state.pin_shown and swipe.total_y > 2 * _SWIPE_PX:
                self._command(Command.BACK, now)
        elif swipe.start_y >= HEIGHT - _EDGE_PX:
            if swipe.total_y < -_SWIPE_PX:
                paused = swipe.paused_s >= _RECENTS_PAUSE_S
                self._command(Command.RECENTS if paused else Command.HOME, now)
        elif _from_side(swipe.start_x) and sideways:
            self._command(Command.BACK, now)
        elif self._scrolls(swipe.start_x, swipe.start_y, now):
            state.scroll.fling(swipe.velocity_y, now, self._scene(now).max_offset)

    def _perform(self, action: Action, at: float) -> None:
        """Do what a widget says."""
        self._do(lambda: actions.perform(self.state, action, at), at)

    # Keys.

    def _key_changed(self, change: KeyChange, now: float) -> None:
        """Follow one key."""
        if not change.down:
            if self._repeat is not None and self._repeat[0] == change.usage:
                self._repeat = None
            return
        if change.usage in keyboard.MODIFIERS:
            return
        self._repeat = (change.usage, now + REPEAT_AFTER_S)
        self._key(change.usage, now)

    def _key(self, usage: int, at: float, *, repeated: bool = False) -> None:
        """Do what a key does; again while it is held, if it is one that repeats."""
        held = self._input.held_keys if self._input else frozenset[int]()
        match keyboard.meaning(usage, held, self._caps):
            case Character(text=text):
                self._do(lambda: commands.write(self.state, text), at)
            case Command() as command if not repeated or command in commands.REPEATING:
                self._command(command, at)
            case _:
                pass

    def _command(self, command: Command, at: float) -> None:
        """Do what a key of the system does."""
        if command is Command.CAPS_LOCK:
            self._caps = not self._caps
            return
        self._do(lambda: commands.run(self.state, command, at), at)


def _from_side(x: float) -> bool:
    """Tell whether a place is at the left or right edge, where a swipe goes back."""
    return not _SIDE_EDGE_PX <= x < WIDTH - _SIDE_EDGE_PX
