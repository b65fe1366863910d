"""Messages: threads, one thread, a new message."""

from simulator.phone import text
from simulator.phone.layout.sheet import BODY_TOP, MARGIN, Sheet, aligned
from simulator.phone.persona import App
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import FIELD_COMPOSE, FIELD_REPLY, FIELD_TO, Message, Place
from simulator.phone.widgets import WIDTH, Action, Kind, Rect, Scene, Tone, Verb, Widget

_BUBBLE_ROOM = 720
_BOTTOM_BAR = 2130


def threads(sheet: Sheet, _place: Place) -> Scene:
    """Lay out the list of threads."""
    rows: list[Widget] = []
    for contact, messages in sheet.state.threads.items():
        rows.append(
            sheet.row(
                rows[-1].rect.bottom if rows else 0,
                contact,
                messages[-1].text.replace("\n", " "),
                icon="person",
                action=Action(verb=Verb.OPEN_THREAD, argument=contact),
            )
        )
    return sheet.scene(
        ScreenId.MESSAGES,
        fixed=sheet.bar(sheet.persona.app_names[App.MESSAGES], back=False),
        rows=rows,
        floating=(
            sheet.floating(sheet.word("new_message"), Action(verb=Verb.COMPOSE)),
        ),
    )


def thread(sheet: Sheet, place: Place) -> Scene:
    """Lay out one thread and the field below it."""
    rows: list[Widget] = []
    for message in sheet.state.threads.get(place.argument, []):
        rows.append(_bubble(sheet, rows[-1].rect.bottom + 20 if rows else 20, message))
    field = Rect(left=MARGIN, top=_BOTTOM_BAR + 20, width=720, height=150)
    return sheet.scene(
        ScreenId.THREAD,
        fixed=(
            *sheet.bar(place.argument),
            sheet.field(field, FIELD_REPLY, "Text message"),
            _send(sheet, _BOTTOM_BAR + 20),
        ),
        rows=rows,
        body_bottom=_BOTTOM_BAR,
    )


def compose(sheet: Sheet, _place: Place) -> Scene:
    """Lay out a new message."""
    line = WIDTH - 2 * MARGIN
    to_field = Rect(left=MARGIN, top=BODY_TOP + 90, width=line, height=150)
    message = Rect(left=MARGIN, top=BODY_TOP + 380, width=line, height=600)
    return sheet.scene(
        ScreenId.COMPOSE,
        fixed=(
            *sheet.bar(sheet.word("new_message")),
            _heading(sheet, BODY_TOP, "To"),
            sheet.field(to_field, FIELD_TO, "Name or number"),
            _heading(sheet, BODY_TOP + 290, "Message"),
            sheet.field(message, FIELD_COMPOSE, "Text message", many=True),
            _send(sheet, BODY_TOP + 1020),
        ),
    )


def _heading(sheet: Sheet, top: int, label: str) -> Widget:
    """Return the name of a field."""
    return Widget(
        kind=Kind.TEXT,
        rect=Rect(left=MARGIN + 8, top=top, width=600, height=80),
        label=label,
        size=sheet.small_size,
        tone=Tone.FAINT,
    )


def _send(sheet: Sheet, top: int) -> Widget:
    """Return the button that sends."""
    rect = Rect(left=WIDTH - MARGIN - 240, top=top, width=240, height=150)
    return sheet.button(rect, sheet.word("send"), Action(verb=Verb.SEND))


def _bubble(sheet: Sheet, top: int, message: Message) -> Widget:
    """Return a message: the person's own at the right."""
    lines = text.wrap(message.text, sheet.label_size, _BUBBLE_ROOM)
    width = max(text.width(line, sheet.label_size) for line in lines) + 80
    return Widget(
        kind=Kind.BUBBLE,
        rect=Rect(
            left=WIDTH - MARGIN - width if message.mine else MARGIN,
            top=top,
            width=width,
            height=aligned(len(lines) * text.line_height(sheet.label_size) + 50),
        ),
        lines=lines,
        size=sheet.label_size,
        tone=Tone.ACCENT if message.mine else Tone.PLAIN,
    )
