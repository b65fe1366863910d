/** Which phones there are, by what the frontend knows already. */

/** Return the ids of the task sensors that the user can see. */
export function taskSensors(hass) {
  return Object.values(hass.entities ?? {})
    .filter((entity) => entity.platform === "aiden_duplex" && entity.translation_key === "task")
    .map((entity) => entity.entity_id)
    .filter((entityId) => entityId.startsWith("sensor.") && hass.states[entityId]);
}
