"""The next act for a wish, decided on one picture and the past."""

from .acts import Act, Verb
from .forms import write
from .goals import Wish, WishKind
from .obstacles import obstacle
from .screen import Row
from .seeking import SAME, best_match, on_page_of, seek
from .situation import Situation
from .thesaurus import likeness
from .words import same_text

_WORD = {True: "On", False: "Off"}


def decide(now: Situation) -> Act:
    """Return the next act; the last one is always FINISH."""
    wish = now.history.wish
    if wish is None:
        return now.finish("not_achieved", "I was given no goal.")
    if act := _trouble(now):
        return act
    if act := obstacle(now):
        return act
    match wish.kind:
        case WishKind.SWITCH | WishKind.READ:
            return _switch(now, wish)
        case WishKind.OPEN | WishKind.FIND:
            return _open(now, wish)
    return write(now, wish)


def _trouble(now: Situation) -> Act | None:
    """React to a tool that did not work, and to going round in circles."""
    steps = now.history.steps
    if len(steps) >= 6 and all(
        s.act.verb is steps[-1].act.verb and s.act.label == steps[-1].act.label
        for s in steps[-5:]
    ):
        return now.finish(
            "not_achieved", "I tried the same again and again without effect."
        )
    if any("last step" in notice for notice in now.history.notices):
        return now.finish("unknown", "I ran out of steps before I was done.")
    last = now.history.last
    if last is None or last.act.verb in (Verb.ASK, Verb.LOOK):
        return None
    result = last.result.lower()
    if last.act.verb is Verb.FINISH and "not accepted" in result:
        return now.finish(
            "unknown", last.act.label or "I cannot prove it on the screen."
        )
    if "refused" in result and "not work" in result:
        return now.finish("not_achieved", "What I tried has no effect on the screen.")
    if "cannot be typed" in result or "unsupported" in result:
        return now.finish(
            "not_achieved", f"The text cannot be typed: {last.result[:200]}"
        )
    if "consent" in result and (
        "need" in result or "refus" in result or "without" in result
    ):
        return now.ask(
            "sensitive_operation",
            f"I need your agreement to tap “{last.act.label}”.",
            "Say whether I may do that.",
        )
    return None


def _switch(now: Situation, wish: Wish) -> Act:
    row = best_match(now, wish.target)
    if row is None and on_page_of(now, wish.target):
        row = _main_switch(now)
    if row is None:
        return seek(now, "alarms" if wish.time else wish.target)
    if row.state is None:
        return _without_state(now, wish, row)
    shown = f"“{row.name}” shows “{_WORD[row.state]}” on “{now.title}”"
    if wish.kind is WishKind.READ:
        return now.finish("achieved", f"“{row.name}” is {_WORD[row.state]}.", shown)
    flips = [s.act for s in now.history.steps if s.act.verb is Verb.FLIP]
    wanted = wish.on if wish.on is not None else _opposite(flips, state=row.state)
    if row.state is wanted:
        already = "" if flips else " already"
        return now.finish(
            "achieved", f"“{row.name}” is{already} {_WORD[row.state]}.", shown
        )
    return _flip(
        now, row, len(flips), waited=now.last is not None and now.last.verb is Verb.WAIT
    )


def _opposite(flips: list[Act], *, state: bool) -> bool:
    """Return what is wanted of a switch that should simply change: once."""
    return state if flips else not state


def _flip(now: Situation, row: Row, flips: int, *, waited: bool) -> Act:
    """Touch a switch; when that does nothing, wait, then touch its name, then give up."""
    is_on = row.state is True
    if flips and not waited:
        return now.act(Verb.WAIT, why=f"“{row.name}” has not changed yet.")
    if flips >= 3:
        return now.finish(
            "not_achieved",
            f"“{row.name}” stays {_WORD[is_on]} although I tapped it.",
            f"“{row.name}” shows “{_WORD[is_on]}” on “{now.title}”",
        )
    box = row.switch if row.switch is not None and flips != 1 else row.box
    return Act(
        verb=Verb.FLIP,
        screen=now.title,
        label=row.name,
        x=box.x,
        y=box.y,
        why=f"It is {_WORD[is_on]} now.",
    )


def _main_switch(now: Situation) -> Row | None:
    """Return the first row with a state on a page that is about nothing else."""
    return next((row for row in now.screen.rows if row.state is not None), None)


def _without_state(now: Situation, wish: Wish, row: Row) -> Act:
    """Open what has the right name but shows neither On nor Off."""
    if not now.tried(row.name):
        return now.tap(row, why="I look inside.")
    if row.switch is not None and now.history.count(Verb.FLIP) == 0:
        return now.finish("unknown", f"“{row.name}” does not say whether it is on.")
    return seek(now, wish.target)


def _open(now: Situation, wish: Wish) -> Act:
    last = now.last
    if on_page_of(now, wish.target):
        return now.finish(
            "achieved", f"“{now.title}” is open.", f"The title is “{now.title}”"
        )
    row = best_match(now, wish.target)
    if (
        last is not None
        and last.verb is Verb.TAP
        and not same_text(last.screen, now.title)
    ):
        names = ", ".join(r.name for r in now.screen.rows[:4])
        if likeness(wish.target, last.label) >= SAME:
            return now.finish(
                "achieved",
                f"“{last.label}” is open.",
                f"After tapping it the screen shows: {names}",
            )
    if row is not None and not now.tried(row.name):
        return now.tap(row, why="That is it.")
    return seek(now, wish.target)
