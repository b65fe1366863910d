"""A real browser that is signed in, and what its console said."""

from dataclasses import dataclass, field
import json
import re
import time
from typing import Final, Self

from playwright.async_api import (
    Browser as Chromium,
    ConsoleMessage,
    Page,
    Playwright,
    async_playwright,
)

from .world import World

EXECUTABLE: Final = "/usr/bin/chromium"
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DEADLINE_MS: Final = 60_000

HARMLESS: Final = {
    r"net::ERR_CONNECTION_REFUSED": "The browser says so while Home Assistant restarts.",
    r"Failed to fetch dynamically imported module: \S+/frontend_latest/": "A part of "
    "Home Assistant's own frontend that it wanted to load while it restarted.",
    r'"message":"Subscription not found\."': "Home Assistant's own, after a restart: it "
    "comes on a page without anything of ours as well. Ours are caught.",
}
"""Errors of Home Assistant's own pages: an expression, and why it is not ours."""

SIGN_IN: Final = "localStorage.setItem('hassTokens', JSON.stringify(%s));"

TELL_REJECTIONS: Final = """addEventListener("unhandledrejection", (event) => {
  // The browser itself would say no more of it than "Object".
  event.preventDefault();
  console.error("unhandled", event.reason?.stack ?? JSON.stringify(event.reason));
});"""

OVERFLOWING: Final = """card => {
  const found = [];
  const look = (root) => root.querySelectorAll("*").forEach((node) => {
    const box = node.getBoundingClientRect();
    const isHidden = !node.checkVisibility() || node.localName === "b";
    if (!isHidden && (box.right > innerWidth + 1 || box.left < -1)) {
      found.push(`${node.localName}.${node.className} ${box.left}-${box.right}`);
    }
    if (node.shadowRoot) look(node.shadowRoot);
  });
  look(card.shadowRoot);
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page");
  return found;
}"""
"""What sticks out to the sides."""

COVERED: Final = """card => {
  const found = [];
  const top = (x, y) => {
    let node = document.elementFromPoint(x, y);
    while (node?.shadowRoot) {
      const inner = node.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === node) break;
      node = inner;
    }
    return node;
  };
  for (const button of card.shadowRoot.querySelectorAll("button, input")) {
    if (!button.checkVisibility()) continue;
    const name = button.textContent || button.getAttribute("aria-label");
    button.scrollIntoView({ block: "center" });
    const box = button.getBoundingClientRect();
    if (!name) found.push(`no name: ${button.outerHTML}`);
    if (box.height < 32 || box.width < 32) found.push(`too small: ${name}`);
    const hit = top(box.left + box.width / 2, box.top + box.height / 2);
    if (hit !== button && !button.contains(hit)) found.push(`covered: ${name}`);
  }
  scrollTo(0, 0);
  return found;
}"""
"""What cannot be clicked or has no name."""


@dataclass(slots=True)
class Browser:
    """Chromium with one page that is signed in."""

    playwright: Playwright
    chromium: Chromium
    page: Page
    errors: list[str] = field(default_factory=list)
    """Errors of the console and of scripts, except harmless ones."""

    @classmethod
    async def start(cls, world: World) -> Self:
        """Start the browser and sign in as the world's user."""
        playwright = await async_playwright().start()
        chromium = await playwright.chromium.launch(
            executable_path=EXECUTABLE, args=FLAGS
        )
        context = await chromium.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(DEADLINE_MS)
        await context.add_init_script(SIGN_IN % json.dumps(_tokens(world)))
        await context.add_init_script(TELL_REJECTIONS)
        page = await context.new_page()
        browser = cls(playwright=playwright, chromium=chromium, page=page)

        def take(message: ConsoleMessage) -> None:
            if message.type == "error":
                browser._take(f"{message.text} at {message.location['url']}")

        page.on("console", take)
        page.on("pageerror", lambda error: browser._take(f"script: {error}"))
        return browser

    async def stop(self) -> None:
        """Close everything."""
        await self.chromium.close()
        await self.playwright.stop()

    def _take(self, text: str) -> None:
        """Keep an error unless it is known to be harmless."""
        if not any(re.search(pattern, text) for pattern in HARMLESS):
            self.errors.append(text)


def _tokens(world: World) -> dict[str, object]:
    """Return what the frontend keeps of a sign-in."""
    url = world.hass.url
    return {
        "access_token": world.client.token,
        "token_type": "Bearer",
        "expires_in": 1800,
        "hassUrl": url,
        "clientId": f"{url}/",
        "expires": int(time.time() * 1000) + 1_800_000,
        "refresh_token": "",
    }
