// An order as a railroad. A part is laid first, which says how much room it takes to the right of and
// above and below its line, and then drawn at a place.

const LETTER = 7.25;
const BOX = 24;
const GAP = 16;
const BEND = 9;
const LEAST = 10;

/** How wide a railroad can be in an element. In a narrow window it takes more rows. */
function roomIn(element) {
  return Math.max(260, (element.clientWidth || 960) - 20);
}

/** Draws an order, or two on the same tracks, within so many pixels; a way is drawn across them. */
function railroad(track, room, said, way = null) {
  const layers = ["lost", "new", "kept", "boxes"].map(() => svg("g"));
  const paper = {
    boxes: [],
    line(state, path) {
      layers[["lost", "new", "kept"].indexOf(state)].append(svg(`path.${state}`, { d: path }));
    },
    put(...shapes) {
      layers[3].append(...shapes);
    },
  };
  const rows = rowsOf(track, room - 60);
  let width = 0;
  // Between rows there is room for what is drawn across.
  const apart = way ? 48 : 14;
  let y = 8;
  const ends = {};
  rows.forEach((row, number) => {
    y += row.up;
    const last = number === rows.length - 1;
    const begin = number === 0 ? 26 : 34;
    if (number === 0) {
      paper.put(svg("circle", { cx: 10, cy: y, r: 4.5 }));
      ends.first = { x: 4, y, width: 12 };
    }
    paper.line("kept", `M${number === 0 ? 14.5 : 24} ${y}H${begin}`);
    row.draw(paper, begin, y);
    const end = begin + row.width;
    if (last) {
      paper.line("kept", `M${end} ${y}h12`);
      paper.put(svg("circle.end", { cx: end + 16, cy: y, r: 4.5 }));
      ends.last = { x: end + 10, y, width: 12 };
    } else {
      const next = y + row.down + apart + rows[number + 1].up;
      const back = y + row.down + 7;
      const turn = Math.min(7, (next - back) / 2);
      paper.line(
        "kept",
        `M${end} ${y}h6q7 0 7 7V${back - 7}q0 7 -7 7H24q-7 0 -7 ${turn}V${next - turn}q0 ${turn} 7 ${turn}`,
      );
    }
    width = Math.max(width, end + 24);
    y += row.down + (last ? 14 : apart);
  });
  const more = way ? across(paper, way, ends) : { top: 0, bottom: 0 };
  const top = Math.min(0, more.top);
  const height = Math.max(y, more.bottom) - top;
  const size = { width, height, viewBox: `0 ${top} ${width} ${height}`, role: "img", "aria-label": said };
  return el("div.railroad", { tabindex: 0, role: "group", "aria-label": "the order" }, svg("svg", size, layers));
}

/** A way from a box to another one, by a new one where it is given. Says where its top and bottom are. */
function across(paper, { before, from, via, to }, ends) {
  const start = from === null ? [ends.first] : paper.boxes.filter((box) => box.tag === from);
  const goal = to === null ? [ends.last] : paper.boxes.filter((box) => box.tag === to);
  const pairs = start.flatMap((one) => goal.map((other) => ({ one, other })));
  const far = ({ one, other }) => {
    const right = other.x - one.x;
    return Math.abs(other.y - one.y) * 4 + (right > 0 ? right : 4000 - right);
  };
  // Where a type of message has several boxes, the way comes from the one behind what was said before.
  const leads = paper.boxes.filter((box) => box.tag === before);
  const apart = (lead, one) => Math.abs(one.x - lead.x) + 4 * Math.abs(one.y - lead.y);
  const led = ({ one }) => (leads.length > 0 ? Math.min(...leads.map((lead) => apart(lead, one))) : 0);
  pairs.sort((a, b) => led(a) - led(b) || far(a) - far(b));
  if (pairs.length === 0) return { top: 0, bottom: 0 };
  const { one, other } = pairs[0];
  // Forward it goes above the line, back and to the next row below it.
  const turn = other.x > one.x && other.y <= one.y + BOX ? -1 : 1;
  const [left, right] = [one.x + one.width - 8, other.x + 8];
  const begin = one.y + (from === null ? 5 : 12) * turn;
  const end = other.y + (to === null ? 5 : 12) * turn;
  const lift = turn * Math.min(64, 40 + Math.abs(right - left) / 12);
  const middle = { x: (left + right) / 2, y: (begin + end) / 2 + 0.75 * lift };
  paper.put(svg("path.way", { d: `M${left} ${begin}C${left} ${begin + lift} ${right} ${end + lift} ${right} ${end}` }));
  const tip = -turn;
  paper.put(svg("path.arrow.new", { d: `M${right} ${end}l-4 ${-8 * tip}h8z` }));
  if (via !== null) {
    const box = laidEvent(via, "new");
    box.draw(paper, middle.x - box.width / 2, middle.y);
  }
  return { top: middle.y - 18, bottom: middle.y + 18 };
}

