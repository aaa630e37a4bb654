// A cassette, before and now: the interactions that are not alike, in order.

function drawConversation(body, data) {
  let told = 0;
  for (const pair of data.interactions) {
    const { place } = pair.old ?? pair.new;
    if (place > told) body.append(alike(place - told));
    told = Math.max(told, place + 1);
    body.append(drawnExchange(pair));
  }
  const all = data.same + data.interactions.filter((pair) => pair.old).length;
  if (data.same > 0 && all > told) body.append(alike(all - told));
}

function alike(number) {
  return el("div.alike", {}, `${counted(number, "interaction")} ${number === 1 ? "is" : "are"} alike`);
}

function drawnExchange(pair) {
  const one = pair.new ?? pair.old;
  const state = pair.old ? (pair.new ? "" : ".lost") : ".new";
  const gone = { ".lost": "not there any more", ".new": "new" }[state];
  const result = pair.old && pair.new && pair.old.status !== pair.new.status
    ? `${answer(pair.old)} → ${answer(pair.new)}`
    : answer(one);
  return el(
    `div.exchange${state}`,
    { "data-number": pair.new?.number ?? "" },
    el(
      "h3",
      {},
      el("span.number", {}, `#${one.number} `),
      `${one.method} ${one.path}`,
      el("span.gives", {}, gone ? `${result}, ${gone}` : result),
    ),
    lanes(pair),
    steps(pair),
    el("div.differences", {}, pair.differences.map(drawnDifference)),
    pair.more > 0 ? el("p.more", {}, `… and ${counted(pair.more, "more difference")}`) : null,
  );
}

function answer(exchange) {
  const status = exchange.status ?? "no answer";
  return exchange.end === "complete" ? `${status}` : `${status}, ${exchange.end}`;
}

/** The messages of both sides in time, one side above the other, to the same scale. Recording again keeps times, so
 * those of before are not told as measured now. */
function lanes(pair) {
  const sides = [["before", pair.old, 0, "lost"], ["now", pair.new, 1, "new"]].filter(([, side]) => side);
  // What came at once has no course in time.
  const streamed = sides.some(([, side]) => side.marks.some(([, , first]) => first !== side.marks[0][2]));
  if (!streamed) return null;
  const most = Math.max(1, ...sides.map(([, side]) => side.ms));
  const paired = pair.steps.filter(([old, now]) => old !== null && now !== null);
  const drawn = sides.flatMap(([name, side, at, alone]) => {
    const kept = new Set(paired.map((step) => step[at]));
    const marks = side.marks.map((mark, place) => drawnMark(mark, kept.has(place) ? "kept" : alone));
    placed(side.marks, marks, most);
    const said = side.marks.map(([tag, count]) => (count > 1 ? `${tag} ×${count}` : tag)).join(", ");
    return [
      el("span", {}, name),
      el("div.lane", { role: "img", "aria-label": `${name}: ${said}` }, marks),
      el("span.ms", {}, at === 1 && side.ms === pair.old?.ms ? "as before" : `${side.ms} ms`),
    ];
  });
  return el("div.lanes", {}, drawn);
}

function drawnMark([tag, count, ...times], state) {
  const name = count > 1 ? `${tag} ×${count}` : tag;
  return el(`span.mark.${state}`, { title: `${name}, ${time(times)}` }, name);
}

function time([first, last, isOld]) {
  if (isOld) return "as before";
  return first === last ? `${first} ms` : `${first}–${last} ms`;
}

/** Puts marks where their time is, each wide enough to be seen, and none upon another. */
function placed(marks, drawn, most) {
  const least = Math.min(0.8, 90 / marks.length);
  const gap = least / 4;
  const spans = marks.map(([, , first, last]) => {
    return { from: (first / most) * 100, width: Math.max(least, ((last - first) / most) * 100) };
  });
  let end = 100;
  for (const span of spans.toReversed()) {
    span.from = Math.min(span.from, end - span.width);
    end = span.from - gap;
  }
  let start = 0;
  spans.forEach((span, at) => {
    const to = Math.max(span.from + span.width, start + least);
    span.from = Math.max(span.from, start);
    span.width = Math.max(least, to - span.from);
    start = span.from + span.width + gap;
    drawn[at].style.left = `${span.from}%`;
    drawn[at].style.width = `${span.width}%`;
    drawn[at].classList.toggle("thin", span.width < 4);
  });
}

/** The messages of both sides in order, one beside the other. */
function steps(pair) {
  if (pair.steps.length < 2) return null;
  const cell = (side, place, state, sign, column) => {
    if (place === null) return el(`div.${column}.none`);
    const [tag, count, ...times] = side.marks[place];
    return el(
      `div.${column}${state}`,
      {},
      el("span.sign", {}, sign),
      el("span", {}, tag, count > 1 ? el("span.times", {}, ` ×${count}`) : null),
      el("time", {}, time(times)),
    );
  };
  const rows = pair.steps.flatMap(([old, now]) => [
    cell(pair.old, old, now === null ? ".lost" : "", now === null ? "−" : "", "left"),
    cell(pair.new, now, old === null ? ".new" : "", old === null ? "+" : "", "right"),
  ]);
  if (pair.steps.every((step) => !step.includes(null))) {
    return el("p.more", {}, `${counted(pair.steps.length, "kind")} of messages, in the same order`);
  }
  const titles = [el("div.title", {}, "before"), el("div.title.right", {}, "now")];
  const reached = { tabindex: 0, role: "group", "aria-label": "the messages before and now" };
  return el("div.steps", reached, titles, rows);
}

function drawnDifference([at, old, now]) {
  const lines = [];
  if (old !== null) lines.push(...side("-", old, now ?? ""));
  if (now !== null) lines.push(...side("+", now, old ?? ""));
  return el("div.difference", {}, el("code", {}, at), el("div.text", {}, lines));
}

/** A value in which that is marked which the other one has not. */
function side(sign, value, other) {
  let from = 0;
  while (from < Math.min(value.length, other.length) && value[from] === other[from]) from += 1;
  let to = value.length;
  let end = other.length;
  while (to > from && end > from && value[to - 1] === other[end - 1]) {
    to -= 1;
    end -= 1;
  }
  // Where little is alike, or nothing else, a mark says nothing.
  const whole = other === "" || (to - from) * 2 > value.length || value.includes("\n");
  return whole
    ? value.split("\n").map((line) => drawnLine([sign, line]))
    : [drawnLine([sign, value.slice(0, from), value.slice(from, to), value.slice(to)])];
}
