// The page reads well without this script. It adds: values under the pointer or the arrow keys,
// zooming in time (all figures over time together), and the choice of light or dark.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const figures = [...document.querySelectorAll("figure.chart")].map(prepare);
  const timed = figures.filter((figure) => figure.data.kind === "time");
  const first = timed.length ? timed[0].data.view : [0, 1];
  const whole = timed.length ? timed[0].data.whole : [0, 1];
  let view = first.slice();

  // ---- light and dark --------------------------------------------------------------------
  const themes = [...document.querySelectorAll(".theme button")];
  function setTheme(name) {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    for (const button of themes) button.setAttribute("aria-pressed", button.value === name);
    try { localStorage.setItem("brownout-theme", name); } catch { /* a file may not keep it */ }
  }
  for (const button of themes) button.addEventListener("click", () => setTheme(button.value));
  try { setTheme(localStorage.getItem("brownout-theme") || "auto"); } catch { setTheme("auto"); }
  document.documentElement.classList.add("scripted");

  // ---- wide tables: say that there is more to the right ------------------------------------
  const tables = [...document.querySelectorAll(".scroll")];
  function hint(table) {
    const left = table.scrollWidth - table.clientWidth - table.scrollLeft;
    table.classList.toggle("more-right", left > 4);
  }
  const hintAll = () => tables.forEach(hint);
  for (const table of tables) table.addEventListener("scroll", () => hint(table), { passive: true });
  for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", hintAll);
  addEventListener("resize", hintAll);
  hintAll();

  // ---- figures ---------------------------------------------------------------------------
  function prepare(element) {
    const figure = {
      element,
      data: data.charts[element.dataset.chart],
      stage: element.querySelector(".stage"),
      readout: element.querySelector(".readout"),
      svgs: [...element.querySelectorAll(".row svg")],
      cursor: document.createElement("div"),
      at: null,
    };
    // To a screen reader it is a picture until keys mean something in it.
    figure.stage.setAttribute("role", "application");
    figure.stage.setAttribute("aria-roledescription", "figure");
    figure.cursor.className = "cursor";
    figure.cursor.hidden = true;
    figure.stage.append(figure.cursor);
    figure.lines = figure.data.rows.flatMap((row) => row.lines.map((line) => ({
      ...line, row: row.name, x: places(line.x),
    })));
    return figure;
  }

  // Places on the x axis, from a start and the steps between them.
  function places({ start, step, steps, n }) {
    let at = start;
    return Array.from({ length: n }, (_, i) => (i ? (at += steps ? steps[i - 1] : step) : at));
  }

  const bounds = (figure) => (figure.data.kind === "time" ? view : figure.data.whole);
  const share = (figure, x) => {
    const [low, high] = bounds(figure);
    return (x - low) / (high - low);
  };

  // The index of the last of `xs` (ascending) that is not above x, at least 0.
  function before(xs, x) {
    let low = 0, high = xs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (xs[middle] <= x) low = middle; else high = middle - 1;
    }
    return low;
  }

  function nearest(xs, x) {
    const i = before(xs, x);
    return i + 1 < xs.length && xs[i + 1] - x < x - xs[i] ? i + 1 : i;
  }

  // ---- values under the cursor -----------------------------------------------------------
  function words(value, line) {
    if (value === null || value === undefined) return "none";
    return value.toLocaleString("en", { minimumFractionDigits: line.digits, maximumFractionDigits: line.digits }) + line.unit;
  }

  function place(figure, x) {
    if (figure.data.kind === "percentile") {
      const p = 100 * (1 - 10 ** (-x / 1000));
      return p.toFixed(Math.max(0, Math.ceil(x / 1000) - 1)) + " %";
    }
    const t = (x / 10).toFixed(1) + " s";
    if (!data.t0) return t;
    return t + " (" + new Date(data.t0 * 1000 + x * 100).toISOString().slice(11, 21) + " UTC)";
  }

  function show(figure, x, speak) {
    const fellows = figure.data.kind === "time" ? timed : [figure];
    for (const each of fellows) {
      each.at = x;
      const at = share(each, x);
      each.cursor.hidden = at < 0 || at > 1;
      each.cursor.style.setProperty("--at", 100 * at + "%");
      each.readout.setAttribute("aria-live", each === figure && speak ? "polite" : "off");
      each.readout.replaceChildren(...read(each, x));
    }
  }

  function read(figure, x) {
    const parts = [document.createElement("b")];
    parts[0].textContent = place(figure, x);
    let last = "";
    for (const line of figure.lines) {
      if (!line.x.length) continue;
      const i = nearest(line.x, x);
      const beyond = Math.abs(line.x[i] - x) > (figure.data.kind === "percentile" ? 25 : 20);
      const item = document.createElement("span");
      const name = figure.data.rows.length > 1 && line.row !== last && line.row !== line.name
        && figure.data.rows[0].lines.length > 1 ? line.row + ": " : "";
      last = line.row;
      item.textContent = " · " + name + line.name + " " + (beyond ? "none" : words(line.y[i], line));
      parts.push(item);
    }
    return parts;
  }

  function hide() {
    for (const figure of figures) {
      figure.cursor.hidden = true;
      figure.at = null;
      figure.readout.textContent = "";
    }
  }

  // ---- zoom ------------------------------------------------------------------------------
  const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 300, 600, 1200, 3000, 6000, 12000, 18000, 36000, 72000, 144000, 216000, 432000, 864000];

  function clock(tenths, step, end) {
    const seconds = tenths / 10;
    if (step < 10) return seconds.toFixed(1) + " s";
    if (end < 12000) return seconds.toFixed(0) + " s";
    const whole = Math.round(seconds), two = (n) => String(n).padStart(2, "0");
    const hours = Math.floor(whole / 3600), minutes = Math.floor((whole % 3600) / 60);
    return hours ? hours + ":" + two(minutes) + ":" + two(whole % 60) : minutes + ":" + two(whole % 60);
  }

  function zoom(low, high) {
    const least = Math.min(10, whole[1] - whole[0]);
    if (high - low < least) { const middle = (low + high) / 2; low = middle - least / 2; high = middle + least / 2; }
    const length = Math.min(high - low, whole[1] - whole[0]);
    low = Math.max(whole[0], Math.min(low, whole[1] - length));
    view = [low, low + length];
    for (const figure of timed) redraw(figure);
    for (const button of document.querySelectorAll(".views button[data-from]")) {
      const same = Math.abs(button.dataset.from - view[0]) < 0.6 && Math.abs(button.dataset.to - view[1]) < 0.6;
      button.setAttribute("aria-pressed", same);
    }
  }

  function redraw(figure) {
    const [low, high] = view, length = high - low;
    for (const svg of figure.svgs) svg.setAttribute("viewBox", `${low} 0 ${length} 1000`);
    const step = STEPS.find((s) => length / s <= 10) || STEPS[STEPS.length - 1];
    const ticks = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9; n++) {
      const tick = document.createElement("span");
      tick.textContent = clock(n * step, step, high);
      tick.style.setProperty("--at", (100 * (n * step - low)) / length + "%");
      if (Math.abs(n % 2) === 1) tick.classList.add("minor");
      if (n * step - low > 0.96 * length) tick.classList.add("last");
      ticks.push(tick);
    }
    figure.element.querySelector(".xticks").replaceChildren(...ticks);
    movePins(figure);
    if (figure.at !== null) show(figure, figure.at, false);
  }

  // Pins that would overlap, with their names, stand above each other; brackets follow the zoom.
  function movePins(figure) {
    const bar = figure.element.querySelector(".pins");
    if (!bar) return;
    const wide = Math.max(1, bar.clientWidth), rows = [];
    for (const pin of figure.element.querySelectorAll("[data-x]")) {
      const at = share(figure, Number(pin.dataset.x));
      pin.hidden = at < 0 || at > 1;
      pin.style.setProperty("--at", 100 * at + "%");
      if (pin.hidden || !pin.classList.contains("pin")) continue;
      const name = pin.querySelector(".name");
      if (name) name.classList.toggle("left", at > 0.8);
      const half = 12 / wide, long = name ? (name.offsetWidth ? name.offsetWidth + 12 : 0) / wide : 0;
      const from = at - half - (at > 0.8 ? long : 0), to = at + half + (at > 0.8 ? 0 : long);
      let row = rows.findIndex((end) => from >= end);
      if (row < 0) row = rows.length;
      rows[row] = to;
      pin.style.setProperty("--row-wide", row);
      pin.style.setProperty("--row-narrow", row);
      pin.style.setProperty("--shift", at < 0.15 ? "-10%" : at > 0.85 ? "-90%" : "-50%");
    }
    bar.style.setProperty("--wide", rows.length);
    bar.style.setProperty("--narrow", rows.length);
    for (const bracket of figure.element.querySelectorAll(".bracket")) {
      const from = share(figure, Number(bracket.dataset.from)), to = share(figure, Number(bracket.dataset.to));
      const left = Math.max(0, from), right = Math.min(1, to);
      bracket.hidden = to < 0 || from > 1;
      bracket.style.setProperty("--left", 100 * left + "%");
      bracket.style.setProperty("--width", 100 * Math.max(0, right - left) + "%");
    }
  }

  // ---- pointer and keys ------------------------------------------------------------------
  const unit = (figure, event) => {
    const box = figure.stage.getBoundingClientRect();
    const [low, high] = bounds(figure);
    return low + ((high - low) * (event.clientX - box.left)) / box.width;
  };

  function bind(figure) {
    const zooms = figure.data.kind === "time";
    let from = null, mark = null;
    figure.stage.addEventListener("pointermove", (event) => {
      show(figure, Math.round(unit(figure, event) - 0.5), false);
      if (from === null) return;
      const [a, b] = [share(figure, from), share(figure, unit(figure, event))].sort((p, q) => p - q);
      mark.style.left = 100 * Math.max(0, a) + "%";
      mark.style.width = 100 * (Math.min(1, b) - Math.max(0, a)) + "%";
    });
    figure.stage.addEventListener("pointerleave", () => { if (from === null) hide(); });
    figure.stage.addEventListener("pointerdown", (event) => {
      if (!zooms || event.pointerType !== "mouse" || event.button !== 0) return;
      from = unit(figure, event);
      mark = document.createElement("div");
      mark.className = "drag";
      figure.stage.append(mark);
      figure.stage.setPointerCapture(event.pointerId);
      event.preventDefault();
      figure.stage.focus();
    });
    figure.stage.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const [a, b] = [from, unit(figure, event)].sort((p, q) => p - q);
      const moved = Math.abs(share(figure, b) - share(figure, a)) * figure.stage.clientWidth;
      mark.remove();
      from = null;
      if (moved > 6) zoom(a, b);
    });
    figure.stage.addEventListener("pointercancel", () => { if (mark) mark.remove(); from = null; });
    if (zooms) figure.stage.addEventListener("dblclick", () => zoom(...whole));
    figure.stage.addEventListener("keydown", (event) => key(figure, event));
    figure.stage.addEventListener("blur", hide);
  }

  function key(figure, event) {
    const [low, high] = bounds(figure), zooms = figure.data.kind === "time";
    const pixel = (high - low) / Math.max(1, figure.stage.clientWidth);
    const step = Math.max(1, Math.round(pixel * 4)) * (event.shiftKey ? 10 : 1);
    const at = figure.at ?? Math.round((low + high) / 2);
    const middle = Math.min(high, Math.max(low, at)), length = high - low;
    const acts = {
      ArrowLeft: () => show(figure, Math.max(low, at - step), true),
      ArrowRight: () => show(figure, Math.min(high - 1, at + step), true),
      Home: () => show(figure, low, true),
      End: () => show(figure, high - 1, true),
      "+": () => zooms && zoom(middle - length / 4, middle + length / 4),
      "=": () => zooms && zoom(middle - length / 4, middle + length / 4),
      "-": () => zooms && zoom(middle - length, middle + length),
      0: () => zooms && zoom(...whole),
      Escape: hide,
    };
    if (!(event.key in acts) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  }

  figures.forEach(bind);
  for (const button of document.querySelectorAll(".views button[data-from]"))
    button.addEventListener("click", () => zoom(Number(button.dataset.from), Number(button.dataset.to)));
  if (timed.length) {
    zoom(...first);
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; timed.forEach(movePins); } });
  }
})();
