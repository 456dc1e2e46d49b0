// Keys: elements with data-key are pressed by it; "g" and a letter goes places; "?" shows what there is.
const places = { o: "/", c: "/clusters", j: "/judge" };
let going = false;

export function typing(event) {
  return event.target.closest("input, select, textarea") && !event.target.matches('[type="range"], [type="checkbox"]');
}

export function go() {
  const dialog = document.getElementById("keys");
  document.getElementById("keys-button").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (dialog.open) return;
    if (going && places[event.key]) {
      location.assign(places[event.key]);
      return;
    }
    going = event.key === "g";
    if (going) {
      setTimeout(() => (going = false), 1000);
      return;
    }
    if (event.key === "?") {
      dialog.showModal();
      event.preventDefault();
    } else if (event.key === "/") {
      const search = document.getElementById("search");
      if (search) {
        search.focus();
        event.preventDefault();
      }
    } else {
      const target = [...document.querySelectorAll("[data-key]")].find(
        (one) => one.dataset.key === event.key && !one.disabled && !one.closest("[hidden]"),
      );
      if (target && !event.repeat) {
        target.click();
        event.preventDefault();
      }
    }
  });
}
