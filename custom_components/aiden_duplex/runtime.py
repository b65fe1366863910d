"""Composition: one Aiden per config entry, built from its data."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
import contextlib
from dataclasses import dataclass
import functools
import logging
from pathlib import Path
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_API_KEY, CONF_DEVICE, CONF_MODEL
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util

from .background.agent import DeviceAgent
from .background.witness import WitnessedPhone
from .const import (
    CONF_BACKGROUND,
    CONF_BASE_URL,
    CONF_BOARD_ID,
    CONF_CAMERA,
    CONF_FOREGROUND,
    CONF_PICTURE,
    CONF_RESERVE,
    CONF_SHOW_PICTURE,
    CONF_SLOTS,
    CONF_SNAPSHOT_URL,
    CONF_TOUCH_SPACE,
    DEFAULT_RESERVE,
    DEFAULT_SLOTS,
    DOMAIN,
)
from .foreground.foreground import Foreground
from .home.camera import CameraSource
from .home.damage import async_report_damage
from .home.notifier import TaskNotifier
from .home.people import async_is_person
from .home.reauth import KeyWatchedChat, asking_for_key
from .home.stops import async_take_stops
from .memory.transcript import Transcript
from .models.chat.client import ChatCompletions
from .models.chat.messages import ChatModel
from .models.realtime.connection import connect_openai
from .models.realtime.session import RealtimeSession, SessionConfig
from .phone.controller import PhoneController
from .phone.coordinates import TouchSpace
from .phone.driver import Driver
from .phone.link import Dx1Driver
from .phone.picture import HttpSnapshotSource, PictureSource
from .phone.types import LinkState
from .storage.journal import Journal
from .storage.run_mark import RunMark
from .tasks.audit import AuditTrail
from .tasks.errors import TaskNotFoundError
from .tasks.limits import TaskLimits
from .tasks.manager import TaskManager
from .tasks.model import TaskEvent
from .tasks.records import damage_mark

_LOGGER = logging.getLogger(__name__)

CLOSE_S = 8
"""One part's share of the 20 s that Home Assistant gives to its shutdown jobs."""
TRANSCRIPT_RECORDS = 2000
"""Newest records of a transcript that are read at a start; all stay on disk."""
FLUSH_S = 10
"""How long a backup waits for records on their way to the disk; our choice."""
BACKUP_S = 60 * 60
"""After so long journals are compacted again, also when no end of the backup was told."""

type AidenConfigEntry = ConfigEntry[Aiden]


def storage_folder(hass: HomeAssistant, entry_id: str) -> Path:
    """Return the folder of an entry's journals."""
    return Path(hass.config.path(".storage", f"{DOMAIN}.{entry_id}"))


def mark_file(hass: HomeAssistant, entry_id: str) -> Path:
    """Return the file that no backup holds: of this folder both Core and Supervisor leave out ``*.log``."""
    return Path(hass.config.path(f".{DOMAIN}.{entry_id}.log"))


def cache_folder(hass: HomeAssistant, entry_id: str) -> Path:
    """Return the folder where an entry's pictures may be."""
    return Path(hass.config.cache_path(DOMAIN, entry_id))


