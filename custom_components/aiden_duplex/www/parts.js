/**
 * The parts of the card. Each is made once as `{ node, update }`; `update(view)` shows a
 * view: `{ hass, shown, t, act }`, where `act(action, data)` performs one of our actions.
 */

import { el, keep, say } from "./dom.js";

const IN_FLIGHT = ["created", "queued", "running"];

/** Return the words and the kind (for the colour) of a task's status. */
function status(task, t) {
  if (task.is_waiting) return [t("status_waiting"), "ask"];
  if (task.status === "completed") {
    const kind = { achieved: "good", not_achieved: "bad" }[task.outcome] ?? "doubt";
    return [t(`status_${task.outcome ?? "completed"}`), kind];
  }
  const kind = { running: "busy", cancelling: "busy", failed: "bad" }[task.status] ?? "rest";
  return [t(`status_${task.status}`), kind];
}

function showStatus(node, [words, kind]) {
  node.dataset.kind = kind;
  say(node.firstChild, words);
}

/** Title, link, and the switch that stops everything. */
export function header() {
  const title = el("h2");
  const link = el("p", { className: "quiet" });
  let view;
  const onclick = () => {
    const on = view.shown.phone.halted;
    const target = { entity_id: view.shown.entities.kill_switch };
    view.call("switch", on ? "turn_off" : "turn_on", {}, target);
  };
  const halt = el("button", { type: "button", onclick });
  const node = el("header", {}, el("div", {}, title, link), halt);
  const update = (next) => {
    view = next;
    const { shown, t } = view;
    say(title, shown.title);
    const phone = shown.phone;
    say(link, phone && t(`link_${phone.has_board ? phone.link : "none"}`));
    halt.hidden = !phone || !view.state("kill_switch");
    halt.className = phone?.halted ? "main" : "stop";
    halt.textContent = t(phone?.halted ? "resume" : "halt");
  };
  return { node, update };
}

/** The current task: status, goal, live step, and what came of it. */
export function task() {
  const heading = el("h3");
  const state = el("p", { className: "status", role: "status" }, el("span"));
  const goal = el("p", { className: "goal" });
  const step = el("p", { className: "step", "aria-live": "polite" });
  const result = el("p", { className: "text" });
  const evidence = el("p", { className: "text quiet" });
  let view;
  const id = () => view.shown.current.id;
  const over = el("button", {
    type: "button",
    onclick: () => view.act("take_over", { task_id: id() }),
  });
  const stop = el("button", {
    type: "button",
    className: "stop",
    onclick: () => view.act("cancel_task", { task_id: id() }),
  });
  const buttons = el("div", { className: "buttons" }, over, stop);
  const node = el("section", { className: "task" }, heading, state, goal, step, result, evidence, buttons);
  const update = (next) => {
    view = next;
    const { hass, shown, t } = view;
    const current = shown.current;
    say(heading, t("current_task"));
    showStatus(state, current ? status(current, t) : [t("idle"), "rest"]);
    say(goal, current ? current.goal : t("idle_hint"));
    say(step, current?.step);
    say(result, current?.result ?? current?.error);
    say(evidence, current?.evidence && t("evidence", current.evidence));
    say(over, t("take_over"));
    say(stop, t("stop"));
    const running = current?.status === "running" && !current.is_waiting;
    over.hidden = !running || !hass.services.aiden_duplex?.take_over;
    stop.hidden = !IN_FLIGHT.includes(current?.status);
    buttons.hidden = over.hidden && stop.hidden;
  };
  return { node, update };
}

