"""HID reports in, touches and keys out; all it knows is the report descriptor.

Behaves as Android does with such a device: a touchscreen works, an absolute mouse is
ignored.
"""

from dataclasses import dataclass, field

from simulator.hid_parser import Field, ReportDescriptor, ReportKind, parse
from simulator.phone import keyboard

_TOUCH_SCREEN = 0x000D_0004
_TIP = 0x000D_0042
_CONTACT_ID = 0x000D_0051
_CONTACT_COUNT = 0x000D_0054
_X = 0x0001_0030
_Y = 0x0001_0031
_KEY_PAGES = (0x07, 0x0C)


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchChange:
    """A contact that came down, moved or was lifted."""

    contact: int
    down: bool
    x: float
    """0 to 1 across the touchscreen's logical range."""
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A key or consumer control that was pressed or released."""

    usage: int
    down: bool


type Change = TouchChange | KeyChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What a report said."""

    text: str
    kind: str
    """``touch``, ``keyboard``, ``consumer`` or ``other``."""
    released: bool
    """Nothing is down in this report."""
    changes: tuple[Change, ...] = ()


@dataclass(slots=True)
class _Finger:
    """The fields of one finger's collection in a touch report."""

    fields: dict[int, Field] = field(default_factory=dict)

    def read(self, payload: bytes) -> TouchChange | None:
        """Return where this finger is, or None when the report has no such finger."""
        values: dict[int, int] = {}
        for item in self.fields.values():
            values.update(item.by_usage(payload))
        if _TIP not in values or _X not in values or _Y not in values:
            return None
        return TouchChange(
            contact=values.get(_CONTACT_ID, 0),
            down=bool(values[_TIP]),
            x=_share(values[_X], self.fields[_X]),
            y=_share(values[_Y], self.fields[_Y]),
        )


class HidInput:
    """One enumerated HID interface, as the phone's kernel keeps it."""

    def __init__(self, descriptor: bytes) -> None:
        """Parse the descriptor.

        Raises:
            DescriptorError: The descriptor is malformed: the phone would not take the device.

        """
        self.descriptor: ReportDescriptor = parse(descriptor)
        self._keys: dict[int, frozenset[int]] = {}
        self._touches: dict[int, TouchChange] = {}

    @property
    def held_keys(self) -> frozenset[int]:
        """Return the usages that are down."""
        return frozenset().union(*self._keys.values())

    @property
    def touches(self) -> tuple[TouchChange, ...]:
        """Return the contacts that are down."""
        return tuple(self._touches.values())

    def held(self) -> dict[str, list[str]]:
        """Return by name what is down: ``keys``, ``consumer``, ``touches``."""
        usages = sorted(self.held_keys)
        return {
            "keys": [keyboard.name(u) for u in usages if u >> 16 == 0x07],
            "consumer": [keyboard.name(u) for u in usages if u >> 16 == 0x0C],
            "touches": [
                f"contact {t.contact} at {t.x:.3f}, {t.y:.3f}"
                for t in self._touches.values()
            ],
        }

    def feed(self, report_id: int, payload: bytes) -> Decoded:
        """Take in an input report without its id; a report of another length is ignored."""
        fields = self.descriptor.report(ReportKind.INPUT, report_id)
        size = self.descriptor.payload_size(ReportKind.INPUT, report_id)
        if not fields or len(payload) != size:
            return Decoded(
                text="not in the descriptor", kind="other", released=not any(payload)
            )
        application = fields[0].application
        if application == _TOUCH_SCREEN:
            return self._feed_touch(fields, payload)
        keys = [item for item in fields if _pages(item) & set(_KEY_PAGES)]
        if keys:
            return self._feed_keys(report_id, keys, payload)
        return Decoded(
            text=f"ignored: usage 0x{application:08X}",
            kind="other",
            released=not any(payload),
        )

    def _feed_keys(
        self, report_id: int, fields: list[Field], payload: bytes
    ) -> Decoded:
        """Compare what is down with what was down."""
        before = self.held_keys
        down = frozenset(
            usage
            for item in fields
            for usage, value in item.by_usage(payload)
            if value and usage & 0xFFFF and usage >> 16 in _KEY_PAGES
        )
        self._keys[report_id] = down
        after = self.held_keys
        changes = [KeyChange(usage=u, down=False) for u in sorted(before - after)]
        # Modifiers (0xE0 and up) first, else "A" in one report would be "a".
        changes += [
            KeyChange(usage=u, down=True) for u in sorted(after - before, reverse=True)
        ]
        consumer = any(0x0C in _pages(item) for item in fields)
        names = " + ".join(keyboard.name(u) for u in sorted(down, reverse=True))
        return Decoded(
            text=names or "all up",
            kind="consumer" if consumer else "keyboard",
            released=not down,
            changes=tuple(changes),
        )

    def _feed_touch(self, fields: tuple[Field, ...], payload: bytes) -> Decoded:
        """Read every finger that the report carries."""
        fingers: dict[int, _Finger] = {}
        count: int | None = None
        for item in fields:
            if _CONTACT_COUNT in item.usages:
                count = dict(item.by_usage(payload))[_CONTACT_COUNT]
                continue
            finger = fingers.setdefault(item.collections[-1].index, _Finger())
            for usage in item.usages:
                finger.fields.setdefault(usage, item)
        changes: list[TouchChange] = []
        for finger in list(fingers.values())[:count]:
            change = finger.read(payload)
            if change is None:
                continue
            was_down = change.contact in self._touches
            if change.down:
                self._touches[change.contact] = change
            elif was_down:
                del self._touches[change.contact]
            if change.down or was_down:
                changes.append(change)
        words = [
            f"contact {c.contact} {'at' if c.down else 'up'} {c.x:.3f}, {c.y:.3f}"
            for c in changes
        ]
        return Decoded(
            text="; ".join(words) or "no contact",
            kind="touch",
            released=not self._touches,
            changes=tuple(changes),
        )


def _pages(item: Field) -> set[int]:
    """Return the usage pages that a field touches."""
    if item.is_constant or not item.usages:
        return set()
    return {item.usages[0] >> 16, item.usages[-1] >> 16}


def _share(value: int, item: Field) -> float:
    """Return a value as 0 to 1 of its logical range."""
    span = max(1, item.logical_max - item.logical_min)
    return min(1.0, max(0.0, (value - item.logical_min) / span))
