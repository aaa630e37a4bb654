// What a reader does: open, filter, search, and walk by keys.

const items = [...document.querySelectorAll(".item")];
const filters = [...document.querySelectorAll(".filter")];
const search = document.getElementById("search");
const shown = { verdicts: new Set(), words: [] };

// Opening

function draw(item) {
  if (item.dataset.drawn) return;
  item.dataset.drawn = "yes";
  const body = item.querySelector(".body");
  const data = dataOf(item);
  if (item.classList.contains("change")) {
    if (data) drawOrder(item.querySelector(".order"), data);
    return;
  }
  if (!data) body.append(el("p.more", {}, "This was left out, for the page was too large: retape diff --format json tells all."));
  else if (item.classList.contains("contract")) drawContract(body, data);
  else drawConversation(body, data);
}

/** The order that was promised, and the way that is new in it. */
function drawOrder(place, { track, way }) {
  const said = `the order that was promised, and a new way from ${way.from ?? "the beginning"} to ${way.via ?? way.to ?? "the end"}`;
  place.append(railroad(track, roomIn(place), said, way));
}

for (const item of items) {
  item.addEventListener("toggle", () => item.open && draw(item));
}

items.filter((item) => item.open).forEach(draw);

/** Opens what a link leads to. */
function follow(id, interaction) {
  const item = document.getElementById(id);
  if (!item?.classList.contains("item")) return false;
  if (item.hidden) showAll();
  item.open = true;
  draw(item);
  const cited = interaction && item.querySelector(`.exchange[data-number="${interaction}"]`);
  item.querySelectorAll(".cited").forEach((other) => other.classList.remove("cited"));
  cited?.classList.add("cited");
  (cited || item).scrollIntoView({ block: cited ? "center" : "start" });
  item.querySelector("summary").focus({ preventScroll: true });
  return true;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link && follow(link.hash.slice(1), link.dataset.interaction)) {
    history.replaceState(null, "", link.hash);
    event.preventDefault();
  }
});

// Filtering and searching

const texts = new Map();

/** All words of an item, also those that are not drawn yet, in small letters. */
function textOfItem(item) {
  if (!texts.has(item)) {
    const said = [item.textContent];
    const collect = (value) => {
      if (typeof value === "string") said.push(value);
      else if (value && typeof value === "object") Object.values(value).forEach(collect);
    };
    const data = item.dataset.drawn ? null : dataOf(item);
    if (data?.lines) data.lines.forEach((line) => said.push(line.slice(1).join("")));
    if (data?.interactions) collect(data.interactions);
    texts.set(item, said.join("\n").toLowerCase());
  }
  return texts.get(item);
}

function fits(item) {
  const { verdicts, words } = shown;
  const own = item.dataset.verdict?.split(" ");
  // Conversations have no verdict of their own.
  const judged = verdicts.size === 0 || own === undefined || own.some((verdict) => verdicts.has(verdict));
  return judged && (words.length === 0 || words.every((word) => textOfItem(item).includes(word)));
}

function refresh() {
  let left = 0;
  for (const item of items) {
    item.hidden = !fits(item);
    left += item.hidden ? 0 : 1;
  }
  for (const filter of filters) {
    filter.setAttribute("aria-pressed", shown.verdicts.has(filter.dataset.filter));
  }
  for (const list of document.querySelectorAll(".list")) {
    list.hidden = list.querySelector(".item:not([hidden])") === null;
  }
  const all = shown.verdicts.size === 0 && shown.words.length === 0;
  const changes = items.filter((item) => item.classList.contains("change"));
  const said = `${changes.filter((item) => !item.hidden).length} of ${counted(changes.length, "change")}`;
  document.getElementById("status").textContent = all ? "" : `${said} shown`;
  document.getElementById("nothing").hidden = left > 0 || items.length === 0;
  highlight();
}

