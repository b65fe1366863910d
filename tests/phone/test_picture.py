"""Pictures over HTTP, from a real server on this host, with its faults."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
import logging

import aiohttp
from aiohttp import web
import pytest

from custom_components.aiden_duplex.phone import picture
from custom_components.aiden_duplex.phone.picture import HttpSnapshotSource
from custom_components.aiden_duplex.phone.types import PictureError

from .screens import captured, screen

pytestmark = pytest.mark.usefixtures("socket_enabled")

JPEG = captured(screen(498, 1080))
type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.asynccontextmanager
async def source(
    handler: Handler, path: str = "/snapshot.jpg", user: str = ""
) -> AsyncIterator[HttpSnapshotSource]:
    """Serve with a handler; give a source that asks it."""
    app = web.Application()
    app.router.add_get("/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        async with aiohttp.ClientSession() as session:
            yield HttpSnapshotSource(session, f"http://{user}127.0.0.1:{port}{path}")
    finally:
        await runner.cleanup()


def answer(
    body: bytes,
    status: int = 200,
    content_type: str = "image/jpeg",
    headers: dict[str, str] | None = None,
) -> Handler:
    """Return a handler that always answers the same."""

    async def handle(_request: web.Request) -> web.Response:
        return web.Response(
            body=body,
            status=status,
            content_type=content_type,
            headers=headers,
        )

    return handle


@pytest.mark.parametrize(
    ("headers", "age_s"),
    [
        ({}, 0.0),
        ({"Age": "0"}, 0.0),
        ({"Age": "3"}, 3.0),
        ({"Age": "3", "X-Frame-Age-Ms": "3400"}, 3.4),
        ({"Age": "soon"}, 0.0),
        ({"Age": "-5"}, 0.0),
    ],
)
async def test_a_snapshot_comes_with_its_time_and_number(
    headers: dict[str, str], age_s: float
) -> None:
    """Captured when it was asked for, or earlier if the source admits an age."""
    async with source(
        answer(JPEG, headers={"X-Frame-Sequence": "17", **headers})
    ) as it:
        before = asyncio.get_running_loop().time()
        frame = await it.fetch()
        after = asyncio.get_running_loop().time()
    assert frame.data == JPEG
    assert (frame.content_type, frame.sequence) == ("image/jpeg", "17")
    assert before - age_s - 1e-9 <= frame.captured_at <= after - age_s


async def test_a_source_that_does_not_number_is_fine() -> None:
    """Most do not; a wrong content type is the server's own affair."""
    async with source(answer(JPEG, content_type="application/octet-stream")) as it:
        frame = await it.fetch()
    assert (frame.data, frame.sequence) == (JPEG, None)


HTML = (
    b"<html><head><style>b{}</style></head><body><h1>Please log  in</h1></body></html>"
)


@pytest.mark.parametrize(
    ("handler", "sentences"),
    [
        (
            answer(HTML, content_type="text/html"),
            ["no JPEG or PNG", "text/html", "“Please log in”"],
        ),
        (
            answer(HTML, 401, "text/html"),
            ["answered 401", "text/html", "“Please log in”"],
        ),
        (answer(b"", 404, "text/plain"), ["answered 404 (text/plain)"]),
        (answer(b"", 204), ["answered 204"]),
        (answer(b""), ["answered with nothing"]),
        (answer(b"GIF89a\x00\x00", content_type="image/gif"), ["image/gif"]),
        (
            answer(b"--frame\r\nContent-Type: image/jpeg", content_type="multipart/x"),
            ["no JPEG or PNG picture but multipart/x: “--frame"],
        ),
        (answer(b"\x00\x01\x02", content_type="image/jpeg"), ["image/jpeg"]),
    ],
    ids=["html", "login", "gone", "no content", "empty", "gif", "stream", "binary"],
)
async def test_what_is_no_picture_is_described(
    handler: Handler, sentences: list[str]
) -> None:
    """Status, content type, first words."""
    async with source(handler) as it:
        with pytest.raises(PictureError) as err:
            await it.fetch()
    for sentence in sentences:
        assert sentence in str(err.value)


async def test_redirects_are_followed_but_not_in_circles() -> None:
    """A camera behind a proxy may redirect once."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/old":
            raise web.HTTPFound("/new")
        if request.path == "/new":
            return web.Response(body=JPEG)
        raise web.HTTPFound(request.path)

    async with source(handle, "/old") as it:
        assert (await it.fetch()).data == JPEG
    async with source(handle, "/round") as it:
        with pytest.raises(PictureError, match="in circles"):
            await it.fetch()


async def test_a_source_that_sends_too_much_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An endless answer must not fill the memory."""
    monkeypatch.setattr(picture, "MAX_BYTES", 1024 * 1024)
    sent = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            await response.write(JPEG[:3])
            for _ in range(1000):
                await response.write(bytes(64 * 1024))
                sent += 64 * 1024
        return response

    async with source(handle) as it:
        with pytest.raises(PictureError, match="more than 1 MB"):
            await it.fetch()
    assert sent < 32 * 1024 * 1024


@pytest.mark.parametrize("path", ["/head", "/body"])
async def test_a_source_that_hangs_is_given_up(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """In the headers or in the middle of the picture."""
    monkeypatch.setattr(picture, "TIMEOUT_S", 0.1)
    given_up = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if request.path == "/body":
            await response.prepare(request)
            await response.write(JPEG[:100])
        await given_up.wait()
        return response

    async with source(handle, path) as it:
        with pytest.raises(PictureError, match="no picture within"):
            await it.fetch()
        given_up.set()


async def test_a_transfer_that_breaks_is_a_picture_error() -> None:
    """Half a JPEG is not handed on."""

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(JPEG))})
        await response.prepare(request)
        await response.write(JPEG[:5000])
        assert request.transport is not None
        request.transport.abort()
        return response

    async with source(handle) as it:
        with pytest.raises(PictureError, match="the transfer broke"):
            await it.fetch()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://127.0.0.1:1/x.jpg", "cannot connect"),
        ("http://", "no valid http"),
        ("ftp://127.0.0.1/x.jpg", "no valid http or https address"),
        ("not an address", "no valid http or https address"),
    ],
)
async def test_an_address_that_leads_nowhere_says_so(url: str, sentence: str) -> None:
    """Whatever was typed into the form."""
    async with aiohttp.ClientSession() as session:
        with pytest.raises(PictureError, match=sentence):
            await HttpSnapshotSource(session, url).fetch()


async def test_name_and_password_are_used_and_never_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nor the query, which may hold a token."""
    seen: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get("Authorization", ""))
        assert request.query["token"] == "hush"
        return web.Response(status=403, text="no")

    caplog.set_level(logging.DEBUG)
    async with source(handle, "/s.jpg?token=hush", user="anna:se%40cret@") as it:
        with pytest.raises(PictureError) as err:
            await it.fetch()
    assert seen == ["Basic " + b64encode(b"anna:se@cret").decode()]
    ours = [r.getMessage() for r in caplog.records if "aiden" in r.name]
    for text in (str(err.value), *ours):
        for secret in ("anna", "cret", "hush"):
            assert secret not in text
