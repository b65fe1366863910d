/** A place to type: what is said goes to the phone's own conversation agent. */

import { el, say } from "./dom.js";

const KEPT_LINES = 40;

export function talk() {
  let view;
  let conversationId = null;
  const heading = el("h3");
  const log = el("div", { className: "log", role: "log", "aria-live": "polite", tabIndex: 0 });
  const input = el("input", { type: "text", autocomplete: "off", maxLength: 8000 });
  const send = el("button", { type: "submit", className: "main" });

  const add = (kind, text) => {
    // The hidden name tells who speaks to who does not see the sides.
    const words = el("span", {}, text);
    const line = el("p", { className: kind }, el("b", {}, `${view.t(kind)}: `), words);
    log.append(line);
    while (log.children.length > KEPT_LINES) log.firstChild.remove();
    log.scrollTop = log.scrollHeight;
    return (reply, isError) => {
      words.textContent = reply;
      line.classList.toggle("error", isError);
      log.scrollTop = log.scrollHeight;
    };
  };

  const ask = async (text) => {
    const { hass, shown } = view;
    const result = await hass.callWS({
      type: "conversation/process",
      text,
      agent_id: shown.entities.conversation,
      conversation_id: conversationId,
      language: hass.language,
    });
    conversationId = result.conversation_id;
    const response = result.response;
    return [response.speech?.plain?.speech ?? "", response.response_type === "error"];
  };

  const onsubmit = async (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    input.value = "";
    add("you", text);
    const reply = add("aiden", view.t("thinking"));
    try {
      reply(...(await ask(text)));
    } catch (err) {
      reply(view.t("failed_action", err?.message ?? String(err)), true);
    }
  };

  const form = el("form", { onsubmit }, input, send);
  const why = el("p", { className: "quiet" });
  const node = el("section", { className: "talk" }, heading, log, form, why);
  const update = (next) => {
    view = next;
    const { t } = view;
    const agent = view.state("conversation");
    say(heading, t("talk"));
    say(send, t("send"));
    input.placeholder = t("talk_hint");
    input.setAttribute("aria-label", t("talk_hint"));
    form.hidden = !agent || agent.state === "unavailable";
    say(why, form.hidden ? t("no_agent") : "");
  };
  return { node, update };
}