/** Marks the words that were searched for, as far as they are to be seen without opening anything. */
function highlight() {
  if (!window.Highlight) return;
  CSS.highlights.delete("found");
  const ranges = [];
  const words = shown.words.filter((word) => word.length > 1);
  for (const item of words.length > 0 ? items.filter((item) => !item.hidden).slice(0, 200) : []) {
    const walk = document.createTreeWalker(item.querySelector("summary"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const text = walk.currentNode.data.toLowerCase();
      for (const word of words) {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
          if (at + word.length > walk.currentNode.length) break;
          const range = new Range();
          range.setStart(walk.currentNode, at);
          range.setEnd(walk.currentNode, at + word.length);
          ranges.push(range);
        }
      }
    }
  }
  if (ranges.length > 0) CSS.highlights.set("found", new Highlight(...ranges));
}

function showAll() {
  shown.verdicts.clear();
  search.value = "";
  shown.words = [];
  refresh();
}

for (const filter of filters) {
  filter.addEventListener("click", () => {
    const verdict = filter.dataset.filter;
    if (!shown.verdicts.delete(verdict)) shown.verdicts.add(verdict);
    refresh();
  });
}

/** One verdict alone, the next one each time, and all again after the last. */
function nextFilter() {
  const names = filters.map((filter) => filter.dataset.filter);
  const [now] = shown.verdicts;
  const next = names[shown.verdicts.size === 1 ? names.indexOf(now) + 1 : 0];
  shown.verdicts.clear();
  if (next) shown.verdicts.add(next);
  refresh();
}

let waiting;
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    shown.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    refresh();
  }, 80);
});

document.getElementById("all").addEventListener("click", showAll);

// Light and dark

function dark() {
  const own = document.documentElement.dataset.theme;
  return own ? own === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function switchTheme() {
  const theme = dark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("retape-theme", theme);
  } catch {
    // A page that may keep nothing is switched all the same.
  }
}

try {
  const theme = localStorage.getItem("retape-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // As the system says.
}
document.getElementById("theme").addEventListener("click", switchTheme);

// Keys

const help = document.getElementById("help");
document.getElementById("keys").addEventListener("click", () => help.showModal());

function visit(item) {
  if (!item) return;
  const summary = item.querySelector("summary");
  summary.focus({ preventScroll: true });
  summary.scrollIntoView({ block: "nearest" });
}

/** Walks so many items from where the reader is, among those that are shown. */
function walk(by) {
  const open = items.filter((item) => !item.hidden);
  const here = open.indexOf(document.activeElement?.closest?.(".item"));
  visit(open[here < 0 ? (by > 0 ? 0 : open.length - 1) : Math.max(0, Math.min(open.length - 1, here + by))]);
}

function nextPart() {
  const parts = [...document.querySelectorAll(".list:not([hidden])")].filter((part) => part.querySelector(".item"));
  const here = parts.indexOf(document.activeElement?.closest?.(".list"));
  visit(parts[(here + 1) % parts.length]?.querySelector(".item:not([hidden])"));
}

const keys = {
  j: () => walk(1),
  k: () => walk(-1),
  g: () => walk(-Infinity),
  G: () => walk(Infinity),
  n: nextPart,
  f: nextFilter,
  t: switchTheme,
  "/": () => {
    search.focus();
    search.select();
  },
  "?": () => help.showModal(),
  Escape: showAll,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target === search) {
    if (event.key === "Escape") showAll();
    if (event.key === "Escape" || event.key === "Enter") walk(1);
    return;
  }
  const act = keys[event.key];
  if (act) {
    act();
    event.preventDefault();
  }
});

// On paper all changes that are shown are open, if they are not very many.

let opened = [];
addEventListener("beforeprint", () => {
  const closed = items.filter((item) => item.classList.contains("change") && !item.hidden && !item.open);
  opened = closed.length <= 200 ? closed : [];
  for (const item of opened) {
    item.open = true;
    draw(item);
  }
});
addEventListener("afterprint", () => opened.forEach((item) => (item.open = false)));

follow(location.hash.slice(1));
