/** What the frontend loads on every page: the strategy of a ready dashboard, then the card. */

import { taskSensors } from "./phones.js";
import { texts } from "./texts.js";

function card(entity) {
  return { type: "custom:aiden-duplex-card", entity };
}

class AidenDuplexDashboard extends HTMLElement {
  /** Return a dashboard with one view for each phone. */
  static async generate(config, hass) {
    const sensors = config.entity ? [config.entity] : taskSensors(hass);
    if (sensors.length === 0) {
      const content = texts(hass.language)("no_phone_set_up");
      return { views: [{ cards: [{ type: "markdown", content }] }] };
    }
    const views = sensors.map((entityId) => {
      const device = hass.devices[hass.entities[entityId]?.device_id];
      const title = device?.name_by_user ?? device?.name ?? "Aiden";
      const path = entityId.split(".")[1];
      return { title, path, type: "panel", cards: [card(entityId)] };
    });
    return { views };
  }
}

class AidenDuplexView extends HTMLElement {
  /** Return a view of one phone, the first if none is named. */
  static async generate(config, hass) {
    const { views } = await AidenDuplexDashboard.generate(config, hass);
    return views[0];
  }
}

/** Define an element once: another version of this module may be there already. */
function define(name, element) {
  if (!customElements.get(name)) customElements.define(name, element);
}

define("ll-strategy-dashboard-aiden-duplex", AidenDuplexDashboard);
define("ll-strategy-view-aiden-duplex", AidenDuplexView);

// The frontend waits for a strategy no longer than five seconds: the card comes behind it.
import("./card.js").catch((err) => console.error("The card of Aiden Duplex was not loaded", err));

const t = texts(document.documentElement.lang);
const about = { name: t("card_name"), description: t("card_description") };
(window.customCards ??= []).push({ type: "aiden-duplex-card", preview: true, ...about });
(window.customStrategies ??= []).push({ type: "aiden-duplex", strategyType: "dashboard", ...about });