/** Open questions, each with its answers. */
export function questions() {
  let view;
  const respond = (question, decision, message) =>
    view.act("respond", { task_id: question.task_id, question_id: question.id, decision, message });
  const make = (question) => {
    const { t } = view;
    // To what needs consent there is yes and no; other words are no yes.
    const consent = question.needs_consent;
    const input = el("input", { type: "text", hidden: consent, maxLength: 8000, placeholder: t("your_answer") });
    input.setAttribute("aria-label", t("your_answer"));
    const answer = el("button", { type: "submit", className: "main", disabled: true }, t("answer"));
    const done = el("button", {
      type: "button",
      className: "main",
      onclick: () => respond(question, "answered", t(consent ? "said_allowed" : "said_done")),
    }, t(consent ? "allow" : "done"));
    const refuse = el("button", {
      type: "button",
      onclick: () => respond(question, "refused", input.value.trim() || t("said_refused")),
    }, t("refuse"));
    // One main button at a time: what is typed is an answer.
    input.addEventListener("input", () => {
      const typed = input.value.trim() !== "";
      answer.disabled = !typed;
      answer.hidden = !typed;
      done.hidden = typed;
    });
    answer.hidden = true;
    const onsubmit = (event) => {
      event.preventDefault();
      if (input.value.trim()) respond(question, "answered", input.value.trim());
    };
    return el("div", { className: "question", role: "group", "aria-label": t("question") },
      el("h3", {}, t("question")),
      el("p", {}, question.details),
      el("p", { className: "text" }, question.suggested_action ?? ""),
      el("p", { className: "text quiet" }),
      el("form", { onsubmit }, input, done, answer, refuse));
  };
  const node = el("section", { className: "ask", "aria-live": "polite" });
  const update = (next) => {
    view = next;
    keep(node, view.shown.questions, make, (item, question) => {
      // The current task's goal stands right above.
      const isOther = question.task_id !== view.shown.current?.id;
      say(item.children[3], isOther ? view.t("question_about", question.goal) : "");
    });
  };
  return { node, update };
}

/** The tasks in the slots beside the current one. */
export function tasks() {
  let view;
  const make = (row) => {
    const stop = el("button", {
      type: "button",
      className: "small stop",
      onclick: () => view.act("cancel_task", { task_id: row.id }),
    });
    const state = el("span", { className: "status row-status" }, el("span"));
    return el("li", {}, el("div", {}, el("div", { className: "row-goal" }), state), stop);
  };
  const show = (item, row) => {
    const { t } = view;
    const [text, stop] = item.children;
    say(text.children[0], row.goal);
    showStatus(text.children[1], status(row, t));
    say(stop, t("stop"));
    stop.setAttribute("aria-label", t("stop_named", row.goal));
    stop.hidden = !IN_FLIGHT.includes(row.status);
  };
  const heading = el("h3");
  const list = el("ul");
  const more = el("p", { className: "quiet" });
  const node = el("section", { className: "tasks" }, heading, list, more);
  const update = (next) => {
    view = next;
    const current = view.shown.current?.id;
    const rows = view.shown.tasks.filter((row) => row.id !== current);
    say(heading, view.t("tasks"));
    node.hidden = rows.length === 0;
    keep(list, rows, make, show);
    const outstanding = view.shown.outstanding ?? 0;
    say(more, outstanding > view.shown.tasks.length ? view.t("more_tasks", String(outstanding)) : "");
  };
  return { node, update };
}

/** Return whether there is a picture to load: its state is the time at which it was taken. */
function hasPicture(state) {
  return Boolean(state?.attributes.entity_picture) && !["unknown", "unavailable"].includes(state.state);
}

/** The phone's screen, or why it is not shown. */
export function picture() {
  const heading = el("h3");
  const image = el("img", { alt: "" });
  const why = el("p", { className: "quiet" });
  const node = el("section", { className: "picture" }, heading, image, why);
  let view;
  let failed = false;
  image.addEventListener("error", () => {
    failed = true;
    update(view);
  });
  const reason = (state) => {
    const { shown, t } = view;
    if (!shown.entities?.screen) return t("picture_hidden");
    if (!hasPicture(state)) return t("picture_missing");
    return failed ? t("picture_failed") : "";
  };
  const update = (next) => {
    view = next;
    const state = view.state("screen");
    const path = hasPicture(state) && state.attributes.entity_picture;
    const source = path && `${path}${path.includes("?") ? "&" : "?"}at=${encodeURIComponent(state.state)}`;
    if (source && image.dataset.source !== source) {
      failed = false;
      image.dataset.source = source;
      image.src = view.hass.hassUrl(source);
    }
    say(heading, view.t("screen"));
    say(why, reason(state));
    image.alt = view.t("screen");
    image.hidden = why.textContent !== "";
  };
  return { node, update };
}
