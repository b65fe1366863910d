"""Read a HID report descriptor and take reports apart with it.

After "Device Class Definition for HID 1.11", section 6.2.2. The virtual phone knows the
board by this and nothing else: which report carries which usage, and in which bits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum

_MAX_USAGES = 4096
_MAX_REPORT_BITS = 64 * 1024


class DescriptorError(ValueError):
    """The bytes are not a usable report descriptor; the text says where and why."""


class ReportKind(IntEnum):
    """Which way a report travels, seen from the host; the value is the main item's tag."""

    INPUT = 0x8
    OUTPUT = 0x9
    FEATURE = 0xB


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """One collection of the descriptor's tree.

    ``index`` numbers collections in the order in which they open, so that two fingers of
    a touchscreen, alike in everything else, stay apart.
    """

    index: int
    kind: int
    """0 physical, 1 application, 2 logical (HID 1.11, 6.2.2.6)."""
    usage: int
    """Usage page in the upper 16 bits, usage id in the lower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What one main item describes: ``count`` values of ``bit_size`` bits each."""

    kind: ReportKind
    report_id: int
    """0 when the descriptor numbers no reports."""
    flags: int
    usages: tuple[int, ...]
    """Usage page in the upper 16 bits, usage id in the lower."""
    logical_min: int
    logical_max: int
    bit_offset: int
    """From the start of the report's payload, the report id's byte not counted."""
    bit_size: int
    count: int
    collections: tuple[Collection, ...]
    """From the outermost to the innermost."""

    @property
    def is_constant(self) -> bool:
        """Tell whether these bits are padding."""
        return bool(self.flags & 0x01)

    @property
    def is_array(self) -> bool:
        """Tell whether each value names a usage, instead of being one usage's value."""
        return not self.flags & 0x02

    @property
    def is_relative(self) -> bool:
        """Tell whether values are changes."""
        return bool(self.flags & 0x04)

    @property
    def application(self) -> int:
        """Return the usage of the application collection, 0 when there is none."""
        for collection in self.collections:
            if collection.kind == 1:
                return collection.usage
        return 0

    def values(self, payload: bytes) -> tuple[int, ...]:
        """Return the ``count`` numbers that these bits hold in a payload without its id.

        Bits beyond the payload read as zero. Signed when the logical minimum is negative.
        """
        bits = int.from_bytes(payload, "little") >> self.bit_offset
        mask = (1 << self.bit_size) - 1
        numbers = []
        for _ in range(self.count):
            number = bits & mask
            if self.logical_min < 0 and number >> (self.bit_size - 1):
                number -= 1 << self.bit_size
            numbers.append(number)
            bits >>= self.bit_size
        return tuple(numbers)

    def by_usage(self, payload: bytes) -> Iterator[tuple[int, int]]:
        """Yield ``(usage, value)``: every usage of a variable field, the active ones of an array.

        An array's value outside the logical range is "no control" (6.2.2.5) and is left out.
        """
        if self.is_constant or not self.usages:
            return
        for position, value in enumerate(self.values(payload)):
            if self.is_array:
                place = value - self.logical_min
                if self.logical_min <= value <= self.logical_max and place < len(
                    self.usages
                ):
                    yield self.usages[place], 1
            else:
                yield self.usages[min(position, len(self.usages) - 1)], value


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDescriptor:
    """A parsed report descriptor."""

    fields: tuple[Field, ...]

    @property
    def has_report_ids(self) -> bool:
        """Tell whether a report starts with its id on the wire."""
        return any(item.report_id for item in self.fields)

    def report(self, kind: ReportKind, report_id: int) -> tuple[Field, ...]:
        """Return the fields of one report, in order of their bits."""
        return tuple(
            item
            for item in self.fields
            if item.kind is kind and item.report_id == report_id
        )

    def payload_size(self, kind: ReportKind, report_id: int) -> int:
        """Return a report's length in bytes without its id, 0 when there is no such report."""
        ends = [
            item.bit_offset + item.bit_size * item.count
            for item in self.report(kind, report_id)
        ]
        return (max(ends, default=0) + 7) // 8


@dataclass(slots=True)
class _Globals:
    """The global items' state (6.2.2.7)."""

    usage_page: int = 0
    logical_min: int = 0
    logical_max: int = 0
    raw_logical_max: int = 0
    report_size: int = 0
    report_id: int = 0
    report_count: int = 0


@dataclass(slots=True)
class _Locals:
    """The local items' state (6.2.2.8), forgotten after each main item."""

    usages: list[int] = field(default_factory=list)
    usage_min: int | None = None


