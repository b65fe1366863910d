"""A card in a real page that is shown what no simulated phone does."""

from typing import Any, Final

FAKE: Final = """options => {
  const card = document.createElement("aiden-duplex-card");
  const calls = [];
  const connection = {
    connected: true,
    addEventListener: () => {},
    removeEventListener: () => {},
    subscribeMessage: async (take) => {
      card.take = take;
      setTimeout(() => take(options.shown));
      return async () => {};
    },
  };
  card.setConfig({ entity: "sensor.fake" });
  card.hass = {
    connection,
    language: "en-GB",
    states: options.states,
    services: { aiden_duplex: { take_over: {} } },
    hassUrl: (path) => path,
    callService: async (...call) => { calls.push(call); },
  };
  card.id = "fake";
  card.style.cssText = "position: fixed; inset: 0; overflow: auto; z-index: 9;";
  card.calls = calls;
  document.body.prepend(card);
}"""
"""A card that is shown a state of the phone that no simulation is in."""

FAKE_SHOWN: Final[dict[str, Any]] = {
    "title": "Fake",
    "loaded": True,
    "entities": {
        "task": "sensor.fake",
        "kill_switch": "switch.fake",
        "screen": "image.fake",
    },
    "phone": {"has_board": True, "halted": False, "link": "no_phone", "picture": True},
    "current": {
        "id": "task_1",
        "goal": "call mum",
        "status": "running",
        "is_waiting": False,
        "step": "tapping",
    },
    "questions": [
        {
            "id": "question_7",
            "task_id": "task_2",
            "goal": "pay the bill",
            "details": "Shall I pay 12 €?",
            "suggested_action": "Look at the screen.",
        }
    ],
    "tasks": [
        {"id": "task_1", "goal": "call mum", "status": "running", "slot": 1},
        {"id": "task_2", "goal": "pay the bill", "status": "running", "slot": 3}
        | {"is_waiting": True},
    ],
    "outstanding": 9,
}

FAKE_STATES: Final = {
    "switch.fake": {"state": "off", "attributes": {}},
    "image.fake": {
        "state": "2026-11-30T20:00:00+00:00",
        "attributes": {"entity_picture": "/static/icons/favicon-192x192.png?token=a"},
    },
}
