/** The card: one phone, everything a person needs of it. */

import { el, say } from "./dom.js";
import { Feed } from "./feed.js";
import { header, picture, questions, task, tasks } from "./parts.js";
import { taskSensors } from "./phones.js";
import { STYLE } from "./style.js";
import { talk } from "./talk.js";
import { texts } from "./texts.js";

class AidenDuplexCard extends HTMLElement {
  static getConfigForm() {
    const filter = { integration: "aiden_duplex", domain: "sensor", device_class: "enum" };
    return { schema: [{ name: "entity", required: true, selector: { entity: { filter } } }] };
  }

  static getStubConfig(hass) {
    return { entity: taskSensors(hass)[0] ?? "" };
  }

  setConfig(config) {
    if (!config?.entity) throw new Error(texts()("entity_missing"));
    this._config = config;
    if (this._feed) this._follow();
  }

  set hass(hass) {
    this._hass = hass;
    if (this.isConnected && !this._feed) this._follow();
    this._update();
  }

  connectedCallback() {
    if (!this._parts) this._build();
    if (this._hass && !this._feed) this._follow();
  }

  disconnectedCallback() {
    this._feed?.close();
    this._feed = null;
  }

  getCardSize() {
    return 10;
  }

  getGridOptions() {
    return { columns: "full", rows: "auto", min_columns: 6 };
  }

  _build() {
    this._alert = el("p", { className: "banner", role: "status" });
    this._failure = el("p", { className: "banner error", role: "alert" });
    this._header = header();
    const left = [task(), questions(), tasks()];
    const right = [talk(), picture()];
    this._parts = [...left, ...right];
    const columns = [left, right].map((parts) => el("div", {}, ...parts.map((part) => part.node)));
    this._body = el("div", { className: "body" }, ...columns);
    const frame = el("div", { className: "frame" }, this._header.node, this._alert, this._failure, this._body);
    const root = this.attachShadow({ mode: "open" });
    root.append(el("style", {}, STYLE), el("ha-card", {}, frame));
    say(this._failure, "");
  }

  _follow() {
    this._feed?.close();
    this._shown = null;
    this._error = "connecting";
    this._feed = new Feed(this._hass.connection, this._config.entity, (shown, error) => {
      // What was shown last stays in sight while the connection is lost.
      this._shown = shown ?? (error === "disconnected" ? this._shown : null);
      this._error = error;
      this._update();
    });
    this._feed.open();
  }

  /** Return why nothing can be shown or done, "" when all is well. */
  _trouble(t) {
    if (this._error) return t(this._error) === this._error ? t("unknown") : t(this._error);
    if (this._shown.removed) return t("removed");
    if (!this._shown.loaded) return t("not_loaded");
    return this._shown.phone.halted ? t("halted") : "";
  }

  _update() {
    if (!this._parts || !this._hass) return;
    const t = texts(this._hass.language);
    say(this._alert, this._trouble(t));
    const shown = this._shown;
    const usable = Boolean(shown?.loaded && !this._error);
    // Inert rather than gone: what a person is typing outlives a restart.
    this._header.node.inert = this._body.inert = !usable;
    this._body.hidden = !shown?.tasks;
    this._header.node.hidden = !shown;
    if (!shown) return;
    const view = {
      hass: this._hass,
      shown,
      t,
      state: (name) => this._hass.states[shown.entities?.[name]],
      act: (action, data) =>
        this._call("aiden_duplex", action, data, { entity_id: shown.entities.task }),
      call: (...call) => this._call(...call),
    };
    this._header.update(view);
    if (shown.tasks) this._parts.forEach((part) => part.update(view));
  }

  /** Perform an action; a failure is told in words beside what was tried. */
  async _call(domain, action, data, target) {
    say(this._failure, "");
    try {
      await this._hass.callService(domain, action, data, target, false);
    } catch (err) {
      const detail = err?.message ?? String(err);
      say(this._failure, texts(this._hass.language)("failed_action", detail));
    }
  }
}

// Another version of this module may be there already.
if (!customElements.get("aiden-duplex-card")) {
  customElements.define("aiden-duplex-card", AidenDuplexCard);
}
