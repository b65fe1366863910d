"""Sets the integration up through its own config flow, with the simulator as the outside."""

from collections.abc import Mapping
from typing import Any

from .client import ApiError, HassClient

DOMAIN = "aiden_duplex"
DASHBOARD = "aiden-simulation"


def flow_steps(simulator: Mapping[str, Any], device: str) -> dict[str, dict[str, Any]]:
    """Return what a person would type into each step."""
    service = {
        "base_url": simulator["openai_base_url"],
        "api_key": simulator["api_key"],
    }
    return {
        "user": {"device": device, "advanced": {"touch_space": "frame"}},
        "picture": {"snapshot_url": simulator["snapshot"]},
        # Of a second phone: no taking over.
        "models": {},
        "foreground": {**service, "model": simulator["realtime_model"]},
        "background": {**service, "model": simulator["chat_model"]},
    }


async def set_up(
    client: HassClient, simulator: Mapping[str, Any], device: str
) -> dict[str, Any]:
    """Go through the config flow and return its last result."""
    steps = flow_steps(simulator, device)
    flow = await client.start_flow(DOMAIN)
    while flow["type"] == "form":
        if flow["errors"]:
            detail = flow["description_placeholders"]
            raise ApiError(flow["step_id"], f"{flow['errors']} {detail}")
        flow = await client.submit(flow, steps[flow["step_id"]])
    return flow


async def find_entities(client: HassClient) -> dict[str, str]:
    """Return the integration's entity ids by ``platform.key``, such as ``sensor.slot_1``."""
    entries = await client.call("config/entity_registry/list")
    found = {}
    for entry in entries:
        if entry["platform"] == DOMAIN:
            platform = entry["entity_id"].partition(".")[0]
            key = entry["unique_id"].removeprefix(f"{entry['config_entry_id']}_")
            found[f"{platform}.{key}"] = entry["entity_id"]
    return found


async def make_default_agent(client: HassClient, agent_id: str) -> None:
    """Make an agent the one that Assist talks to."""
    pipelines = await client.call("assist_pipeline/pipeline/list")
    preferred = next(
        pipeline
        for pipeline in pipelines["pipelines"]
        if pipeline["id"] == pipelines["preferred_pipeline"]
    )
    changed = {name: value for name, value in preferred.items() if name != "id"}
    await client.call(
        "assist_pipeline/pipeline/update",
        pipeline_id=preferred["id"],
        **changed
        | {
            "name": "Aiden",
            "conversation_engine": agent_id,
            "conversation_language": "*",
            "prefer_local_intents": False,
        },
    )


async def save_dashboard(
    client: HassClient, entities: Mapping[str, str], simulator: Mapping[str, Any]
) -> None:
    """Save a dashboard: Aiden's own card, and the simulated phone beside it."""
    simulation = {
        "type": "markdown",
        "content": "**This is a simulation: no real phone is connected.** Tell Aiden to *turn on "
        "airplane mode*. You can be the person's finger on "
        f"[the simulator's page]({simulator['http']}/).",
    }
    aiden = {"type": "custom:aiden-duplex-card", "entity": entities["sensor.task"]}
    screen = {"type": "picture", "image": simulator["mjpeg"]}
    view = {
        "title": "Aiden",
        "type": "sections",
        "max_columns": 2,
        "sections": [
            {"type": "grid", "cards": [aiden]},
            {"type": "grid", "cards": [simulation, screen]},
        ],
    }
    await _ensure_dashboard(client)
    await client.call(
        "lovelace/config/save", url_path=DASHBOARD, config={"views": [view]}
    )


async def _ensure_dashboard(client: HassClient) -> None:
    """Create the dashboard at a first start and let every user begin with it."""
    dashboards = await client.call("lovelace/dashboards/list")
    if all(dashboard["url_path"] != DASHBOARD for dashboard in dashboards):
        await client.call(
            "lovelace/dashboards/create",
            url_path=DASHBOARD,
            title="Aiden",
            icon="mdi:cellphone",
            mode="storage",
        )
    await client.call(
        "frontend/set_system_data", key="core", value={"default_panel": DASHBOARD}
    )


async def remove_entries(client: HassClient) -> None:
    """Delete the integration's entries."""
    path = "/api/config/config_entries/entry"
    for entry in await client.request("GET", path):
        if entry["domain"] == DOMAIN:
            await client.request("DELETE", f"{path}/{entry['entry_id']}")
