"""Finding something on a phone: by its name, by what it belongs to, by looking around."""

from .acts import Act, Verb
from .screen import Row
from .situation import Situation, is_name
from .thesaurus import canonical, is_setting, likeness, relation

STRONG = 0.45
"""A relation worth following at once."""
WEAK = 0.1
"""A relation worth following when nothing else is left."""
SAME = 0.75
"""A likeness that counts as the thing itself."""
_MAX_SCROLLS = 8
_MAX_ACTS = 34


def best_match(now: Situation, target: str) -> Row | None:
    """Return the row that is what is sought; one with a state before one without."""
    found = [
        (row.state is not None, likeness(target, row.name), row)
        for row in now.screen.rows
        if is_name(row.name) and not _is_title(now, row)
    ]
    found = [item for item in found if item[1] >= SAME]
    if not found:
        return None
    return max(found, key=lambda item: (item[1] + 0.2 * item[0], -item[2].box.y))[2]


def on_page_of(now: Situation, target: str) -> bool:
    """Tell whether the screen's title is what is sought."""
    return now.title != "home" and likeness(target, now.title) >= SAME


def seek(now: Situation, target: str) -> Act:
    """Return the next act on the way to something that is not on the screen."""
    if now.history.total_acts >= _MAX_ACTS:
        return _give_up(now, target)
    candidates = _candidates(now, target)
    if candidates and candidates[0][0] >= STRONG:
        return now.tap(candidates[0][1], why=f"“{target}” may be inside.")
    if _is_lost(now, target):
        return now.act(
            Verb.HOME, why=f"“{target}” is not here; I start from the home screen."
        )
    turned = bool(now.scrolls(Verb.SCROLL_UP))
    downs = len(now.scrolls(Verb.SCROLL_DOWN))
    if not turned and not now.at_end() and downs < _MAX_SCROLLS:
        return now.act(
            Verb.SCROLL_DOWN,
            label=now.last_name,
            why=f"I look for “{target}” further down.",
        )
    if candidates:
        return now.tap(candidates[0][1], why=f"“{target}” is perhaps inside.")
    if now.title == "home":
        return _give_up(now, target)
    if not is_setting(target) and len(now.scrolls(Verb.SCROLL_UP)) < downs:
        return now.act(Verb.SCROLL_UP, why="I go through the list again.")
    return now.act(Verb.BACK, why=f"There is no “{target}” here.")


def _candidates(now: Situation, target: str) -> list[tuple[float, Row]]:
    """Return the rows that may lead there, best first."""
    unknown = not is_setting(target)
    found: list[tuple[float, Row]] = []
    for row in now.screen.rows:
        if not is_name(row.name) or _is_title(now, row) or now.tried(row.name):
            continue
        score = relation(target, row.name)
        if score < STRONG and row.summary and relation(target, row.summary) >= 0.7:
            score = max(score, 0.6)
        if row.state is not None and score < 0.7:
            continue
        if score < WEAK and unknown and now.title != "home" and _is_settings_place(now):
            score = WEAK
        if score >= WEAK:
            found.append((score, row))
    return sorted(found, key=lambda item: (-item[0], item[1].box.y))


def _is_title(now: Situation, row: Row) -> bool:
    return (
        now.title != "home"
        and row.name == now.title
        and row.state is None
        and row.box.y < 180
    )


def _is_settings_place(now: Situation) -> bool:
    return (
        canonical(now.title) == "settings" or relation("settings", now.title) >= STRONG
    )


def _is_lost(now: Situation, target: str) -> bool:
    """Tell whether the work begins on a screen that has nothing to do with the goal."""
    if now.title == "home" or now.history.count(Verb.HOME) > 0:
        return False
    moved = any(s.act.verb in (Verb.TAP, Verb.BACK) for s in now.history.steps)
    if moved:
        return False
    return relation(target, now.title) < STRONG and not (
        canonical(now.title) == "settings" and is_setting(target)
    )


def _give_up(now: Situation, target: str) -> Act:
    names = [row.name for row in now.screen.rows if is_name(row.name)][:6]
    return now.finish(
        "not_achieved",
        f"I could not find “{target}” on this phone.",
        f"The screen shows: {', '.join(names) or 'nothing readable'}",
    )
