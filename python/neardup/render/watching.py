"""What is watched from inside a page: the timers that its scripts have set, and whether it is about to go elsewhere.

A timer that a page sets may lead elsewhere or bring the content, so it is waited for; so is the first tick of an
interval. What goes on beyond that (later ticks, timers of timers of timers, frames of an animation) may bring content
or only move something: it is waited for as long as the text of the page changes. A page can see that it is watched and
can lie about it. It then waits longer, or not long enough, and that is all.
"""

from __future__ import annotations

from typing import Final

#: Counts timers that were set by the page and not by other timers' timers, and takes away a way round the proxy.
WATCH: Final = """(() => {
  const set = window.setTimeout, clear = window.clearTimeout, waiting = new Map();
  const repeat = window.setInterval, end = window.clearInterval, frame = window.requestAnimationFrame;
  // What goes on: intervals, timers that other timers' timers set, frames; and when the text last changed.
  const going = new Set();
  let depth = 0, frames = 0, changed = performance.now();
  const isText = (node) => node.nodeType === Node.TEXT_NODE ? node.data.trim() !== "" : node.textContent.trim() !== "";
  new MutationObserver((records) => {
    const told = (record) => record.type === "characterData" || [...record.addedNodes].some(isText);
    if (records.some(told)) changed = performance.now();
  }).observe(document, {childList: true, characterData: true, subtree: true});
  window.setInterval = function (call, delay, ...rest) {
    const run = typeof call !== "function" ? call : function (...given) {
      const before = depth;
      depth = Math.max(depth, 4) + 1;
      try { return call.apply(this, given); } finally { depth = before; }
    };
    const number = repeat.call(window, run, delay, ...rest);
    const first = Number(delay) || 0;
    going.add(number);
    waiting.set(number, performance.now() + first);
    set.call(window, () => waiting.delete(number), first + 1);
    return number;
  };
  window.clearInterval = function (number) {
    waiting.delete(number);
    going.delete(number);
    end.call(window, number);
  };
  window.requestAnimationFrame = function (call) {
    frames++;
    return frame.call(window, function (...given) {
      // Not at once: a chain of frames goes on between two of them.
      set.call(window, () => frames--, 50);
      return call.apply(this, given);
    });
  };
  window.setTimeout = function (call, delay, ...rest) {
    const own = depth + 1;
    const run = typeof call !== "function" ? call : function (...given) {
      const before = depth;
      depth = own;
      try { return call.apply(this, given); } finally { depth = before; }
    };
    const number = set.call(window, run, delay, ...rest);
    if (own <= 4) {
      waiting.set(number, performance.now() + (Number(delay) || 0));
      set.call(window, () => waiting.delete(number), (Number(delay) || 0) + 1);
    } else {
      going.add(number);
      set.call(window, () => going.delete(number), (Number(delay) || 0) + 50);
    }
    return number;
  };
  // One number may end either kind.
  window.clearTimeout = function (number) { window.clearInterval(number); clear.call(window, number); };
  Object.defineProperty(window, "__pending", {value: (within) => {
    const limit = performance.now() + within;
    let count = 0;
    for (const end of waiting.values()) if (end <= limit) count++;
    return count;
  }});
  Object.defineProperty(window, "__moving", {value: (quiet) =>
    (going.size > 0 || frames > 0) && performance.now() - changed < quiet});
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete window[name];
})();"""

#: Milliseconds for which the text has to stay as it is while something goes on.
QUIET: Final = 1000
#: Whether the document has loaded, how many timers end within the time left, in how many seconds it goes elsewhere, and
#: whether its text is being changed.
STATE: Final = """([left, quiet]) => {
  let refresh = null;
  for (const element of document.querySelectorAll("meta[http-equiv]")) {
    if (element.httpEquiv.trim().toLowerCase() !== "refresh") continue;
    const target = /url\\s*=\\s*["']?([^"']*)/i.exec(element.content);
    const goal = target && target[1].trim();
    // A page that refreshes to itself does not go anywhere.
    try {
      if (!goal || new URL(goal, document.baseURI).href.split("#")[0] === location.href.split("#")[0]) continue;
    } catch { continue; }
    const seconds = parseFloat(element.content);
    if (!Number.isNaN(seconds) && (refresh === null || seconds < refresh)) refresh = seconds;
  }
  const pending = window.__pending ? window.__pending(1000 * left) : 0;
  return [document.readyState, pending, refresh, window.__moving ? window.__moving(quiet) : false];
}"""
