// A long list of which only the blocks of rows in view are there; the others are fetched as one scrolls.
import { get } from "./ask.js";
import { typing } from "./keys.js";

// Browsers draw nothing beyond some 30 million pixels.
const TALLEST = 15_000_000;

export function list() {
  const box = document.getElementById("rows");
  if (!box) return null;
  const size = Number(box.dataset.block);
  let total = Number(box.dataset.total);
  let source = box.dataset.source;
  let height = 0;
  let blocks = new Map();
  let chosen = -1;
  const cut = document.createElement("p");
  cut.className = "told";
  cut.hidden = true;
  box.after(cut);

  function measure() {
    const row = box.querySelector("li.row");
    height = row ? row.getBoundingClientRect().height : 56;
  }

  function place(block, index) {
    block.style.top = `${index * size * height}px`;
  }

  function begin() {
    const first = document.createElement("ol");
    first.append(...box.querySelectorAll(":scope > li"));
    box.replaceChildren(first);
    box.classList.add("virtual");
    blocks = new Map([[0, first]]);
    measure();
    stretch();
  }

  function stretch() {
    const most = Math.floor(TALLEST / height);
    cut.hidden = total <= most;
    cut.textContent = `The first ${most.toLocaleString("en")} are listed; filter, or sort the other way, to see others.`;
    box.style.height = `${Math.min(total, most) * height}px`;
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
      block.innerHTML = text; // our own server's markup, escaped there; no script in it could run
      block.className = "";
    } catch {
      if (blocks.get(index) === block) blocks.delete(index);
      block.remove();
    }
  }

  let waiting = false;
  function look() {
    waiting = false;
    if (!height) return;
    const top = -box.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor((top - innerHeight) / height / size));
    const listed = Math.min(total, Math.floor(TALLEST / height));
    const last = Math.min(Math.ceil((top + 2 * innerHeight) / height / size), Math.ceil(listed / size) - 1);
    for (let index = from; index <= last; index += 1) if (!blocks.has(index)) fill(index);
    for (const [index, block] of blocks) {
      if (index < from - 4 || index > last + 4) {
        block.remove();
        blocks.delete(index);
      }
    }
  }

  function soon() {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  }

  function move(step) {
    chosen = Math.max(0, Math.min(total - 1, chosen + step));
    const block = blocks.get(Math.floor(chosen / size));
    const row = block?.children[chosen % size];
    if (!row) return;
    row.querySelector("a").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  begin();
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", () => {
    measure();
    stretch();
    soon();
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
