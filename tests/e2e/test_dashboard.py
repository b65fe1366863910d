"""The ready dashboard in a real browser: every state, both widths, both themes."""

import asyncio
from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Locator, ViewportSize, expect
import pytest

from simulator.home.setup import DOMAIN, save_dashboard

from .browser import COVERED, DEADLINE_MS, OVERFLOWING, Browser
from .conftest import Run
from .fake_card import FAKE, FAKE_SHOWN, FAKE_STATES
from .world import World

PHONE: Final[ViewportSize] = {"width": 360, "height": 780}
DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 800}
WIDTHS: Final = {"phone": PHONE, "desktop": DESKTOP}
THEMES: Final = ("light", "dark")
PATH: Final = "aiden-view"
LONG_GOAL: Final = f"write a note saying {'many words and ' * 12}an end"
PROBE: Final = '<img src=x onerror="window.probed = true"> turn on airplane mode'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the pictures go: AIDEN_SCREENSHOTS, or a temporary folder."""
    if chosen := os.environ.get("AIDEN_SCREENSHOTS"):
        path = Path(chosen)
        path.mkdir(parents=True, exist_ok=True)
        return path
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture(scope="module")
def browser(world: World, runner: asyncio.Runner) -> Iterator[Browser]:
    """Return a browser that shows the dashboard made by the strategy."""

    async def start() -> Browser:
        await world.client.call(
            "lovelace/dashboards/create", url_path=PATH, title="Phone", mode="storage"
        )
        await world.client.call(
            "lovelace/config/save",
            url_path=PATH,
            config={"strategy": {"type": "custom:aiden-duplex"}},
        )
        value = await Browser.start(world)
        # The first page of a new browser compiles the whole frontend, which gives a
        # strategy five seconds only.
        await value.page.goto(f"{world.hass.url}/profile")
        await expect(value.page.locator("home-assistant-main")).to_be_visible()
        await value.page.goto(f"{world.hass.url}/{PATH}")
        card = value.page.locator("aiden-duplex-card")
        await expect(card).to_be_visible(timeout=DEADLINE_MS)
        return value

    value = runner.run(start())
    yield value
    runner.run(value.stop())


@pytest.fixture
def card(browser: Browser) -> Iterator[Locator]:
    """Return the card; what the console said since the last test fails this one."""
    yield browser.page.locator("aiden-duplex-card")
    errors = list(browser.errors)
    browser.errors.clear()
    assert errors == []


async def _look(browser: Browser, card: Locator, folder: Path, name: str) -> None:
    """Look at the view in both widths and themes; all must fit and be reachable."""
    page = browser.page
    shades = {}
    for theme in THEMES:
        await page.emulate_media(color_scheme=theme)
        for width, size in WIDTHS.items():
            await page.set_viewport_size(size)
            await expect(card).to_be_visible()
            # The sidebar slides away for a moment when the window becomes narrow.
            for fault in (COVERED, OVERFLOWING):
                found = await _settled(card, fault)
                assert found == [], f"{name}, {width}"
            # Written here: the browser's client would leave a thread behind.
            picture = folder / f"{name}-{width}-{theme}.png"
            picture.write_bytes(await page.screenshot())
        shades[theme] = await card.evaluate(
            "card => getComputedStyle(card.shadowRoot.querySelector('.goal')).color"
        )
    assert shades["light"] != shades["dark"], "the theme changed nothing"
    await page.emulate_media(color_scheme="light")


async def _settled(card: Locator, look: str) -> list[str]:
    """Look until nothing is found, at most for some seconds; return what stays."""
    found: list[str] = await card.evaluate(look)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(5):
            while found:
                found = await card.evaluate(look)
    return found


async def _create(world: World, goal: str) -> str:
    """Create a task; return its id."""
    created = await world.action("create_task", goal=goal, repeat=True)
    task_id: str = created["task_id"]
    return task_id


async def _task(world: World, task_id: str) -> dict[str, Any]:
    """Return a task as it is now."""
    task: dict[str, Any] = (await world.action("query_tasks", task_id=task_id))[
        "tasks"
    ][0]
    return task


def test_idle(
    world: World, run: Run, browser: Browser, card: Locator, folder: Path
) -> None:
    """Nothing to do: the view says so and takes a sentence, which is answered."""

    async def scenario() -> None:
        await expect(card.locator(".task .status")).to_have_text("Idle")
        await expect(card.locator("header")).to_contain_text("Phone connected")
        await _look(browser, card, folder, "idle")
        await card.get_by_label("What shall I do?").fill("what time is it?")
        await card.get_by_role("button", name="Send").press("Enter")
        reply = card.locator(".log p.aiden")
        await expect(reply).to_contain_text("It is", timeout=DEADLINE_MS)

    run(scenario())


def test_the_development_dashboard(
    world: World, run: Run, browser: Browser, card: Locator, folder: Path
) -> None:
    """A typed wish is answered and done, with the simulated phone to be seen beside it."""

    async def scenario() -> None:
        page = browser.page
        await world.fresh(1)
        await save_dashboard(world.client, world.entities, world.simulator.ready)
        await page.set_viewport_size(DESKTOP)
        await page.goto(world.hass.url)
        await expect(card).to_be_visible(timeout=DEADLINE_MS)
        await expect(page.locator("hui-picture-card img")).to_be_visible()
        assert await _settled(card, OVERFLOWING) == []
        await card.get_by_label("What shall I do?").fill("turn on airplane mode")
        await card.get_by_label("What shall I do?").press("Enter")
        status = card.locator(".task .status")
        await expect(status).to_have_text("Working", timeout=DEADLINE_MS)
        await expect(card.locator(".log p.aiden")).not_to_have_text("Aiden: …")
        # In the middle of the work the phone's settings can be seen.
        await world.until(lambda: _has_left_home(world))
        (folder / "development.png").write_bytes(await page.screenshot())
        await expect(status).to_have_text("Done", timeout=DEADLINE_MS)
        assert await world.toggle("airplane_mode")
        await page.goto(f"{world.hass.url}/{PATH}")
        await expect(card).to_be_visible(timeout=DEADLINE_MS)

    run(scenario())


async def _has_left_home(world: World) -> bool:
    """Return whether the phone shows an app and stands still."""
    phone = await world.control("phone")
    return phone["screen"] not in ("home", "lock") and not phone["moving"]


def test_running(
    world: World, run: Run, browser: Browser, card: Locator, folder: Path
) -> None:
    """The live step changes while the phone works; the button stops the task."""

    async def scenario() -> None:
        await world.fresh(3)
        task_id = await _create(world, LONG_GOAL)
        step = card.locator(".step")
        await expect(step).not_to_be_empty(timeout=DEADLINE_MS)
        first = await step.text_content()
        await expect(step).not_to_have_text(first or "", timeout=DEADLINE_MS)
        await expect(card.locator(".task .status")).to_have_text("Working")
        await _look(browser, card, folder, "running")
        assert not world.ended(task_id), "the task ended before it was looked at"
        await card.get_by_role("button", name="Stop this task", exact=True).click()
        await expect(card.locator(".task .status")).to_have_text(
            "Cancelled", timeout=DEADLINE_MS
        )
        assert (await _task(world, task_id))["status"] == "cancelled"

    run(scenario())


def test_needs_you(
    world: World, run: Run, browser: Browser, card: Locator, folder: Path
) -> None:
    """The phone is locked: a finger opens it, the button lets the same task go on."""

    async def scenario() -> None:
        await world.fresh(1)
        await world.control("phone", {"set": {"locked": True}})
        task_id = await _create(world, "turn on airplane mode")
        question = card.locator(".question")
        await expect(question).to_contain_text("locked", timeout=DEADLINE_MS)
        await expect(card.locator(".task .status")).to_have_text("Needs you")
        await _look(browser, card, folder, "needs-you")
        await question.get_by_label("Your answer").fill("wait")
        await expect(question.get_by_role("button", name="Answer")).to_be_visible()
        await question.get_by_label("Your answer").fill("")
        await world.control("finger", {"action": "unlock"})
        await question.get_by_role("button", name="Done").click()
        await expect(question).to_have_count(0)
        await expect(card.locator(".task .status")).to_have_text(
            "Done", timeout=DEADLINE_MS
        )
        assert world.kinds(task_id)[-3:] == ["answered", "running", "completed"]
        assert await world.toggle("airplane_mode")

    run(scenario())


def test_a_question_is_refused(world: World, run: Run, card: Locator) -> None:
    """Refusing ends the task: it is not achieved, and the view says so."""

    async def scenario() -> None:
        await world.fresh(1)
        await world.control("phone", {"set": {"locked": True}})
        task_id = await _create(world, "turn on airplane mode")
        question = card.locator(".question")
        await question.get_by_role("button", name="Refuse").click()
        await expect(card.locator(".task .status")).to_have_text("Ended, not achieved")
        assert (await _task(world, task_id))["outcome"] == "not_achieved"

    run(scenario())


def test_failed(
    world: World, run: Run, browser: Browser, card: Locator, folder: Path
) -> None:
    """A model that refuses the key: the reason is shown, and markup is only text."""

    async def scenario() -> None:
        await world.fresh(1)
        await world.control("models", {"chat": {"mode": "unauthorized"}})
        await _create(world, PROBE)
        await expect(card.locator(".task .status")).to_have_text(
            "Failed", timeout=DEADLINE_MS
        )
        await world.control("models", {"chat": {"mode": "ok"}})
        await expect(card.locator(".goal")).to_have_text(PROBE)
        await expect(card.locator(".task .text").first).not_to_be_empty()
        assert await card.locator(".task img, .tasks img").count() == 0
        assert await browser.page.evaluate("window.probed") is None
        await _look(browser, card, folder, "failed")

    run(scenario())


def test_a_refused_action_is_told_in_words(
    world: World, run: Run, card: Locator
) -> None:
    """An answer that comes too late is refused; the view says why."""

    async def scenario() -> None:
        await card.evaluate(
            "card => card._call('aiden_duplex', 'cancel_task', { task_id: 'task_0' },"
            " { entity_id: card._config.entity })"
        )
        await expect(card.locator(".banner.error")).to_contain_text("task_0")

    run(scenario())


def test_a_person_takes_over_and_stops_everything(
    world: World, run: Run, browser: Browser, card: Locator, folder: Path
) -> None:
    """The picture is shown when it may be; a person does a part; the switch stops all."""

    async def scenario() -> None:
        entry = next(
            entry
            for entry in await world.client.request(
                "GET", "/api/config/config_entries/entry"
            )
            if entry["domain"] == DOMAIN
        )
        path = "/api/config/config_entries/options/flow"
        flow = await world.client.request("POST", path, {"handler": entry["entry_id"]})
        options = {"show_picture": True}
        await world.client.request("POST", f"{path}/{flow['flow_id']}", options)
        await world.until(world.linked)
        await expect(card.locator("header")).to_contain_text("Phone connected")

        await world.fresh(3)
        task_id = await _create(world, LONG_GOAL)
        picture = card.get_by_role("img", name="The phone's screen")
        await expect(picture).to_be_visible(timeout=DEADLINE_MS)
        assert await picture.evaluate("image => image.naturalWidth") > 100
        await card.get_by_role("button", name="Wait, I'll do this part").click()
        question = card.locator(".question")
        await expect(question).to_be_visible(timeout=DEADLINE_MS)
        await _look(browser, card, folder, "taken-over")
        await question.get_by_role("button", name="Done").click()
        await expect(card.locator(".task .status")).to_have_text(
            "Working", timeout=DEADLINE_MS
        )
        await card.get_by_role("button", name="Stop everything").click()
        await expect(card.locator(".banner").first).to_contain_text("stopped")
        assert (await world.state("switch.kill_switch"))["state"] == "on"
        await _look(browser, card, folder, "halted")
        await card.get_by_role("button", name="Allow again").click()
        await expect(card.locator(".banner").first).to_be_hidden()
        await world.action("cancel_task", task_id=task_id)

    run(scenario())


def test_what_the_buttons_do(world: World, run: Run, browser: Browser) -> None:
    """Each button names the task and the question that it stood beside."""

    async def scenario() -> None:
        page = browser.page
        await page.evaluate(FAKE, {"shown": FAKE_SHOWN, "states": FAKE_STATES})
        card = page.locator("#fake")
        await expect(card.locator("header")).to_contain_text("no phone is connected")
        await expect(card.locator(".question")).to_contain_text("About: pay the bill")
        await expect(card.locator(".tasks li")).to_have_count(1)
        await expect(card.locator(".tasks li")).to_contain_text("pay the bill")
        await expect(card.locator(".tasks")).to_contain_text("9 outstanding in all")
        await expect(card.get_by_role("img", name="The phone's screen")).to_be_visible()
        await expect(card.locator(".talk")).to_contain_text("not available")

        await card.get_by_label("Your answer").fill(" yes, but <b>slowly</b> ")
        await card.get_by_label("Your answer").press("Enter")
        for name in (
            "Refuse",
            "Wait, I'll do this part",
            "Stop this task",
            "Stop: pay the bill",
            "Stop everything",
        ):
            await card.get_by_role("button", name=name, exact=True).click()
        question = {"task_id": "task_2", "question_id": "question_7"}
        typed = "yes, but <b>slowly</b>"
        assert await card.evaluate(
            "card => card.calls.map(call => call.slice(0, 3))"
        ) == [
            [
                "aiden_duplex",
                "respond",
                question | {"decision": "answered", "message": typed},
            ],
            [
                "aiden_duplex",
                "respond",
                question | {"decision": "refused", "message": typed},
            ],
            ["aiden_duplex", "take_over", {"task_id": "task_1"}],
            ["aiden_duplex", "cancel_task", {"task_id": "task_1"}],
            ["aiden_duplex", "cancel_task", {"task_id": "task_2"}],
            ["switch", "turn_on", {}],
        ]
        targets = await card.evaluate(
            "card => card.calls.map(call => call[3].entity_id)"
        )
        assert targets == ["sensor.fake"] * 5 + ["switch.fake"]

        halted = FAKE_SHOWN["phone"] | {"halted": True}
        await card.evaluate("(card, phone) => card.take({ phone })", halted)
        await expect(card.locator(".banner").first).to_contain_text(
            "Everything is stopped"
        )
        await expect(card.get_by_role("button", name="Allow again")).to_be_visible()
        await card.evaluate("card => card.take({ loaded: false })")
        await expect(card.locator(".banner").first).to_contain_text("is not running")
        await expect(card.locator(".body")).to_have_js_property("inert", value=True)
        await card.evaluate("card => card.remove()")

    run(scenario())


def test_a_consent_is_allowed_or_refused(
    world: World, run: Run, browser: Browser
) -> None:
    """Yes or no: there is no place for other words, which would be no yes."""

    async def scenario() -> None:
        question = FAKE_SHOWN["questions"][0] | {"needs_consent": True}
        shown = FAKE_SHOWN | {"questions": [question]}
        await browser.page.evaluate(FAKE, {"shown": shown, "states": FAKE_STATES})
        card = browser.page.locator("#fake")
        asked = card.locator(".question")
        await expect(asked).to_contain_text("Shall I pay 12 €?")
        await expect(asked.get_by_label("Your answer")).to_be_hidden()
        await expect(asked.get_by_role("button", name="Done")).to_have_count(0)
        for name in ("Allow", "Refuse"):
            await asked.get_by_role("button", name=name, exact=True).click()
        calls = await card.evaluate("card => card.calls.map(call => call[2])")
        assert [(call["decision"], call["message"]) for call in calls] == [
            ("answered", "Yes, do it."),
            ("refused", "No. Do not do this."),
        ]
        assert all(call["question_id"] == "question_7" for call in calls)
        await card.evaluate("card => card.remove()")

    run(scenario())


def test_it_is_offered_in_the_pickers(
    world: World, run: Run, browser: Browser, card: Locator
) -> None:
    """The frontend knows the card, its form and the dashboard."""

    async def scenario() -> None:
        page = browser.page
        cards = await page.evaluate("window.customCards.map(card => card.type)")
        assert "aiden-duplex-card" in cards
        strategies = await page.evaluate(
            "window.customStrategies.map(item => [item.type, item.strategyType])"
        )
        assert ["aiden-duplex", "dashboard"] in strategies
        form = await page.evaluate(
            "customElements.get('aiden-duplex-card').getConfigForm()"
        )
        assert [field["name"] for field in form["schema"]] == ["entity"]
        await page.goto(f"{world.hass.url}/config/lovelace/dashboards")
        await page.get_by_role("button", name="Add dashboard").click()
        await expect(
            page.get_by_role("button", name="Aiden Duplex", exact=True)
        ).to_be_visible()
        await page.goto(f"{world.hass.url}/{PATH}")
        await expect(card).to_be_visible(timeout=DEADLINE_MS)

    run(scenario())


def test_it_goes_on_after_a_restart(
    world: World, run: Run, browser: Browser, card: Locator
) -> None:
    """Home Assistant restarts: the view comes back without loading the page again."""

    async def scenario() -> None:
        await browser.page.evaluate("window.sameness = 1")
        await world.hass.stop()
        await expect(card.locator(".banner").first).to_contain_text("connection")
        await world.restart()
        await world.until(world.linked)
        await expect(card.locator("header")).to_contain_text(
            "Phone connected", timeout=DEADLINE_MS
        )
        await expect(card.locator(".banner").first).to_be_hidden()
        task_id = await _create(world, "turn on airplane mode")
        await world.until(lambda: world.ended(task_id))
        await expect(card.locator(".task .status")).to_have_text("Done")
        assert await browser.page.evaluate("window.sameness") == 1

    run(scenario())
