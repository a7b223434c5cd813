"use strict";
// Draws the figures when they come into view, sorts tables, unfolds equal lines.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Map();

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Colours of the page, by the names of its style's variables.
  const names = new Set(["--ink", "--card", "--soft", "--blue", "--orange", "--green"]);
  const inked = (value) => {
    if (names.has(value)) return colour(value);
    if (Array.isArray(value)) return value.map(inked);
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inked(one)]));
    return value;
  };

  // A figure follows the width of its place, except on paper, which is there before a layout is.
  const PAPER_WIDTH = 980;
  const isPrinting = () => document.documentElement.classList.contains("printing");

  const themed = (figure) => {
    const layout = inked(figure.layout);
    const axis = { gridcolor: colour("--grid"), zerolinecolor: colour("--grid"), linecolor: colour("--line"), automargin: true };
    for (const key of new Set([...Object.keys(layout), "xaxis", "yaxis"]))
      if (/^[xy]axis\d*$/.test(key)) layout[key] = { ...axis, ...layout[key] };
    return {
      margin: { l: 60, r: 30, t: 30, b: 50 },
      ...layout,
      ...(isPrinting() ? { width: PAPER_WIDTH } : { autosize: true }),
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--ink") },
      font: { family: getComputedStyle(document.body).fontFamily, color: colour("--ink"), size: 13 },
    };
  };

  const traces = (figure) => inked(figure.data).map((trace) =>
    trace.type === "parcoords" // drawn by older releases of Optuna
      ? { ...trace, labelfont: { color: colour("--ink") }, tickfont: { color: colour("--ink") }, rangefont: { color: colour("--soft") } }
      : trace);

  const draw = (script) => {
    const id = script.dataset.figure;
    if (drawn.has(id)) return drawn.get(id);
    const figure = JSON.parse(script.textContent);
    const place = document.getElementById(id);
    // Only buttons that stay on this page: Plotly has others that send the figure away.
    const buttons = [["toImage", "zoom2d", "pan2d", "resetScale2d"]];
    const options = { responsive: true, displaylogo: false, modeBarButtons: buttons };
    const done = Plotly.newPlot(place, traces(figure), themed(figure), options);
    drawn.set(id, done);
    return done;
  };

  const scripts = [...document.querySelectorAll("script[data-figure]")];
  const drawAll = () => Promise.all(scripts.map(draw));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting) {
        watcher.unobserve(entry.target);
        draw(scripts.find((one) => one.dataset.figure === entry.target.id));
      }
  }, { rootMargin: "600px" });
  for (const script of scripts) watcher.observe(document.getElementById(script.dataset.figure));

  const redraw = () => {
    for (const script of scripts)
      if (drawn.has(script.dataset.figure)) {
        const figure = JSON.parse(script.textContent);
        Plotly.react(script.dataset.figure, traces(figure), themed(figure));
      }
  };
  dark.addEventListener("change", redraw);
  // Paper is white, and nothing on it comes into view later.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    redraw();
    drawAll();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    redraw();
  });

  const valueOf = (row, column, isNumber) => {
    const cell = row.cells[column];
    const text = (cell.dataset.value ?? cell.textContent).trim();
    if (!isNumber) return text;
    const number = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(number) ? Infinity : number;
  };

  const sort = (table, column, header) => {
    const isNumber = header.dataset.kind === "number";
    const isAscending = header.getAttribute("aria-sort") !== "ascending";
    const rows = [...table.tBodies[0].rows];
    const keys = new Map(rows.map((row) => [row, valueOf(row, column, isNumber)]));
    rows.sort((a, b) => {
      const [one, other] = [keys.get(a), keys.get(b)];
      const order = isNumber ? one - other || 0 : one.localeCompare(other, undefined, { numeric: true });
      return isAscending ? order : -order;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
    table.tBodies[0].append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable"))
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      button.addEventListener("click", () => sort(table, column, header));
      header.replaceChildren(button);
    });

  for (const button of document.querySelectorAll(".fold button"))
    button.addEventListener("click", () => {
      const fold = button.closest("tbody");
      fold.nextElementSibling.hidden = false;
      fold.remove();
    });

  // For tests, and for whoever saves the page as a picture.
  window.mnemeReport = { drawAll };
})();
