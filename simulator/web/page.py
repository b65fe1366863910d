"""A page for people: see the phone, and be its owner's finger."""

from aiohttp import web

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Aiden simulator</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem; background: #f4f5f7; color: #16181d; }
  h1 { font-size: 1.25rem; margin: 0 0 1rem; }
  main { display: flex; flex-wrap: wrap; gap: 2rem; }
  #phone { width: 405px; height: 900px; border-radius: 36px; overflow: hidden; position: relative;
    box-shadow: 0 0 0 10px #23262d, 0 8px 24px #0005; background: #000; touch-action: none; }
  #phone img { position: absolute; height: 100%; left: 50%; transform: translateX(-50%);
    user-select: none; -webkit-user-drag: none; cursor: pointer; }
  button, input { font: inherit; padding: .4rem .9rem; margin: 0 .3rem .6rem 0; }
  pre { background: #fff; border: 1px solid #d8dbe2; border-radius: 8px; padding: .8rem;
    max-width: 34rem; white-space: pre-wrap; }
</style>
<h1>Aiden simulator: nothing here is a real phone</h1>
<main>
  <div id="phone"><img src="/stream.mjpg" alt="Picture of the simulated phone" draggable="false"></div>
  <div>
    <p>Click or drag on the picture: that is the person's finger.</p>
    <p>
      <button data-finger="unlock">Unlock</button>
      <button data-finger="lock">Lock</button>
      <button data-finger="home">Home</button>
      <button data-finger="back">Back</button>
      <button data-finger="recents">Recent apps</button>
      <br>
      <input id="text" placeholder="Text for the focused field">
      <button id="type">Type</button>
      <br>
      <button id="wake">Press the board's wake button</button>
    </p>
    <p id="error" role="status"></p>
    <pre id="state">...</pre>
  </div>
</main>
<script>
  const byId = (id) => document.getElementById(id);
  async function post(path, body) {
    const response = await fetch(path, { method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" } });
    byId("error").textContent = response.ok ? "" : (await response.json()).error;
    await show();
  }
  async function show() {
    const phone = await (await fetch("/control/phone")).json();
    const board = await (await fetch("/control/board")).json();
    const hid = await (await fetch("/control/hid?since=999999999")).json();
    const on = Object.keys(phone.toggles).filter((key) => phone.toggles[key]);
    byId("state").textContent = [
      `Seed ${phone.seed}, screen: ${phone.screen}${phone.locked ? `, locked (PIN ${phone.pin})` : ""}`,
      `Switched on: ${on.join(", ")}`,
      `Focused: ${phone.focused ?? "nothing"}`,
      `Notes: ${phone.notes.length}, alarms: ${phone.alarms.length}, ` +
        `messages sent: ${phone.messages_sent.length}`,
      `HID reports: ${hid.count}, held: ${Object.values(hid.held).flat().join(", ") || "nothing"}`,
      `Board: ${board.plugged ? "plugged" : "unplugged"}, USB ${board.usb_state ? "mounted" : "none"}, ` +
        `boots ${board.boots}`,
    ].join("\\n");
  }
  const glass = byId("phone");
  let start = null;
  const place = (event) => {
    const box = glass.getBoundingClientRect();
    const clamp = (value) => Math.min(1000, Math.max(0, value));
    return { x: clamp((event.clientX - box.left) / box.width * 1000),
      y: clamp((event.clientY - box.top) / box.height * 1000), at: event.timeStamp };
  };
  glass.onpointerdown = (event) => { start = place(event); glass.setPointerCapture(event.pointerId); };
  glass.onpointerup = (event) => {
    if (!start) return;
    const from = start, to = place(event), seconds = (to.at - from.at) / 1000;
    start = null;
    const far = Math.hypot(to.x - from.x, (to.y - from.y) * 2.2) > 30;
    post("/control/finger", far
      ? { action: "swipe", x: from.x, y: from.y, to_x: to.x, to_y: to.y,
          seconds: Math.min(2, Math.max(0.08, seconds)) }
      : { action: "tap", x: from.x, y: from.y, hold_s: Math.min(1, Math.max(0.06, seconds)) });
  };
  for (const button of document.querySelectorAll("[data-finger]"))
    button.onclick = () => post("/control/finger", { action: button.dataset.finger });
  byId("type").onclick = () => post("/control/finger", { action: "type", text: byId("text").value });
  byId("wake").onclick = () => post("/control/board", { action: "wake" });
  show();
  setInterval(show, 1000);
</script>
</html>
"""


async def get_page(_request: web.Request) -> web.Response:
    """Return the page."""
    return web.Response(text=_PAGE, content_type="text/html")
