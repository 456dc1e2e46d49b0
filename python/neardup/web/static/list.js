// A long list of which only the blocks of rows in view are there; the others are fetched as one scrolls.
import { get } from "./ask.js";
import { typing } from "./keys.js";

// Browsers draw nothing beyond some 17 million pixels. A list that would be taller is as tall as this, and the rows are
// moved: by nothing while one scrolls a little, and after a jump so that the place in the scroll bar is that in the list.
const TALLEST = 15_000_000;
// Windows' heights of rows that are fetched before they come into view, blocks that are kept beyond those, and rows that
// are put into the page in one frame.
const AHEAD = 2;
const KEPT = 4;
const SLICE = 10;

export function list() {
  const box = document.getElementById("rows");
  if (!box) return null;
  const size = Number(box.dataset.block);
  let total = Number(box.dataset.total);
  let source = box.dataset.source;
  let height = 0;
  let blocks = new Map();
  let chosen = -1;
  // How far rows are below where they would be if the list were as tall as all of them.
  let moved = 0;
  let before = 0;

  const whole = () => total * height;
  const tall = () => Math.min(whole(), TALLEST);
  const top = () => -box.getBoundingClientRect().top;

  function measure() {
    const row = box.querySelector("li.row");
    height = row ? row.getBoundingClientRect().height : 56;
  }

  function place(block, index) {
    block.style.top = `${index * size * height - moved}px`;
  }

  function stretch() {
    box.style.height = `${tall()}px`;
    for (const [index, block] of blocks) place(block, index);
  }

  function settle(at) {
    const rest = whole() - tall();
    const room = Math.max(1, tall() - innerHeight);
    let wanted = moved;
    if (at <= 0 || rest <= 0) wanted = 0;
    else if (at >= room) wanted = rest;
    else if (Math.abs(at - before) > 2 * innerHeight) wanted = Math.round((at / room) * rest);
    before = at;
    if (wanted === moved) return;
    moved = wanted;
    for (const [index, block] of blocks) place(block, index);
  }

  async function fill(index) {
    const block = document.createElement("ol");
    block.className = "loading";
    place(block, index);
    box.append(block);
    blocks.set(index, block);
    const asked = source;
    try {
      const answer = await get(`${source}${source.endsWith("?") ? "" : "&"}start=${index * size}`);
      const text = await answer.text();
      if (asked !== source) return;
      const parsed = document.createElement("template");
      parsed.innerHTML = text; // our own server's markup, escaped there; no script in it could run
      const rows = [...parsed.content.querySelectorAll("li")];
      block.className = "";
      // A few rows a frame, so that none is late; all at once where they are waited for.
      while (rows.length && asked === source && blocks.get(index) === block) {
        block.append(...rows.splice(0, near(block) ? rows.length : SLICE));
        if (rows.length) await new Promise(requestAnimationFrame);
      }
    } catch {
      if (blocks.get(index) === block) blocks.delete(index);
      block.remove();
    }
  }

  let waiting = false;
  function look() {
    waiting = false;
    if (!height) return;
    const at = top();
    settle(at);
    const first = Math.max(0, Math.floor((at + moved - AHEAD * innerHeight) / height / size));
    const below = Math.floor((at + moved + (1 + AHEAD) * innerHeight) / height / size);
    const last = Math.min(below, Math.ceil(total / size) - 1);
    for (let index = first; index <= last; index += 1) if (!blocks.has(index)) fill(index);
    for (const [index, block] of blocks) {
      if (index < first - KEPT || index > last + KEPT) {
        block.remove();
        blocks.delete(index);
      }
    }
  }

  function soon() {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  }

  function near(block) {
    const { top: above } = block.getBoundingClientRect();
    return above < innerHeight && above > -innerHeight - size * height;
  }

  function row(number) {
    return blocks.get(Math.floor(number / size))?.children[number % size];
  }

  function inView(one) {
    const { top: above, bottom } = one.getBoundingClientRect();
    return bottom > 0 && above < innerHeight;
  }

  // The next or the one before; from the first in view if the chosen one is no longer in sight.
  function move(step) {
    const here = row(chosen);
    const next = here && inView(here) ? chosen + step : Math.max(0, Math.ceil((top() + moved) / height));
    const wanted = row(Math.max(0, Math.min(total - 1, next)));
    if (!wanted) return;
    wanted.querySelector("a").focus({ preventScroll: true });
    wanted.scrollIntoView({ block: "nearest" });
  }

  function begin() {
    const start = Math.floor(Number(box.dataset.start) / size);
    box.classList.add("virtual");
    blocks = new Map([[start, box.querySelector("ol")]]);
    measure();
    stretch();
    if (start) scrollTo(0, box.getBoundingClientRect().top + scrollY + (start * size * height * tall()) / whole());
  }

  begin();
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", () => {
    measure();
    stretch();
    soon();
  });
  // Whatever brought the focus to a row, keys go on from there.
  box.addEventListener("focusin", (event) => {
    const one = event.target.closest("li.row");
    if (one) chosen = Number(one.getAttribute("aria-posinset")) - 1;
  });
  document.addEventListener("keydown", (event) => {
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") move(1);
    if (event.key === "k") move(-1);
  });
  look();

  return {
    // Shows another list in the same place.
    show(address, count) {
      source = `/clusters/rows?${address}`;
      total = count;
      chosen = -1;
      for (const block of blocks.values()) block.remove();
      blocks = new Map();
      stretch();
      look();
    },
  };
}
