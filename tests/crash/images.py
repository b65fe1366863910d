"""What the next process makes of a disk that a cut left."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from custom_components.aiden_duplex.storage.contract import Record
from custom_components.aiden_duplex.storage.lines import scan
from custom_components.aiden_duplex.tasks.errors import TaskStorageError
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Task
from tests.tasks.house import ScriptedRunner, settle

from .history import ENDED, TOLD, Busy, History, Threaded
from .lives import LIMITS, PATH, now, opened
from .power_cut import Image, PowerCutFiles

_SWITCH = "kill_switch"
_WATERMARK = "watermark"
_DAMAGE = "damage"


@dataclass(slots=True, kw_only=True)
class Findings:
    """What was wrong, and how much was looked at."""

    images: int = 0
    set_aside: int = 0
    """Images with a hole, of which the good part went on and somebody was told."""
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[str]:
        """Return everything that was wrong."""
        return [*self.lost, *self.doubled, *self.unreadable]


async def check(image: Image, history: History, busy: Busy, found: Findings) -> None:
    """Open an image and compare it with what was acknowledged when it was cut."""
    found.images += 1
    records = {
        record["id"]: record for record in scan(image.disk.get(PATH.name, b"")).records
    }
    _compare(image, records, history, found)
    files = PowerCutFiles(image.disk)
    runner = ScriptedRunner()
    journal = opened(files)
    manager = TaskManager(
        journal=Threaded(journal, busy),
        runner=runner,
        now=now,
        limits=LIMITS,
    )
    try:
        await manager.load()
    except TaskStorageError as err:
        found.unreadable.append(str(err))
        return
    if journal.damage is not None:
        found.set_aside += 1
        if image.is_prefix:
            found.unreadable.append(f"damaged by a mere cut: {journal.damage}")
    loaded = manager.tasks()
    manager.start()
    await settle()
    _judge(manager, loaded, records, runner, found)
    await manager.close()
    await asyncio.sleep(0)


def _compare(
    image: Image, records: dict[str, Record], history: History, found: Findings
) -> None:
    """Look for what is gone, older than it was acknowledged, or not as it was said."""
    found.lost += history.untrue(image.position, records)
    for name, least in history.required(image.position).items():
        if (record := records.get(name)) is not None:
            if record not in history.records[name][least:]:
                found.lost.append(f"older than acknowledged: {record}")
        elif history.dropped.get(name, image.position + 1) > image.position:
            found.lost.append(f"gone: {history.records[name][least]}")


def _judge(
    manager: TaskManager,
    loaded: list[Task],
    records: dict[str, Record],
    runner: ScriptedRunner,
    found: Findings,
) -> None:
    """Look for what was done or is told twice, or not at all."""
    tasks = {task.id: task for task in loaded}
    switch = records.pop(_SWITCH, {"halted": False})
    for name in (_WATERMARK, _DAMAGE):
        records.pop(name, None)
    runs = Counter(call.request.task_id for call in runner.calls)
    claims = Counter(task.id for task in manager.claim("session"))
    if manager.halted is not switch["halted"] or (manager.halted and runs):
        found.lost.append(f"the kill switch: {switch}")
    for name, record in records.items():
        if (task := tasks.get(name)) is None:
            if record["delivery"] not in TOLD:
                found.lost.append(f"not loaded: {record}")
            continue
        ended = record["status"] in ENDED
        if ended and (task.status != record["status"] or runs[name]):
            found.doubled.append(f"{task.status}, {runs[name]} runs of {record}")
        if ended and (claims[name] == 1) is (record["delivery"] in TOLD):
            found.doubled.append(f"claimed {claims[name]} times: {record}")
        if record["status"] == "cancelling" and task.status != "cancelled":
            found.lost.append(f"a cancel: {record}")
    for call in runner.calls:
        began = records[call.request.task_id].get("status") == "running"
        resumed = records[call.request.task_id]["resumed"]
        if began and not resumed and not call.request.recovered:
            found.doubled.append(f"begun anew: {call.request}")
    if any(count > 1 for count in (*runs.values(), *claims.values())):
        found.doubled.append(f"{runs} {claims}")
    numbers = Counter(task.terminal_sequence for task in loaded)
    numbers.pop(None, None)
    if any(count > 1 for count in numbers.values()):
        found.doubled.append(f"numbers of endings: {numbers}")
