"""The reference of the next process: what it makes of what the last one left."""

from .reference import RECOVERIES, RESERVE_S, Model
from .things import UNTOLD, ModelRun, ModelTask


def restart(model: Model, *, counts: bool = True, stopped: float | None = None) -> None:
    """Let the process end and start again at the model's time.

    Args:
        model: What was durable when the process ended.
        counts: Whether the cut-off of a run counts against its task.
        stopped: When the process was stopped orderly, on the wall clock; None for a crash,
            which is alike but for how old the work of the run is.

    """
    run, model.run, model.reserved = model.run, None, None
    model.runs, model.wakes = [], []
    model.withdraw()
    model.asked = model.used = 0
    for task in model.tasks.values():
        task.session = None
        if task.delivery in UNTOLD:
            task.delivery = "suppressed" if task.hold_back else "queued"
        task.hold_back = False
    if run is not None and run.task.status != "cancelling":
        _cut_off(model, run, stopped=stopped)
    for task in sorted(model.tasks.values(), key=lambda task: task.created):
        if not (task.ended or task.asks):
            _go_on(model, task, counts=counts, stopped=stopped)
    _reserve_again(model)
    model.forget()
    # A start alone never speaks.
    model.wake_at, model.watermark = None, model.endings


def _cut_off(model: Model, run: ModelRun, *, stopped: float | None) -> None:
    """Finish what the run had been told; without a word it is tried again."""
    if run.why == "take_over":
        since = run.told_wall if stopped is None else stopped
        model.ask(run.task, on_the_phone=True, since=since)
        model.reserved = None
    elif run.why == "kill_switch":
        model.end(run.task, "failed")


def _go_on(
    model: Model, task: ModelTask, *, counts: bool, stopped: float | None
) -> None:
    """Finish a cancel, try a run again, ask about what is old."""
    if task.status == "cancelling":
        model.end(task, "cancelled")
        return
    is_cut_off = task not in model.queue
    if is_cut_off and stopped is not None:
        task.updated = stopped
    old = model.is_old(task)
    if is_cut_off:
        task.status, task.recovered, task.updated = "queued", True, model.wall
        task.recoveries += counts
        model.resumed.insert(0, task)
        if task.recoveries > RECOVERIES:
            model.end(task, "failed")
            return
        model.mark()
    if old:
        model.ask(task, on_the_phone=False)


def _reserve_again(model: Model) -> None:
    """Keep the phone as before, for what is left of the time."""
    asked = [
        (task.asked_at, task)
        for task in model.tasks.values()
        if task.asks and task.asked_at is not None
    ]
    if asked:
        at, task = max(asked, key=lambda entry: entry[0])
        passed = max(0.0, model.wall - at)
        model.reserved = task, model.clock + RESERVE_S - passed
