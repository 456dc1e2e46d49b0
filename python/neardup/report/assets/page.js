"use strict";
// Draws every figure from the data block beside it; without scripts the tables are there all the same.
(() => {
  const colours = ["var(--accent)", "var(--second)", "var(--good)", "var(--bad)", "var(--warn)", "var(--soft)"];
  const strokes = ["", "6 3", "2 3", "8 3 2 3"];

  // A line's name above its end; a mark of our own, for the bundle has none for text.
  const nameAtEnd = (series, colour) => (_index, scales) => {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    const [x, y] = series.data[series.data.length - 1];
    const at = { x: scales.x(x), y: scales.y(y) - 8, fill: colour, "text-anchor": "end", "font-weight": 600 };
    for (const [name, value] of Object.entries(at)) text.setAttribute(name, value);
    text.textContent = series.name;
    return text;
  };

  const marks = {
    // [from, to, count]: bars that touch.
    histogram: (told) => [
      Plot.rectY(told.data, {
        x1: (row) => row[0], x2: (row) => row[1], y: (row) => row[2], fill: "var(--accent)", inset: 0.5,
        title: (row) => `${told.x} ${row[3] ?? row[0]}: ${row[2].toLocaleString("en")}`, tip: true,
      }),
      Plot.ruleY([0], { stroke: "var(--line)" }),
      ...(told.mark == null ? [] : [Plot.ruleX([told.mark], { stroke: "var(--second)", strokeDasharray: "5 3" })]),
    ],
    // [name, value]: bars beside names.
    bars: (told) => [
      Plot.barX(told.data, { y: (row) => row[0], x: (row) => row[1], fill: "var(--accent)", insetTop: 2, insetBottom: 2,
        title: (row) => `${row[0]}: ${row[1].toLocaleString("en")}`, tip: true }),
      Plot.ruleX([0], { stroke: "var(--line)" }),
    ],
    // [x, y] points, and lines of [x, y] through them.
    points: (told) => [
      Plot.dot(told.data, { x: (row) => row[0], y: (row) => row[1], fill: "var(--accent)", fillOpacity: 0.75, r: 3,
        title: (row) => `${told.x} ${row[0].toLocaleString("en")}: ${row[1].toLocaleString("en")}`, tip: true }),
      ...(told.line ? [Plot.line(told.line, { x: (row) => row[0], y: (row) => row[1], stroke: "var(--second)",
        strokeWidth: 2 })] : []),
    ],
    // {name, data: [[x, y]], marks}: one line each.
    lines: (told) => told.series.flatMap((series, number) => {
      const at = { x: (row) => row[0], y: (row) => row[1],
        title: (row) => `${series.name}\n${told.x} ${+row[0].toPrecision(5)}: ${+row[1].toPrecision(4)}` };
      const colour = colours[number % colours.length];
      const drawn = series.marks
        ? Plot.dot(series.data, { ...at, fill: colour, r: 2.5, tip: told.series.length < 9 })
        : Plot.line(series.data, { ...at, stroke: colour, strokeWidth: 1.6,
            strokeDasharray: strokes[Math.floor(number / colours.length) % strokes.length], tip: told.series.length < 9 });
      return told.named ? [drawn, nameAtEnd(series, colour)] : [drawn];
    }),
  };

  function draw(place) {
    const told = JSON.parse(document.getElementById(place.dataset.plot).textContent);
    const width = Math.max(260, Math.min(place.clientWidth || 640, 900));
    const names = told.kind === "bars" ? Math.max(...told.data.map((row) => row[0].length), 4) : 0;
    const drawn = Plot.plot({
      className: "neardup-plot",
      width,
      height: told.kind === "bars" ? 44 + 24 * told.data.length : Math.round(Math.min(280, width * 0.62)),
      marginLeft: told.kind === "bars" ? Math.min(width * 0.45, 14 + 6.6 * names) : 58,
      marginRight: 20,
      marginBottom: told.kind === "bars" ? 34 : 38,
      style: { fontSize: "12px", background: "transparent" },
      x: { label: told.kind === "bars" ? told.y : told.x, labelAnchor: "center", type: told.log ? "log" : undefined,
        ticks: told.log ? Math.max(3, width / 110) : Math.max(3, width / 90), tickFormat: told.log ? "~s" : undefined,
        domain: told.domain, grid: told.kind === "bars", nice: told.kind === "bars" },
      y: told.kind === "bars" ? { label: null, domain: told.data.map((row) => row[0]) }
        : { label: told.y, grid: true, type: told.log ? "log" : undefined, ticks: told.log ? 4 : 5,
            tickFormat: told.log ? "~s" : undefined, domain: told.range, nice: !told.log && !told.range },
      marks: marks[told.kind](told),
      ariaLabel: place.getAttribute("aria-label"),
    });
    drawn.setAttribute("role", "img");
    // The picture has its name; those of its parts ("rect") say nothing, and are not allowed there.
    for (const part of drawn.querySelectorAll("[aria-label], [aria-description]")) {
      part.removeAttribute("aria-label");
      part.removeAttribute("aria-description");
    }
    place.replaceChildren(drawn);
  }

  const places = [...document.querySelectorAll("[data-plot]")];
  const all = () => places.forEach(draw);
  all();
  let width = document.documentElement.clientWidth;
  addEventListener("resize", () => {
    if (document.documentElement.clientWidth !== width) {
      width = document.documentElement.clientWidth;
      all();
    }
  });
})();
