"""What is watched from inside a page: the timers that its scripts have set, and whether it is about to go elsewhere.

A timer that a page sets may lead elsewhere or bring the content, so it is waited for; one that is set by timers of
timers of timers is an animation, and is not. A page can see that it is watched and can lie about it. It then waits
longer, or not long enough, and that is all.
"""

from __future__ import annotations

from typing import Final

#: Counts timers that were set by the page and not by other timers' timers, and takes away a way round the proxy.
WATCH: Final = """(() => {
  const set = window.setTimeout, clear = window.clearTimeout, waiting = new Map();
  let depth = 0;
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
    }
    return number;
  };
  window.clearTimeout = function (number) { waiting.delete(number); clear.call(window, number); };
  Object.defineProperty(window, "__pending", {value: (within) => {
    const limit = performance.now() + within;
    let count = 0;
    for (const end of waiting.values()) if (end <= limit) count++;
    return count;
  }});
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete window[name];
})();"""

#: Whether the document has loaded, how many timers end within the time left, and in how many seconds it refreshes.
STATE: Final = """(left) => {
  let refresh = null;
  for (const element of document.querySelectorAll("meta[http-equiv]")) {
    if (element.httpEquiv.trim().toLowerCase() !== "refresh") continue;
    const seconds = parseFloat(element.content);
    if (!Number.isNaN(seconds) && (refresh === null || seconds < refresh)) refresh = seconds;
  }
  return [document.readyState, window.__pending ? window.__pending(1000 * left) : 0, refresh];
}"""