@dataclass(slots=True, kw_only=True)
class Aiden:
    """Everything one config entry runs."""

    name: str
    tasks: TaskManager
    audit: AuditTrail
    phone: PhoneController
    foreground: Foreground
    has_board: bool
    slots: int
    """Places in which tasks are shown."""
    shows_picture: bool
    """The last look at the phone may be seen in Home Assistant."""
    _hass: HomeAssistant
    _entry: ConfigEntry[Any]
    _transcripts: tuple[Transcript, ...]
    _journals: tuple[Journal, ...]
    _mark: RunMark
    _listeners: list[Callable[[], None]]
    _unsubscribe: list[CALLBACK_TYPE]
    _is_stopped: bool = False

    @classmethod
    def build(cls, hass: HomeAssistant, entry: ConfigEntry[Any]) -> Aiden:
        """Compose the rooms; nothing is opened yet."""
        folder = storage_folder(hass, entry.entry_id)
        data = entry.data
        phone = _build_phone(hass, data)
        sessions = [
            Journal(
                folder / "sessions" / f"{name}.journal", keep_last=TRANSCRIPT_RECORDS
            )
            for name in ("user", "backend")
        ]
        user, backend = map(Transcript, sessions)
        journal = Journal(folder / "tasks.journal", damage_mark=damage_mark())
        trail = Journal(folder / "audit.journal")
        audit = AuditTrail(trail, now=dt_util.utcnow)
        agent = DeviceAgent(
            phone=WitnessedPhone(phone, audit.note_act),
            chat=functools.partial(_build_chat, hass, entry),
            now=dt_util.utcnow,
            transcript=backend,
        )
        tasks = TaskManager(
            journal=journal,
            runner=agent,
            now=dt_util.utcnow,
            limits=_limits(entry.options),
            audit=audit.note_consent,
        )
        foreground = Foreground(
            connect=functools.partial(_connect, hass, entry),
            tasks=tasks,
            transcript=user,
            now=dt_util.now,
            phone_ready=functools.partial(_why_not_ready, phone, data),
            hold=phone.hold,
            is_person=functools.partial(async_is_person, hass),
            language=hass.config.language,
            time_zone=dt_util.async_get_time_zone,
        )
        return cls(
            name=entry.title,
            tasks=tasks,
            audit=audit,
            phone=phone,
            foreground=foreground,
            has_board=data.get(CONF_DEVICE) is not None,
            slots=entry.options.get(CONF_SLOTS, DEFAULT_SLOTS),
            shows_picture=entry.options.get(CONF_SHOW_PICTURE, False),
            _hass=hass,
            _entry=entry,
            _transcripts=(user, backend),
            _journals=(journal, trail, *sessions),
            _mark=RunMark(folder / "run", mark_file(hass, entry.entry_id)),
            _listeners=[],
            _unsubscribe=[],
        )

    async def async_start(self) -> None:
        """Read the journals and begin to look for the board; undo all if that fails."""
        try:
            await self.audit.load()
            self._unsubscribe.append(self.tasks.subscribe(self.audit.note_task))
            await self._async_load_tasks()
            await self._async_carry_out_stops()
            if self.tasks.halted:
                self.phone.halt()
            for transcript in self._transcripts:
                await transcript.load()
            await self.phone.start()
        except BaseException:
            await self.async_stop()
            raise
        damage = [found for one in self._journals if (found := one.damage)]
        async_report_damage(self._hass, self._entry.entry_id, self._entry.title, damage)
        notifier = TaskNotifier(self._hass, self._entry.entry_id, self._entry.title)
        self._unsubscribe += [
            self.tasks.subscribe(notifier.async_handle),
            self.tasks.subscribe(self._async_task_event),
            self.phone.subscribe(self._async_changed),
        ]
        notifier.async_show_open((*self.tasks.outstanding(), *self.tasks.unheard()))

    async def _async_load_tasks(self) -> None:
        """Read the tasks; what comes from a backup is held before the marks agree again."""
        run = self._hass.async_add_executor_job
        restored = await run(self._mark.is_restored)
        if restored:
            _LOGGER.warning("The tasks are from a restored backup and wait for a word")
        await self.tasks.load(restored=restored)
        await self.tasks.flush()
        await run(self._mark.renew)

    async def async_pre_backup(self) -> None:
        """Write out what is on its way; a disk that does not answer stops no backup."""
        self.tasks.pause_compaction(BACKUP_S)
        self.audit.pause_compaction(BACKUP_S)
        try:
            async with asyncio.timeout(FLUSH_S):
                await self.tasks.flush()
                await self.audit.flush()
                for transcript in self._transcripts:
                    await transcript.flush()
        except TimeoutError:
            _LOGGER.warning("The backup may lack the newest records of the tasks")

    async def async_post_backup(self) -> None:
        """Compact again; what the backup holds is from another time from now on."""
        self.tasks.pause_compaction(0)
        self.audit.pause_compaction(0)
        await self._hass.async_add_executor_job(self._mark.renew)

    @callback
    def async_work_when_started(self) -> None:
        """Begin to work tasks once Home Assistant has started."""

        @callback
        def start(_hass: HomeAssistant) -> None:
            self.tasks.start()

        self._unsubscribe.append(async_at_started(self._hass, start))

    async def _async_carry_out_stops(self) -> None:
        """Do what somebody asked for while the entry was not there; nothing runs yet."""
        stops = async_take_stops(self._hass, self._entry.entry_id)
        if stops is None:
            return
        if stops.halt:
            await self.tasks.halt()
        for task_id in stops.cancel:
            with contextlib.suppress(TaskNotFoundError):
                await self.tasks.cancel(task_id)
        if stops.hold:
            await self.tasks.hold()

    @property
    def is_halted(self) -> bool:
        """Return whether the kill switch is on."""
        return self.tasks.halted

    async def async_halt(self) -> None:
        """Turn the kill switch on: the phone first, it needs nobody else."""
        self.phone.halt()
        try:
            await self.tasks.halt()
        finally:
            self._async_changed()

    async def async_resume(self) -> None:
        """Turn the kill switch off, when that is durable.

        Raises:
            TaskStorageError: It could not be stored; the switch stays on.

        """
        await self.tasks.resume()
        if not self.tasks.halted:
            self.phone.resume()
        self._async_changed()

    async def async_stop(self, *, reload: bool = False) -> None:
        """End everything once, in order, each step bounded; a failed step stops no other.

        No new act starts from the first moment. The conversation closes before the
        tasks, so that what it told is still noted. ``reload`` is True when Home
        Assistant goes on: a run that is cut off then does not count as a recovery.
        """
        if self._is_stopped:
            return
        self._is_stopped = True
        self.phone.recall()
        if (task := self.tasks.current) is not None:
            self.phone.revoke(task.id)
        await self._async_close("conversation", self.foreground.close)
        close_tasks = functools.partial(self.tasks.close, counts=not reload)
        await self._async_close("tasks", close_tasks)
        await self._async_close("phone", self.phone.close)
        for transcript in self._transcripts:
            await self._async_close("transcript", transcript.close)
        await self._async_close("audit trail", self.audit.close)
        # Last: what happened while closing is told, too.
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe = []

    async def _async_close(
        self, name: str, close: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Close one part within its time; say so when it does not close."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await close()
        except Exception:
            _LOGGER.exception("The %s did not close in order", name)

    @callback
    def async_subscribe(self, listener: Callable[[], None]) -> CALLBACK_TYPE:
        """Call a listener after every change of tasks or phone."""
        self._listeners.append(listener)
        return functools.partial(self._listeners.remove, listener)

    @callback
    def _async_changed(self) -> None:
        """Tell the listeners; one that fails keeps nothing from the others."""
        for listener in tuple(self._listeners):
            try:
                listener()
            except Exception:
                _LOGGER.exception("A listener failed")

    @callback
    def _async_task_event(self, event: TaskEvent) -> None:
        """Tell the listeners that a task changed; a live step is for those who subscribe."""
        if not event.is_step:
            self._async_changed()


def _limits(options: Mapping[str, Any]) -> TaskLimits:
    """Return the numbers of the task manager that are options."""
    return TaskLimits(
        slots=options.get(CONF_SLOTS, DEFAULT_SLOTS),
        reserve_s=options.get(CONF_RESERVE, DEFAULT_RESERVE),
    )


def _build_phone(hass: HomeAssistant, data: Mapping[str, Any]) -> PhoneController:
    """Return the phone with its driver and picture, as far as they are set up."""
    driver: Driver | None = None
    if device := data.get(CONF_DEVICE):
        driver = Dx1Driver(device, board_id=data.get(CONF_BOARD_ID))
    return PhoneController(
        driver=driver,
        picture=_build_picture(hass, data.get(CONF_PICTURE) or {}),
        run_blocking=hass.async_add_executor_job,
        touch_space=TouchSpace(data[CONF_TOUCH_SPACE]),
    )


def _build_picture(
    hass: HomeAssistant, data: Mapping[str, Any]
) -> PictureSource | None:
    """Return the source of the phone's picture."""
    if url := data.get(CONF_SNAPSHOT_URL):
        return HttpSnapshotSource(async_get_clientsession(hass), url)
    if camera := data.get(CONF_CAMERA):
        return CameraSource(hass, camera)
    return None


def _build_chat(hass: HomeAssistant, entry: ConfigEntry[Any]) -> ChatModel | None:
    """Return the model that operates the phone."""
    data = entry.data.get(CONF_BACKGROUND)
    if data is None:
        return None
    chat = ChatCompletions(
        async_get_clientsession(hass),
        base_url=data[CONF_BASE_URL],
        api_key=data.get(CONF_API_KEY),
        model=data[CONF_MODEL],
    )
    return KeyWatchedChat(hass, entry, chat)


async def _connect(
    hass: HomeAssistant, entry: ConfigEntry[Any], config: SessionConfig
) -> RealtimeSession:
    """Open a realtime session."""
    data = entry.data[CONF_FOREGROUND]
    with asking_for_key(hass, entry, CONF_FOREGROUND):
        return await connect_openai(
            async_get_clientsession(hass),
            base_url=data[CONF_BASE_URL],
            api_key=data[CONF_API_KEY] or "",
            model=data[CONF_MODEL],
            config=config,
        )


def _why_not_ready(phone: PhoneController, data: Mapping[str, Any]) -> str | None:
    """Return why the phone cannot be worked now, None when it can."""
    if not data.get(CONF_DEVICE):
        return "no board is set up for the phone"
    if not data.get(CONF_BACKGROUND):
        return "no model is set up that could operate the phone"
    match phone.link:
        case LinkState.DOWN:
            return "the board at the phone does not answer"
        case LinkState.NO_PHONE:
            return "the board answers, but the phone is not connected to it"
        case LinkState.UP:
            return None
