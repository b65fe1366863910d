"""Notes: list, editor, the question before one is deleted."""

from simulator.phone.layout.sheet import BODY_TOP, MARGIN, Sheet
from simulator.phone.persona import App
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import FIELD_NOTE, Place
from simulator.phone.widgets import WIDTH, Action, Rect, Scene, Tone, Verb, Widget


def notes(sheet: Sheet, _place: Place) -> Scene:
    """Lay out the list of notes."""
    rows: list[Widget] = []
    for index, note in enumerate(sheet.state.notes):
        first, _, rest = note.partition("\n")
        rows.append(
            sheet.row(
                rows[-1].rect.bottom if rows else 0,
                first,
                rest.replace("\n", " ") or "Note",
                icon="note",
                action=Action(verb=Verb.OPEN_NOTE, argument=str(index)),
                long_action=Action(verb=Verb.ASK_DELETE_NOTE, argument=str(index)),
            )
        )
    return sheet.scene(
        ScreenId.NOTES,
        fixed=sheet.bar(sheet.persona.app_names[App.NOTES], back=False),
        rows=rows,
        floating=(sheet.floating(sheet.word("new_note"), Action(verb=Verb.NEW_NOTE)),),
    )


def editor(sheet: Sheet, place: Place) -> Scene:
    """Lay out the editor of one note."""
    title = "Edit note" if place.argument else sheet.word("new_note")
    body = Rect(left=MARGIN, top=BODY_TOP + 20, width=WIDTH - 2 * MARGIN, height=1400)
    save = Rect(left=WIDTH - MARGIN - 240, top=146, width=240, height=116)
    return sheet.scene(
        ScreenId.NOTE_EDITOR,
        fixed=(
            *sheet.bar(title, room=save.left),
            sheet.button(
                save,
                sheet.word("save"),
                Action(verb=Verb.SAVE_NOTE, argument=place.argument),
            ),
            sheet.field(body, FIELD_NOTE, "Write here", many=True),
        ),
    )


def delete(sheet: Sheet, place: Place) -> Scene:
    """Lay out the question that a long press on a note asks."""
    panel = sheet.panel(460)
    question = Rect(
        left=panel.left + 60, top=panel.top + 60, width=panel.width - 120, height=160
    )
    half = Rect(left=panel.left + 60, top=panel.bottom - 200, width=380, height=140)
    return sheet.scene(
        ScreenId.NOTE_DELETE,
        fixed=(
            sheet.caption(question, "Delete this note?"),
            sheet.button(half, "Cancel", Action(verb=Verb.BACK), tone=Tone.QUIET),
            sheet.button(
                half.moved(dx=420),
                "Delete",
                Action(verb=Verb.DELETE_NOTE, argument=place.argument),
            ),
        ),
        panel=panel,
    )
