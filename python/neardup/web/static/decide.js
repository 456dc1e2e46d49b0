// Decisions: accept or reject a cluster, let another page stay, reject a pair, write a new run.
import { post, say } from "./ask.js";

export function decisions() {
  const cluster = document.querySelector("[data-cluster]");
  if (cluster) {
    const first = Number(cluster.dataset.cluster);
    for (const button of cluster.querySelectorAll("[data-verdict]")) {
      button.addEventListener("click", async () => {
        const value = button.dataset.verdict || null;
        if (!(await post("/decide", { kind: "cluster", first, value }))) return;
        const next = document.querySelector('a[rel="next"]');
        // On to the next one of the list: that is how one goes through it.
        if (value && next) location.assign(next.href);
        else location.reload();
      });
    }
    for (const button of document.querySelectorAll("[data-representative]")) {
      button.addEventListener("click", async () => {
        const value = Number(button.dataset.representative);
        if (await post("/decide", { kind: "representative", first, value })) location.reload();
      });
    }
  }
  const pair = document.querySelector("[data-pair-a]");
  pair?.querySelector("[data-reject-pair]").addEventListener("click", async (event) => {
    const value = event.currentTarget.getAttribute("aria-pressed") === "true" ? null : "rejected";
    const body = { kind: "pair", a: Number(pair.dataset.pairA), b: Number(pair.dataset.pairB), value };
    if (await post("/decide", body)) location.reload();
  });
  const form = document.querySelector("[data-export]");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    const told = await post("/export", { name: form.elements.name.value });
    button.disabled = false;
    if (told) {
      const left = told.stale ? `; ${told.stale} stale decisions were left out` : "";
      say(`Written to ${told.folder}: ${told.kept} pages stay, ${told.removed} go${left}.`, 20000);
    }
  });
  const texts = document.querySelector("[data-index-texts]");
  texts?.addEventListener("click", async () => {
    if (await post("/texts", {})) say("The texts are being indexed; search again in a while.", 6000);
  });
}
