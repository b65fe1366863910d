"""A damaged journal is an issue that stays until the person has seen it."""

from http import HTTPStatus

from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.runtime import storage_folder

from .conftest import do_task


@pytest.mark.parametrize("name", ["tasks.journal", "sessions/backend.journal"])
async def test_damage_is_told_and_confirmed(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    issue_registry: ir.IssueRegistry,
    hass_client: ClientSessionGenerator,
    name: str,
) -> None:
    """The rest is there, the issue stays over a reload, and goes when it was seen."""
    assert await async_setup_component(hass, "repairs", {})
    task = await do_task(hass, entry)
    issue_id = f"journal_damaged_{entry.entry_id}"
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    await hass.config_entries.async_unload(entry.entry_id)
    path = storage_folder(hass, entry.entry_id) / name
    path.write_bytes(b"no record\n" + path.read_bytes())
    for _ in range(2):
        assert await hass.config_entries.async_setup(entry.entry_id)
        assert entry.runtime_data.tasks.get(task.id).prompt == task.prompt
        issue = issue_registry.async_get_issue(DOMAIN, issue_id)
        assert issue is not None
        assert issue.is_fixable
        placeholders = issue.translation_placeholders or {}
        assert f"{path.name}.corrupt-1" in placeholders["detail"]
        await hass.config_entries.async_unload(entry.entry_id)
    assert await hass.config_entries.async_setup(entry.entry_id)

    client = await hass_client()
    flows = "/api/repairs/issues/fix"
    answer = await client.post(flows, json={"handler": DOMAIN, "issue_id": issue_id})
    assert answer.status == HTTPStatus.OK
    flow = await answer.json()
    assert flow["step_id"] == "confirm"
    answer = await client.post(f"{flows}/{flow['flow_id']}", json={})
    assert (await answer.json())["type"] == "create_entry"
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