/** A sequence in as many rows as it takes; anything else in one. */
function rowsOf(track, room) {
  const parts = track.kind === "sequence" ? track.parts : [track];
  const rows = [[]];
  let used = 0;
  for (const part of parts.map((part) => laid(part, "kept"))) {
    if (used > 0 && used + part.width > room) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1).push(part);
    used += part.width + GAP;
  }
  return rows.map((row) => inARow(row, "kept"));
}

/** How a part lies that belongs to `state` where it does not say otherwise. */
function laid(track, state) {
  const kinds = {
    nothing: () => inARow([], state),
    event: () => laidEvent(track.name, state, track.tag),
    sequence: () => inARow(track.parts.map((part) => laid(part, state)), state),
    choice: () => laidChoice(track.branches, state),
    mixture: () => laidMixture(track.branches, state),
    repeated: () => laidRepeated(track, state),
    slice: () => framed(laid(track.track, state), `each ${track.key}${track.between ? ", others between" : ""}`),
  };
  return kinds[track.kind]();
}

/** What a part of a part belongs to. */
function within(state, own) {
  return own === "kept" ? state : own;
}

function columns(text) {
  return Array.from(text).reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e7f ? 2 : 1), 0);
}

function laidEvent(name, state, tag = name) {
  const shown = name.length > 44 ? `${name.slice(0, 43)}…` : name;
  const width = columns(shown) * LETTER + 18;
  const half = BOX / 2;
  return {
    width, up: half, down: half,
    draw(paper, x, y) {
      paper.boxes.push({ tag, x, y, width });
      paper.put(
        svg(`rect.${state}`, { x, y: y - half, width, height: BOX, rx: 6 }),
        svg(`text.${state}`, { x: x + width / 2, y: y + 0.5 }, svg("title", {}, name), shown),
      );
    },
  };
}

function inARow(parts, state) {
  const width = parts.reduce((sum, part) => sum + part.width, GAP * Math.max(0, parts.length - 1));
  return {
    width: Math.max(width, LEAST),
    up: Math.max(LEAST / 2, ...parts.map((part) => part.up)),
    down: Math.max(LEAST / 2, ...parts.map((part) => part.down)),
    draw(paper, x, y) {
      if (parts.length === 0) paper.line(state, `M${x} ${y}h${LEAST}`);
      parts.forEach((part, number) => {
        if (number > 0) paper.line(state, `M${x} ${y}h${GAP}`);
        x += number > 0 ? GAP : 0;
        part.draw(paper, x, y);
        x += part.width;
      });
    },
  };
}

/** One below the other; the first lies on the line. */
function laidChoice(branches, state) {
  const parts = branches.map((branch) => {
    const own = within(state, branch.state);
    return { state: own, ...laid(branch.track, own) };
  });
  // What stays lies straight, and what takes no room lies next to it.
  parts.sort((one, other) => (one.state === state ? 0 : 1) - (other.state === state ? 0 : 1));
  if (parts.length === 1) return beside(parts[0]);
  const side = 2 * BEND + 2;
  const inner = Math.max(...parts.map((part) => part.width));
  const places = [0];
  for (let at = 1; at < parts.length; at += 1) {
    const room = parts[at - 1].down + 8 + parts[at].up;
    places.push(places[at - 1] + Math.max(room, 2 * BEND));
  }
  return {
    width: inner + 2 * side,
    up: parts[0].up,
    down: places.at(-1) + parts.at(-1).down,
    draw(paper, x, y) {
      parts.forEach((part, number) => {
        const at = y + places[number];
        const from = x + side;
        const to = from + part.width;
        if (number === 0) {
          paper.line(part.state, `M${x} ${y}H${from}M${to} ${y}H${from + inner + side}`);
        } else {
          const down = `v${places[number] - 2 * BEND}`;
          const up = `v${2 * BEND - places[number]}`;
          paper.line(
            part.state,
            `M${x} ${y}h2q${BEND} 0 ${BEND} ${BEND}${down}q0 ${BEND} ${BEND} ${BEND}` +
              `M${to} ${at}H${from + inner}q${BEND} 0 ${BEND} ${-BEND}${up}q0 ${-BEND} ${BEND} ${-BEND}h2`,
          );
        }
        part.draw(paper, from, at);
      });
    },
  };
}

