"""What many examples must have reached, by name."""

from collections import Counter

_RULES = (
    "acknowledge",
    "an old run",
    "begin",
    "cancel",
    "claim",
    "claim and tell",
    "crash",
    "crash in a start",
    "crash in an act",
    "create",
    "create by the foreground",
    "create the same",
    "halt",
    "hear",
    "hold",
    "open a session",
    "read",
    "release",
    "reload",
    "respond: answered",
    "respond: refused",
    "resume",
    "run asks: ambiguous",
    "run asks: captcha",
    "run steps",
    "run takes the goal up",
    "run: completed",
    "run: failed",
    "run: nothing",
    "run: raised",
    "stop",
    "stop in an act",
    "take over",
    "tell again",
    "time passes",
    "update",
)
_REFUSALS = (
    "create: HaltedError",
    "create: TaskQueueFullError",
    "create by the foreground: DuplicateTaskError",
    "create the same: DuplicateTaskError",
    "respond: answered: NotWaitingError",
    "respond: answered: StaleQuestionError",
    "respond: refused: NotWaitingError",
    "respond: refused: StaleQuestionError",
    "take over: NotRunningError",
    "update: NotUpdatableError",
)
_ARROWS = {
    "act": (
        "new > queued",
        "new > running",
        "queued > running",
        "queued > waiting",
        "queued > cancelled",
        "running > cancelling",
        "running > completed",
        "running > failed",
        "running > resumed",
        "running > waiting",
        "waiting > resumed",
        "waiting > running",
        "waiting > completed",
        "waiting > cancelled",
        "resumed > running",
        "resumed > waiting",
        "resumed > cancelled",
        "cancelling > cancelled",
        "none > queued",
        "queued > claimed",
        "queued > delivering",
        "queued > delivered",
        "queued > suppressed",
        "claimed > queued",
        "claimed > delivering",
        "claimed > delivered",
        "claimed > suppressed",
        "delivering > queued",
        "delivering > delivered",
        "delivering > suppressed",
        "delivered > forgotten",
        "suppressed > forgotten",
    ),
    "time": (
        "queued > running",
        "running > failed",
        "running > waiting",
        "cancelling > cancelled",
    ),
    "together": (
        "running > completed",
        "running > cancelling",
        "running > waiting",
        "cancelling > cancelled",
        "waiting > cancelled",
        "waiting > resumed",
        "delivering > delivered",
    ),
    "crash": (
        "running > queued",
        "running > waiting",
        "running > failed",
        "queued > running",
        "queued > waiting",
        "cancelling > cancelled",
        "claimed > queued",
        "delivering > queued",
    ),
    "crash in an act": (
        # What was told of it was not durable yet, and nobody had been told that it was.
        "cancelled > waiting",
        "cancelling > running",
        "completed > running",
        "delivered > queued",
        "cancelling > cancelled",
        "running > failed",
        "running > queued",
        "running > waiting",
        "claimed > queued",
        "delivering > suppressed",
    ),
    "crash in a start": ("queued > running", "running > failed"),
    "stop": (
        "running > waiting",
        "running > failed",
        "queued > waiting",
        "cancelling > cancelled",
        "claimed > queued",
    ),
    "reload": ("running > waiting", "running > queued", "queued > running"),
    "stop in an act": (
        "new > queued",
        "running > completed",
        "running > waiting",
        "cancelling > cancelled",
    ),
}
_CUTS = (
    "crash in an act: before its last write",
    "crash in an act: after its last write",
    "crash in a start: before its last write",
    "cut in a compaction",
    "cut in a line",
)
WANTED = (
    *(f"rule: {name}" for name in _RULES),
    *_REFUSALS,
    *(f"{how}: {arrow}" for how, arrows in _ARROWS.items() for arrow in arrows),
    *_CUTS,
)


def missing(counts: Counter[str]) -> list[str]:
    """Return what was not reached."""
    return [name for name in WANTED if not counts[name]]


def report(counts: Counter[str]) -> list[str]:
    """Return lines for a person: how much was tried, then how often each thing happened."""
    others = counts.keys() - {"examples", "steps", *WANTED}
    return [
        f"{counts['examples']:,} examples, {counts['steps']:,} steps",
        *(f"{counts[name]:>10,}  {name}" for name in (*WANTED, *sorted(others))),
    ]