@dataclass(slots=True)
class _Parser:
    """State while walking over the items."""

    globals: _Globals = field(default_factory=_Globals)
    stack: list[_Globals] = field(default_factory=list)
    locals: _Locals = field(default_factory=_Locals)
    collections: list[Collection] = field(default_factory=list)
    opened: int = 0
    ends: dict[tuple[ReportKind, int], int] = field(default_factory=dict)
    fields: list[Field] = field(default_factory=list)

    def main(self, tag: int, value: int) -> None:
        """Take in a main item."""
        match tag:
            case 0xA:
                usage = self.locals.usages[0] if self.locals.usages else 0
                self.collections.append(
                    Collection(index=self.opened, kind=value, usage=usage)
                )
                self.opened += 1
            case 0xC:
                if not self.collections:
                    raise DescriptorError("a collection ends that never began")
                self.collections.pop()
            case ReportKind.INPUT | ReportKind.OUTPUT | ReportKind.FEATURE:
                self._add_field(ReportKind(tag), value)
            case _:
                raise DescriptorError(f"unknown main item 0x{tag:X}")
        self.locals = _Locals()

    def _add_field(self, kind: ReportKind, flags: int) -> None:
        """Append what an input, output or feature item describes."""
        state = self.globals
        if not 1 <= state.report_size <= 32:
            raise DescriptorError(f"report size {state.report_size} is not 1 to 32")
        key = (kind, state.report_id)
        start = self.ends.get(key, 0)
        self.ends[key] = start + state.report_size * state.report_count
        if self.ends[key] > _MAX_REPORT_BITS:
            raise DescriptorError("a report is longer than 64 Kibit")
        # A maximum written in one byte as FF means 255 as soon as the minimum is not negative.
        maximum = state.logical_max
        if state.logical_min >= 0 > maximum:
            maximum = state.raw_logical_max
        self.fields.append(
            Field(
                kind=kind,
                report_id=state.report_id,
                flags=flags,
                usages=tuple(self.locals.usages),
                logical_min=state.logical_min,
                logical_max=maximum,
                bit_offset=start,
                bit_size=state.report_size,
                count=state.report_count,
                collections=tuple(self.collections),
            )
        )

    def global_(self, tag: int, raw: int, signed: int) -> None:
        """Take in a global item; units and physical ranges change nothing here."""
        state = self.globals
        match tag:
            case 0x0:
                state.usage_page = raw
            case 0x1:
                state.logical_min = signed
            case 0x2:
                state.logical_max = signed
                state.raw_logical_max = raw
            case 0x7:
                state.report_size = raw
            case 0x8:
                if not 1 <= raw <= 255:
                    raise DescriptorError(f"report id {raw} is not 1 to 255")
                state.report_id = raw
            case 0x9:
                state.report_count = raw
            case 0xA:
                self.stack.append(replace(state))
            case 0xB:
                if not self.stack:
                    raise DescriptorError("pop without push")
                self.globals = self.stack.pop()
            case _:
                pass

    def local(self, tag: int, raw: int, size: int) -> None:
        """Take in a local item; designators and strings change nothing here."""
        full = raw if size == 4 else self.globals.usage_page << 16 | raw
        match tag:
            case 0x0:
                self.locals.usages.append(full)
            case 0x1:
                self.locals.usage_min = full
            case 0x2:
                start = self.locals.usage_min
                if start is None or not 0 <= full - start < _MAX_USAGES:
                    raise DescriptorError("a usage range without a usable minimum")
                self.locals.usages.extend(range(start, full + 1))
                self.locals.usage_min = None
            case _:
                pass
        if len(self.locals.usages) > _MAX_USAGES:
            raise DescriptorError("too many usages")


def parse(descriptor: bytes) -> ReportDescriptor:
    """Parse a report descriptor.

    Raises:
        DescriptorError: The bytes are cut short or contradict themselves.

    """
    parser = _Parser()
    for kind, tag, data in _items(descriptor):
        raw = int.from_bytes(data, "little")
        match kind:
            case 0:
                parser.main(tag, raw)
            case 1:
                parser.global_(tag, raw, int.from_bytes(data, "little", signed=True))
            case 2:
                parser.local(tag, raw, len(data))
            case _:
                raise DescriptorError("reserved item type")
    if parser.collections:
        raise DescriptorError("a collection is never closed")
    return ReportDescriptor(fields=tuple(parser.fields))


def _items(descriptor: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(type, tag, data)`` of the short items; long items are skipped."""
    position = 0
    while position < len(descriptor):
        prefix = descriptor[position]
        if prefix == 0xFE:
            if position + 2 > len(descriptor):
                raise DescriptorError("a long item is cut short")
            position += 3 + descriptor[position + 1]
            continue
        size = (0, 1, 2, 4)[prefix & 0x03]
        data = descriptor[position + 1 : position + 1 + size]
        if len(data) < size:
            raise DescriptorError(f"the item at byte {position} is cut short")
        yield prefix >> 2 & 0x03, prefix >> 4, data
        position += 1 + size