/** A part of one side alone, with what leads to it and from it. */
function beside(part) {
  return {
    ...part,
    width: part.width + 2 * LEAST,
    draw(paper, x, y) {
      paper.line(part.state, `M${x} ${y}h${LEAST}m${part.width} 0h${LEAST}`);
      part.draw(paper, x + LEAST, y);
    },
  };
}

/** In any mixture: a frame, and each on a line of its own in it. */
function laidMixture(branches, state) {
  return framed(laidChoice(branches, state), "in any mixture");
}

/** What may be passed over lies below its way round, what comes again above its way back. */
function laidRepeated(track, state) {
  const inner = laid(track.track, state);
  const side = track.skip || track.again ? 2 * BEND : 0;
  const up = track.skip ? Math.max(inner.up + 8, 2 * BEND) : inner.up;
  const down = track.again ? Math.max(inner.down + 8, 2 * BEND) : inner.down;
  const times = track.times.filter((each) => each !== null);
  const said = times[0] === times[1] ? times.slice(0, 1) : times;
  return {
    width: inner.width + 2 * side,
    up: up + (track.skip ? 4 : 0),
    down: down + (track.again ? 4 : 0) + (said.length > 0 ? 12 : 0),
    draw(paper, x, y) {
      const from = x + side;
      const to = from + inner.width;
      paper.line(state, `M${x} ${y}H${from}M${to} ${y}H${to + side}`);
      inner.draw(paper, from, y);
      if (track.skip) way(paper, within(state, track.skip), x, to + side, y, -up);
      if (track.again) back(paper, within(state, track.again), from, to, y, down);
      if (said.length > 0) {
        const place = { x: (from + to) / 2, y: y + down + 9 };
        paper.put(svg("text.note", place, said.join(" → ")));
      }
    },
  };
}

/** From one place of the line to another, at some height. */
function way(paper, state, from, to, y, height) {
  const turn = height < 0 ? -BEND : BEND;
  const straight = height - 2 * turn;
  paper.line(
    state,
    `M${from} ${y}q${BEND} 0 ${BEND} ${turn}v${straight}q0 ${turn} ${BEND} ${turn}` +
      `H${to - 2 * BEND}q${BEND} 0 ${BEND} ${-turn}v${-straight}q0 ${-turn} ${BEND} ${-turn}`,
  );
  arrow(paper, state, (from + to) / 2, y + height, 1);
}

/** Back to the beginning of a part, below it. */
function back(paper, state, from, to, y, height) {
  const straight = height - 2 * BEND;
  paper.line(
    state,
    `M${to} ${y}q${BEND} 0 ${BEND} ${BEND}v${straight}q0 ${BEND} ${-BEND} ${BEND}` +
      `H${from}q${-BEND} 0 ${-BEND} ${-BEND}v${-straight}q0 ${-BEND} ${BEND} ${-BEND}`,
  );
  arrow(paper, state, (from + to) / 2, y + height, -1);
}

function arrow(paper, state, x, y, to) {
  paper.put(svg(`path.arrow.${state}`, { d: `M${x + 4 * to} ${y}l${-7 * to} -4v8z` }));
}

function framed(inner, title) {
  const room = 10;
  const width = Math.max(inner.width + 2 * room, columns(title) * 6 + 2 * room);
  return {
    width,
    up: inner.up + room + 12,
    down: inner.down + room,
    draw(paper, x, y) {
      const start = x + (width - inner.width) / 2;
      const top = y - inner.up - room;
      const height = inner.up + inner.down + 2 * room - 2;
      paper.line("kept", `M${x} ${y}H${start}M${start + inner.width} ${y}H${x + width}`);
      paper.put(
        svg("rect.frame", { x: x + 2, y: top, width: width - 4, height, rx: 6 }),
        svg("text.note", { x: x + width / 2, y: top - 6 }, title),
      );
      inner.draw(paper, start, y);
    },
  };
}
