"""Alarms: list and editor."""

from simulator.phone.layout.sheet import BODY_TOP, MARGIN, Sheet
from simulator.phone.persona import App
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import FIELD_ALARM, Place
from simulator.phone.widgets import WIDTH, Action, Rect, Scene, Tone, Verb, Widget


def alarms(sheet: Sheet, _place: Place) -> Scene:
    """Lay out the list of alarms."""
    rows: list[Widget] = []
    for index, alarm in enumerate(sheet.state.alarms):
        rows.append(
            sheet.row(
                rows[-1].rect.bottom if rows else 0,
                alarm.time,
                "On" if alarm.on else "Off",
                icon="alarms",
                knob=sheet.knob(f"alarm {alarm.time}", alarm.on),
                action=Action(verb=Verb.TOGGLE_ALARM, argument=str(index)),
            )
        )
    return sheet.scene(
        ScreenId.ALARMS,
        fixed=sheet.bar(sheet.persona.app_names[App.ALARMS], back=False),
        rows=rows,
        floating=(
            sheet.floating(sheet.word("add_alarm"), Action(verb=Verb.NEW_ALARM)),
        ),
    )


def editor(sheet: Sheet, _place: Place) -> Scene:
    """Lay out a new alarm."""
    line = WIDTH - 2 * MARGIN
    note = Rect(left=MARGIN + 8, top=BODY_TOP + 20, width=line, height=90)
    time = Rect(left=MARGIN, top=BODY_TOP + 130, width=line, height=160)
    half = Rect(left=MARGIN, top=BODY_TOP + 360, width=480, height=150)
    return sheet.scene(
        ScreenId.ALARM_EDITOR,
        fixed=(
            *sheet.bar(sheet.word("add_alarm")),
            sheet.caption(
                note,
                "Time, for example 7:30",
                size=sheet.small_size,
                tone=Tone.FAINT,
            ),
            sheet.field(time, FIELD_ALARM, "Hours:minutes"),
            sheet.button(half, "Cancel", Action(verb=Verb.BACK), tone=Tone.QUIET),
            sheet.button(
                half.moved(dx=512),
                sheet.word("save"),
                Action(verb=Verb.SAVE_ALARM),
            ),
        ),
    )
