"""Sets the integration up through its own config flow, with the simulator as the outside."""

from collections.abc import Mapping
from typing import Any

from .client import ApiError, HassClient

DOMAIN = "aiden_duplex"


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
    """Return the integration's entity ids by ``platform.translation key``."""
    entries = await client.call("config/entity_registry/list")
    return {
        f"{entry['entity_id'].partition('.')[0]}.{entry['translation_key']}": entry[
            "entity_id"
        ]
        for entry in entries
        if entry["platform"] == DOMAIN
    }


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
    """Save a plain dashboard: what Aiden does, and the simulated phone beside it."""
    cards: list[dict[str, Any]] = [
        {
            "type": "markdown",
            "content": "**This is a simulation: no real phone is connected.** Open Assist "
            "(top right) and say *turn on airplane mode*. You can be the person's finger "
            f"on [the simulator's page]({simulator['http']}/).",
        },
        {
            "type": "entities",
            "title": "Aiden",
            "entities": list(entities.values()),
        },
        {
            "type": "markdown",
            "content": "{% set task = '" + entities["sensor.task"] + "' %}"
            "**{{ state_attr(task, 'goal') or 'No task yet' }}**\n\n"
            "{{ state_attr(task, 'step') or '' }}\n\n"
            "{{ state_attr(task, 'result') or state_attr(task, 'error') or '' }}",
        },
        {"type": "picture", "image": simulator["mjpeg"]},
    ]
    view = {"title": "Aiden", "cards": cards}
    await client.call("lovelace/config/save", url_path=None, config={"views": [view]})


async def remove_entries(client: HassClient) -> None:
    """Delete the integration's entries."""
    path = "/api/config/config_entries/entry"
    for entry in await client.request("GET", path):
        if entry["domain"] == DOMAIN:
            await client.request("DELETE", f"{path}/{entry['entry_id']}")
