// The threshold: the server says what each gives; the list below follows.
import { get, post } from "./ask.js";

export function slider(rows) {
  const box = document.querySelector("[data-slider]");
  if (!box) return;
  const steps = JSON.parse(box.dataset.steps);
  const input = box.querySelector("input");
  const shown = box.querySelector("output");
  const told = box.querySelector("[data-told]");
  const use = box.querySelector("[data-use]");
  let timer;
  let latest = 0;

  async function ask() {
    const number = (latest += 1);
    const words = new URLSearchParams(location.search);
    words.set("threshold", steps[input.value]);
    words.delete("start");
    try {
      const answer = await (await get(`/threshold?${words}`)).json();
      if (number !== latest) return;
      told.textContent = answer.told;
      use.disabled = answer.in_use;
      document.getElementById("count").textContent = `${answer.total.toLocaleString("en")} clusters`;
      history.replaceState(null, "", `/clusters?${answer.address}`);
      const hidden = document.querySelector('.filters input[name="threshold"]');
      if (hidden) hidden.value = steps[input.value];
      rows?.show(answer.address, answer.total);
    } catch {
      told.textContent = "The server does not answer.";
    }
  }

  input.addEventListener("input", () => {
    shown.textContent = steps[input.value].toFixed(4);
    // The value is the number of a step, which says nothing to who hears it.
    input.setAttribute("aria-valuetext", `threshold ${shown.textContent}`);
    clearTimeout(timer);
    timer = setTimeout(ask, 80);
  });
  use.addEventListener("click", async () => {
    const value = steps[input.value];
    const floor = Number(box.dataset.floor);
    if (await post("/decide", { kind: "threshold", value: value === floor ? null : value })) location.reload();
  });
}
