// A contract, before and now: its orders drawn, its lines below.

const AROUND = 3;

function drawContract(body, data) {
  for (const order of data.orders) body.append(drawnCase(order, body));
  if (data.edges) {
    const edges = drawnEdges(data.edges);
    const said = edges.length > 0 ? "in all cases together, new and lost:" : "in all cases together, the same edges";
    body.append(el("div.case", {}, el("p", {}, said), listed(edges)));
  }
  body.append(textOf(data.lines));
}

/** The order of one case, as a railroad and by the edges that came and went. */
function drawnCase(order, where) {
  const edges = drawnEdges(order);
  const said = edges.map((edge) => `${edge.dataset.sign} ${edge.textContent}`).join(", ");
  return el(
    "div.case",
    {},
    caption(order),
    railroad(order.track, roomIn(where), said || "no other edges"),
    listed(edges),
  );
}

function drawnEdges(edges) {
  const edge = (sign, state) => ([from, to]) => {
    const said = `${from ?? "the beginning"} → ${to ?? "the end"}`;
    return el(`li.${state}`, { "data-sign": sign }, el("code", {}, said));
  };
  return [...edges.new.map(edge("+", "new")), ...edges.lost.map(edge("−", "lost"))];
}

function listed(edges) {
  if (edges.length === 0) return null;
  return el("ul.edges", { "aria-label": "edges that are new or lost" }, edges);
}

/** In which case it is, and on which side if it is on one only. */
function caption({ case: asked, side }) {
  if (asked === "" && !side) return null;
  const cases = asked === "" ? "in all cases" : "in the case ";
  return el("p", {}, side ? el("b", {}, `${side} `) : null, cases, el("code", {}, asked));
}

/** All lines, those that are alike folded but for a few. */
function textOf(lines) {
  const near = lines.map(() => false);
  lines.forEach(([sign], at) => {
    if (sign === " ") return;
    near.fill(true, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const text = el("div.text");
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (end < lines.length && near[end] === near[at]) end += 1;
    const part = lines.slice(at, end);
    text.append(...(near[at] || part.length < 4 ? part.map(drawnLine) : [fold(part)]));
    at = end;
  }
  return text;
}

function fold(lines) {
  const button = el("button.fold", { type: "button" }, `⋯ ${counted(lines.length, "line")} alike`);
  button.addEventListener("click", () => button.replaceWith(...lines.map(drawnLine)));
  return button;
}

/** A line: its sign, and its parts, of which every second one differs. */
function drawnLine([sign, ...parts]) {
  const state = { "+": ".new", "-": ".lost" }[sign] ?? "";
  const shown = sign === "-" ? "−" : sign;
  const pieces = parts.map((part, at) => (at % 2 === 1 ? el("mark", {}, part) : part));
  return el(`div.line${state}`, { "data-sign": shown }, el("span", {}, pieces));
}
