// Judging by keyboard: a label, then a reason (or Enter), and on to the next pair.
import { post, say } from "./ask.js";
import { typing } from "./keys.js";

export function judging() {
  const start = document.querySelector("form[data-judge]:not([data-judgement])");
  start?.addEventListener("submit", (event) => {
    event.preventDefault();
    location.assign(`/judge/${encodeURIComponent(start.elements.name.value.trim())}`);
  });
  const form = document.querySelector("[data-judgement]");
  if (!form) return;
  const { judge, role } = form.dataset;
  const pair = Number(form.dataset.pair);
  let label = form.dataset.said || null;
  let busy = false;

  function choose(name) {
    label = name;
    for (const one of form.querySelectorAll("[data-label]")) {
      one.setAttribute("aria-pressed", String(one.dataset.label === name));
    }
    for (const one of form.querySelectorAll("[data-reasons]")) one.hidden = one.dataset.reasons !== name;
    for (const one of form.querySelectorAll("[data-hint]")) one.hidden = one.dataset.hint !== name;
  }

  async function store(reason) {
    if (busy) return;
    if (!label) {
      say("First say correct, incorrect or undecided.");
      return;
    }
    busy = true;
    const note = form.elements.note.value.trim() || null;
    const told = await post("/say", { judge, role, pair, label, reason, note });
    busy = false;
    if (told) location.assign(told.next);
  }

  for (const button of form.querySelectorAll("[data-label]")) {
    button.addEventListener("click", () => choose(button.dataset.label));
  }
  for (const button of form.querySelectorAll("[data-reason]")) {
    button.addEventListener("click", () => store(button.dataset.reason));
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    store(null);
  });
  form.querySelector("[data-undo]").addEventListener("click", async () => {
    const told = await post("/undo", { judge, role });
    if (told?.next) location.assign(told.next);
    else if (told) say("There is nothing to undo.");
  });
  document.addEventListener("keydown", (event) => {
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "n") {
      form.elements.note.focus();
      event.preventDefault();
    } else if (event.key === "Enter" && label && !event.target.closest("a, button")) {
      store(null);
    } else if (/^[0-9]$/.test(event.key) && label) {
      const reasons = form.querySelectorAll(`[data-reasons="${label}"] [data-reason]`);
      reasons[(Number(event.key) + 9) % 10]?.click();
    }
  });
  if (label) choose(label);
}
