"""Pictures over HTTP: one at a time, and as motion JPEG."""

import asyncio
import contextlib
import time

from aiohttp import web

from simulator.picture import PictureMode, PictureSource, Shot

STREAM_FPS = 8
KEEPALIVE_S = 1.0
_BOUNDARY = "simulated-frame"
_MOST_STREAMS = 8
_HTML = "<!doctype html><title>Sign in</title><p>Sign in to see this camera."


class PictureRoutes:
    """``GET /snapshot.jpg`` and ``GET /stream.mjpg``."""

    def __init__(self, source: PictureSource) -> None:
        """Take the source."""
        self._source = source
        self._streams = 0
        self._closing = asyncio.Event()

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/snapshot.jpg", self._snapshot)
        app.router.add_get("/stream.mjpg", self._stream)

    def close(self) -> None:
        """End the streams."""
        self._closing.set()

    async def _snapshot(self, request: web.Request) -> web.StreamResponse:
        if self._source.mode is PictureMode.SLOW:
            await self._pause(self._source.delay_s)
        failed = self._failure()
        if failed is not None:
            return failed
        shot = await self._source.shot()
        return web.Response(
            body=shot.jpeg, content_type="image/jpeg", headers=_headers(shot)
        )

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        failed = self._failure()
        if failed is not None:
            return failed
        if self._streams >= _MOST_STREAMS:
            return web.Response(status=503, text="too many streams")
        response = web.StreamResponse(
            headers={
                "Content-Type": f"multipart/x-mixed-replace; boundary={_BOUNDARY}",
                "Cache-Control": "no-store",
            }
        )
        self._streams += 1
        try:
            await response.prepare(request)
            with contextlib.suppress(ConnectionError):
                await self._send_frames(response)
        finally:
            self._streams -= 1
        return response

    async def _send_frames(self, response: web.StreamResponse) -> None:
        """Send what changed, and the same again once a second."""
        sent = b""
        sent_at = 0.0
        while not self._closing.is_set():
            mode = self._source.mode
            if mode in {PictureMode.HTML, PictureMode.MISSING}:
                return
            shot = await self._source.shot()
            now = time.monotonic()
            if shot.jpeg != sent or now - sent_at >= KEEPALIVE_S:
                await response.write(_part(shot))
                sent, sent_at = shot.jpeg, now
            slow = self._source.delay_s if mode is PictureMode.SLOW else 0.0
            await self._pause(max(slow, 1 / STREAM_FPS))

    async def _pause(self, seconds: float) -> None:
        """Wait, but not beyond the server's end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()

    def _failure(self) -> web.Response | None:
        """Return what comes instead of a picture."""
        match self._source.mode:
            case PictureMode.HTML:
                return web.Response(text=_HTML, content_type="text/html")
            case PictureMode.MISSING:
                return web.Response(status=503, text="no picture")
            case _:
                return None


def _headers(shot: Shot) -> dict[str, str]:
    """Return what is said about a picture."""
    age = max(0.0, time.monotonic() - shot.captured_at)
    return {
        "Cache-Control": "no-store",
        "Age": str(int(age)),
        "ETag": f'"{shot.sequence}"',
        "X-Frame-Sequence": str(shot.sequence),
        "X-Frame-Age-Ms": str(round(age * 1000)),
    }


def _part(shot: Shot) -> bytes:
    """Return one part of the stream."""
    head = (
        f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\n"
        f"Content-Length: {len(shot.jpeg)}\r\nX-Frame-Sequence: {shot.sequence}\r\n\r\n"
    )
    return head.encode() + shot.jpeg + b"\r\n"
