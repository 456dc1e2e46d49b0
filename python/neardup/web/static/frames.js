// Pages under study in frames: without scripts, forms, network or an origin; the server says so too.
function framed(source) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "");
  frame.setAttribute("referrerpolicy", "no-referrer");
  frame.title = "the page, without scripts or network";
  frame.src = source;
  return frame;
}

export function frames() {
  const tabs = document.querySelector("[data-tabs]");
  const button = tabs?.querySelector("[data-frames-button]");
  button?.addEventListener("click", () => {
    const here = document.querySelector("[data-frames-here]");
    const diff = document.querySelector("[data-diff]");
    const show = button.getAttribute("aria-pressed") !== "true";
    if (!here.childElementCount) here.append(...tabs.dataset.frames.trim().split(" ").map(framed));
    button.setAttribute("aria-pressed", String(show));
    here.hidden = !show;
    diff.hidden = show;
  });
  const one = document.querySelector("[data-frame]");
  for (const choice of one?.querySelectorAll("[data-show]") ?? []) {
    choice.addEventListener("click", () => {
      const text = document.querySelector("[data-text]");
      const asFrame = choice.dataset.show === "frame";
      for (const other of one.querySelectorAll("[data-show]")) other.setAttribute("aria-pressed", String(other === choice));
      text.hidden = asFrame;
      document.querySelector("main > iframe")?.remove();
      if (asFrame) text.after(framed(one.dataset.frame));
    });
  }
}
