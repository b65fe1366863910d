"""Control beside the phone's own means: truth, the person's finger, cables, faults."""

import secrets
from typing import Any

from aiohttp import web

from simulator.board.host import WAKE_S, BoardHost
from simulator.person import TAP_S, Person
from simulator.phone.keyboard import Command
from simulator.phone.persona import App, make_persona
from simulator.phone.phone import VirtualPhone
from simulator.phone.state import PhoneState
from simulator.phone.truth import (
    check_place,
    check_values,
    open_place,
    set_values,
    truth,
)
from simulator.picture import PictureMode, PictureSource
from simulator.web.json_body import BadRequestError, answer, number, text

_LONGEST_S = 60.0


class ControlRoutes:
    """Everything under ``/control``."""

    def __init__(
        self, phone: VirtualPhone, board: BoardHost, picture: PictureSource
    ) -> None:
        """Take what is controlled."""
        self._phone = phone
        self._board = board
        self._picture = picture
        self._person = Person(phone)

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/control/phone", self._get_phone)
        app.router.add_post("/control/phone", self._post_phone)
        app.router.add_post("/control/finger", self._post_finger)
        app.router.add_get("/control/hid", self._get_hid)
        app.router.add_get("/control/board", self._get_board)
        app.router.add_post("/control/board", self._post_board)
        app.router.add_get("/control/picture", self._get_picture)
        app.router.add_post("/control/picture", self._post_picture)

    async def _get_phone(self, request: web.Request) -> web.Response:
        return web.json_response(truth(self._phone))

    async def _post_phone(self, request: web.Request) -> web.Response:
        return await answer(request, self._change_phone)

    async def _post_finger(self, request: web.Request) -> web.Response:
        return await answer(request, self._use_finger)

    async def _post_board(self, request: web.Request) -> web.Response:
        return await answer(request, self._change_board)

    async def _post_picture(self, request: web.Request) -> web.Response:
        return await answer(request, self._change_picture)

    async def _get_board(self, request: web.Request) -> web.Response:
        return web.json_response(self._board.state())

    async def _get_picture(self, request: web.Request) -> web.Response:
        return web.json_response(self._picture_state())

    async def _get_hid(self, request: web.Request) -> web.Response:
        since = request.query.get("since", "0")
        if not since.isdecimal():
            return web.json_response({"error": "'since' must be a number"}, status=400)
        log = self._board.usb.log
        return web.json_response(
            {
                "count": log.count,
                "held": self._phone.held(),
                "reports": [entry.as_json() for entry in log.since(int(since))],
            }
        )

    async def _change_phone(self, body: dict[str, Any]) -> dict[str, Any]:
        """``reset`` (seed), then ``set`` (values), then ``open`` (place)."""
        unknown = body.keys() - {"reset", "set", "open"}
        if unknown:
            raise BadRequestError(f"unknown: {', '.join(sorted(unknown))}")
        values = body.get("set", {})
        if not isinstance(values, dict):
            raise BadRequestError("'set' must be an object")
        check_values(values)
        place = text(body, "open", "")
        if place:
            check_place(place)
        if "reset" in body:
            self._phone.reset(make_persona(int(number(body, "reset"))))

        def change(state: PhoneState) -> None:
            set_values(state, values)
            if place:
                open_place(state, place)

        self._phone.change(change)
        return truth(self._phone)

    async def _use_finger(self, body: dict[str, Any]) -> dict[str, Any]:
        """Do what ``action`` says; return the truth afterwards."""
        person = self._person
        match text(body, "action"):
            case "unlock":
                person.unlock()
            case "lock":
                person.lock()
            case "home" | "back" | "recents" | "enter" as key:
                person.press(Command(key))
            case "type":
                person.write(text(body, "text"))
            case "tap" if "label" in body:
                await person.tap_label(text(body, "label"))
            case "tap":
                hold_s = _seconds(body, "hold_s", TAP_S)
                await person.tap(_axis(body, "x"), _axis(body, "y"), hold_s)
            case "swipe":
                start = _axis(body, "x"), _axis(body, "y")
                end = _axis(body, "to_x"), _axis(body, "to_y")
                await person.swipe(start, end, _seconds(body, "seconds", 0.3))
            case "take_over":
                app = text(body, "app", App.PHOTOS)
                if app not in list(App):
                    raise BadRequestError(f"there is no app called {app!r}")
                await person.take_over(App(app))
            case action:
                raise BadRequestError(f"unknown action {action!r}")
        return truth(self._phone)

    async def _change_board(self, body: dict[str, Any]) -> dict[str, Any]:
        """Do what ``action`` says; return the board's state afterwards."""
        board = self._board
        match text(body, "action"):
            case "plug":
                await board.plug()
            case "unplug":
                await board.unplug()
            case "reboot":
                board.reboot()
            case "usb_plug":
                board.usb.plug()
            case "usb_unplug":
                board.usb.unplug()
            case "wake":
                board.press_wake(_seconds(body, "hold_s", WAKE_S))
            case "noise":
                board.make_noise(_noise(body), to_host=body.get("to") != "board")
            case action:
                raise BadRequestError(f"unknown action {action!r}")
        return board.state()

    async def _change_picture(self, body: dict[str, Any]) -> dict[str, Any]:
        """``mode``, and ``delay_s`` for the mode ``slow``."""
        mode = text(body, "mode")
        if mode not in list(PictureMode):
            raise BadRequestError(f"unknown mode {mode!r}")
        delay_s = _seconds(body, "delay_s", 3.0)
        await self._picture.set_mode(PictureMode(mode), delay_s)
        return self._picture_state()

    def _picture_state(self) -> dict[str, Any]:
        return {"mode": self._picture.mode, "delay_s": self._picture.delay_s}


def _axis(body: dict[str, Any], key: str) -> float:
    """Return a place in thousandths."""
    value = number(body, key)
    if not 0 <= value <= 1000:
        raise BadRequestError(f"{key!r} must be 0 to 1000")
    return value


def _seconds(body: dict[str, Any], key: str, default: float) -> float:
    """Return a time."""
    value = number(body, key, default)
    if not 0 <= value <= _LONGEST_S:
        raise BadRequestError(f"{key!r} must be 0 to {_LONGEST_S:.0f} seconds")
    return value


def _noise(body: dict[str, Any]) -> bytes:
    """Return the bytes given as ``hex``, or as many random ones as ``bytes`` says."""
    if "hex" in body:
        return bytes.fromhex(text(body, "hex"))
    count = int(number(body, "bytes", 64))
    if not 0 <= count <= 4096:
        raise BadRequestError("'bytes' must be 0 to 4096")
    return secrets.token_bytes(count)
