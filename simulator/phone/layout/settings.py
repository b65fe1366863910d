"""The settings: one list, and the pages below it."""

from simulator.phone.layout.sheet import Sheet
from simulator.phone.persona import App, Page, Toggle
from simulator.phone.state import SCREEN_OF_PAGE, Place
from simulator.phone.widgets import Action, Scene, Verb, Widget

_PAGE_OF_SCREEN = {screen: page for page, screen in SCREEN_OF_PAGE.items()}

# No summary says "On" or "Off", or names what another row is called.
_SUMMARIES: dict[Page, str] = {
    Page.NETWORK: "Data usage and more",
    Page.DISPLAY: "Brightness, wallpaper",
    Page.SOUND: "Volume, ringtone",
    Page.APPS: "Default apps",
    Page.STORAGE: "52 GB of 128 GB used",
    Page.SECURITY: "Screen lock: PIN",
    Page.ABOUT: "Simulated phone",
}
_FACTS: dict[Page, tuple[tuple[str, str], ...]] = {
    Page.NETWORK: (("Data usage", "2.4 GB this month"),),
    Page.DISPLAY: (("Brightness", "62%"), ("Wallpaper", "Gradient")),
    Page.SOUND: (("Volume", "70%"), ("Ringtone", "Morning")),
    Page.BATTERY: (("Usage", "Since the last full charge"),),
    Page.STORAGE: (("Used", "52 GB of 128 GB"), ("Pictures", "11 GB")),
    Page.SECURITY: (("Screen lock", "PIN"), ("Last check", "Today")),
    Page.ABOUT: (("Model", "Virtual phone"), ("Simulation", "Nothing here is real")),
}


def page(sheet: Sheet, place: Place) -> Scene:
    """Lay out the list or one of its pages."""
    persona = sheet.persona
    shown = _PAGE_OF_SCREEN[place.screen]
    rows: list[Widget] = []
    top = 0
    for item in persona.rows[shown]:
        rows.append(_row(sheet, top, item))
        top = rows[-1].rect.bottom
    for label, summary in _facts(sheet, shown):
        rows.append(sheet.row(top, label, summary))
        top = rows[-1].rect.bottom
    is_top = shown is Page.TOP
    title = persona.app_names[App.SETTINGS] if is_top else persona.page_names[shown]
    return sheet.scene(place.screen, fixed=sheet.bar(title, back=not is_top), rows=rows)


def _facts(sheet: Sheet, shown: Page) -> list[tuple[str, str]]:
    """Return the rows that only tell something."""
    facts = list(_FACTS.get(shown, ()))
    if shown is Page.BATTERY:
        facts.insert(0, ("Level", f"{sheet.persona.battery_percent}%"))
    if shown is Page.APPS:
        facts += [(name, "Installed") for name in sheet.persona.app_names.values()]
    return facts


def _row(sheet: Sheet, top: int, item: Toggle | Page) -> Widget:
    """Return a switch's row or a page's."""
    persona = sheet.persona
    match item:
        case Toggle():
            on = sheet.state.toggles[item]
            return sheet.row(
                top,
                persona.toggle_names[item],
                "On" if on else "Off",
                icon=item,
                knob=sheet.knob(item, on),
                action=Action(verb=Verb.TOGGLE, argument=item),
            )
        case Page():
            summary = _SUMMARIES.get(item, f"{persona.battery_percent}%")
            return sheet.row(
                top,
                persona.page_names[item],
                summary,
                icon=f"page_{item}",
                action=Action(verb=Verb.OPEN_PAGE, argument=item),
            )
