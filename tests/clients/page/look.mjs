// Opens the pages of `retape diff` in a real browser, and does in them what a reader does.
//
// Usage: node look.mjs RETAPE CHROMIUM [FOLDER]   pictures are left in the folder, if there is one

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Browser, Page } from "./browser.mjs";

const [retape, chromium, pictures] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "retape-page-"));
const changed = fileURLToPath(new URL("changed.py", import.meta.url));

/** The changes as people are told them: one in several places once, as the first. */
function told(report) {
  const groups = new Map();
  for (const change of report.changes) {
    const { path, verdict, rule, approved, endpoint, what } = change;
    const leaf = path.split(".").pop();
    const said = path === "" ? `${endpoint} ${what}` : what.replace(`\`${path}\``, `\`${leaf}\``);
    const gist = JSON.stringify([verdict, rule, approved, said]);
    if (!groups.has(gist)) groups.set(gist, change);
  }
  const all = [...groups.values()];
  const counts = {};
  for (const verdict of Object.keys(report.counts)) {
    const is = (change) => (change.approved ? "approved" : change.verdict) === verdict;
    counts[verdict] = all.filter(is).length;
  }
  return { changes: all, counts };
}

/** Two sides and the page about them; the report as a value. */
async function made(what, ...more) {
  const sides = ["old", "new"].map((side) => join(folder, what, side));
  execFileSync("python3", [changed, what, ...sides]);
  const outputs = ["html", "json"].map((ending) => join(folder, `${what}.${ending}`));
  const compare = (more) => {
    const approvals = ["--approvals", join(folder, `${what}.toml`)];
    const output = outputs.flatMap((file) => ["--output", file]);
    const done = spawnSync(retape, ["diff", ...sides, ...approvals, ...output, ...more]);
    assert.equal(done.status, 1, done.stderr.toString());
    return readFile(outputs[1], "utf8").then(JSON.parse);
  };
  let report = await compare([]);
  const approved = report.changes.find((change) => more.includes(change.rule));
  if (approved) report = await compare(["--approve", approved.fingerprint, "--reason", "no client reads it"]);
  return { url: pathToFileURL(outputs[0]).href, report, told: told(report) };
}

let failed = 0;
async function check(name, act) {
  try {
    await act();
    console.log(`page: ${name}: ok`);
  } catch (error) {
    failed += 1;
    console.error(`page: ${name}: ${error.message}`);
  }
}

async function picture(page, name, options) {
  if (pictures) await writeFile(join(pictures, `${name}.png`), await page.picture(options));
}

const SHOWN = ".change:not([hidden])";
const count = (page, selector) => page.ask(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
const text = (page, selector) => page.ask(`document.querySelector(${JSON.stringify(selector)})?.textContent`);
const focused = (page) => page.ask("document.activeElement.closest('.item')?.id");

/** Searches as a reader does, and waits until it is done. */
async function search(page, words, until) {
  await page.press("/");
  await page.type(words);
  await page.until(until);
}

const real = await made("real", "tag-new");
const many = await made("many");
const browser = await Browser.start(chromium);
const page = await Page.open(browser);

await check("it opens and tells every change", async () => {
  await page.go(real.url);
  assert.equal(await count(page, ".change"), real.told.changes.length);
  assert.equal(await count(page, ".contract"), real.report.contracts.length);
  assert.equal(await count(page, ".conversation"), real.report.cassettes.length);
  const first = real.report.headline.replaceAll("`", "");
  assert.equal(await text(page, "h1"), first);
  await picture(page, "light");
});

await check("what breaks a client is open, and says which tests show it", async () => {
  const open = real.told.changes.filter((change) => change.verdict === "breaking" && !change.approved);
  assert.ok(open.length > 0);
  assert.equal(await count(page, ".change[open]"), open.length);
  assert.equal(await count(page, ".change.breaking[open]"), open.length);
  const { fingerprint, witnesses } = open[0];
  const tests = await text(page, `#change-${fingerprint} summary .tests`);
  assert.ok(witnesses.cassettes.slice(0, 3).every((name) => tests.includes(name)), tests);
});

await check("every verdict has a legend in its colour", async () => {
  for (const verdict of Object.keys(real.report.counts)) {
    const colour = (selector) => page.ask(`getComputedStyle(document.querySelector('${selector}')).color`);
    assert.ok((await text(page, `.legend .${verdict} dd`)).length > 0, verdict);
    assert.equal(await colour(`.legend .${verdict} dt`), await colour(`.change.${verdict} .badge`));
  }
});

await check("a picture of the whole page has no blank rows", async () => {
  const blank = "[...document.querySelectorAll('.item .what')].filter((it) => !it.checkVisibility({ contentVisibilityAuto: true }))";
  assert.equal(await page.ask(`${blank}.length`), 0);
  await picture(page, "whole", { whole: true });
});

await check("a verdict alone can be shown", async () => {
  for (const [verdict, number] of Object.entries(real.told.counts).filter(([, number]) => number > 0)) {
    const filter = `document.querySelector('[data-filter=${verdict}]')`;
    await page.ask(`${filter}.click()`);
    assert.equal(await count(page, SHOWN), number, verdict);
    assert.equal(await count(page, `${SHOWN}.${verdict}`), number, verdict);
    assert.equal(await page.ask(`${filter}.getAttribute("aria-pressed")`), "true");
    await page.ask(`${filter}.click()`);
  }
  assert.equal(await count(page, SHOWN), real.told.changes.length);
  assert.ok(Object.values(real.report.counts).every((number) => number > 0), "every verdict is tried");
});

await check("the key f walks through the verdicts", async () => {
  const seen = [];
  for (let turn = 0; turn <= 5; turn += 1) {
    await page.press("f");
    seen.push(await page.ask("document.querySelector('[aria-pressed=true]')?.dataset.filter ?? 'all'"));
  }
  assert.deepEqual(seen, ["breaking", "unproven", "compatible", "trim", "approved", "all"]);
});

await check("it is searched, also in what is not drawn yet", async () => {
  await search(page, "Stream Ends usage_statistics", "document.querySelectorAll('.change:not([hidden])').length === 1");
  assert.match(await text(page, SHOWN), /the stream ends after/);
  await page.press("Escape");
  await search(page, "checkpoint-1", "document.querySelectorAll('.item:not([hidden])').length === 1");
  assert.match(await text(page, ".item:not([hidden]) summary"), /return_steps/);
  await page.press("Escape");
  await search(page, "nobody said this", "!document.getElementById('nothing').hidden");
  await page.press("Escape");
  assert.equal(await count(page, ".item[hidden]"), 0);
});

await check("it is walked by keys", async () => {
  await page.ask("document.activeElement.blur()");
  await page.press("j");
  const first = await focused(page);
  await page.press("j");
  const second = await focused(page);
  await page.press("k");
  assert.equal(await focused(page), first);
  assert.notEqual(first, second);
  // The worst is open at first.
  await page.press("Enter");
  await page.until(`!document.getElementById('${first}').open`);
  await page.press("Enter");
  await page.until(`document.getElementById('${first}').open`);
  await page.press("n");
  assert.equal(await focused(page), "contract-0");
  await page.press("G");
  assert.equal(await focused(page), `cassette-${real.report.cassettes.length - 1}`);
  await page.press("?");
  await page.until("document.getElementById('help').open");
  await page.press("Escape");
  await page.until("!document.getElementById('help').open");
  await page.ask("document.getElementById('keys').click()");
  await page.ask("document.querySelector('#help button').click()");
  await page.until("!document.getElementById('help').open");
});

await check("an order is drawn with the way that is new in it", async () => {
  const change = real.report.changes.find((change) => change.rule === "order-end-new");
  const id = `#change-${change.fingerprint}`;
  await page.ask(`document.querySelector('${id}').open = true`);
  await page.until(`document.querySelector('${id} svg path.way')`);
  const [way, badge] = [["svg path.way", "stroke"], [".badge", "color"]].map(
    ([selector, style]) => `getComputedStyle(document.querySelector('${id} ${selector}')).${style}`);
  assert.equal(await page.ask(way), await page.ask(badge));
  assert.match(await page.ask(`document.querySelector('${id} svg').getAttribute('aria-label')`), /stop_reason/);
  await page.ask(`document.querySelector('${id}').scrollIntoView({ block: "center" })`);
  await picture(page, "order");
});

await check("a change leads to the recording that shows it", async () => {
  const change = real.report.changes.find((change) => change.rule === "order-end-new");
  await page.ask(`document.querySelector('#change-${change.fingerprint} a[data-interaction]').click()`);
  await page.until("document.querySelector('.conversation[open] .exchange.cited')");
  const { cassette, interaction } = change.witnesses;
  assert.equal(await text(page, ".conversation[open] summary code"), cassette);
  assert.match(await text(page, ".exchange.cited h3"), new RegExp(`^#${interaction} `));
  assert.equal(await count(page, ".exchange.cited .steps .lost"), 1);
  await picture(page, "conversation");
});

await check("everything opens, and what was recorded stays text", async () => {
  await page.ask("document.querySelectorAll('.item').forEach((item) => (item.open = true))");
  await page.until("[...document.querySelectorAll('.item')].every((item) => item.dataset.drawn)");
  assert.equal(await page.ask("[...document.querySelectorAll('.body')].filter((body) => !body.textContent).length"), 0);
  assert.ok(await page.ask("document.querySelector('main').textContent.includes('<img src=x onerror=alert(1)>')"));
  assert.equal(await count(page, "img, b[onclick], iframe, object"), 0);
  assert.notEqual(await page.ask("document.title"), "owned");
});

/** The least contrast of verdicts and of quiet text with what is behind them. */
const CONTRAST = `Math.min(...[...document.querySelectorAll(".badge, .place, .what, .size, h2")].map((one) => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const linear = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  let behind = one;
  while (/, 0\\)$|transparent/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
  const both = [light(getComputedStyle(one).color), light(getComputedStyle(behind).backgroundColor)];
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
}))`;

await check("it can be read in light and in dark", async () => {
  const colour = "getComputedStyle(document.body).backgroundColor";
  const light = await page.ask(colour);
  assert.ok((await page.ask(CONTRAST)) >= 4.5, `contrast ${await page.ask(CONTRAST)}`);
  await page.press("t");
  const dark = await page.ask(colour);
  assert.notEqual(dark, light);
  assert.ok((await page.ask(CONTRAST)) >= 4.5, `contrast ${await page.ask(CONTRAST)}`);
  await page.press("t");
  assert.equal(await page.ask(colour), light);
  const system = await Page.open(browser, { scheme: "dark" });
  await system.go(real.url);
  await system.ask("localStorage.clear()");
  await system.go(real.url);
  assert.equal(await system.ask(colour), dark);
  await picture(system, "dark");
});

await check("it fits a narrow window and paper", async () => {
  await page.go(real.url);
  await page.size(800, 1200);
  assert.equal(await page.ask("document.documentElement.scrollWidth"), 800);
  await picture(page, "narrow");
  await page.size(400, 900);
  assert.equal(await page.ask("document.documentElement.scrollWidth"), 400);
  await picture(page, "phone");
  // Names stay whole: what they stand in scrolls.
  await page.ask("document.querySelectorAll('.conversation').forEach((it) => (it.open = true))");
  await page.until("document.querySelector('.steps')");
  const heights = "[...document.querySelectorAll('.steps > *')].map((it) => it.clientHeight)";
  assert.ok(await page.ask(`Math.max(...${heights}) < 25`), `heights ${await page.ask(heights)}`);
  assert.equal(await page.ask("document.documentElement.scrollWidth"), 400);
  await page.size(1280, 900);
  const paper = await page.print();
  if (pictures) await writeFile(join(pictures, "paper.pdf"), paper);
  assert.equal(paper.subarray(0, 5).toString(), "%PDF-");
});

await check("it complains about nothing and asks the network for nothing", async () => {
  assert.deepEqual(page.complaints, []);
  assert.deepEqual([...new Set(page.requests)], [real.url]);
});

await check("1,000 changes are opened, filtered and searched", async () => {
  const plain = join(folder, "plain.html");
  await writeFile(plain, "<!doctype html><title>plain</title><p>plain");
  const large = await Page.open(browser);
  const nothing = await large.go(pathToFileURL(plain).href);
  const opened = await large.go(many.url);
  assert.ok(many.told.changes.length >= 1000);
  // One change in several places is one row.
  const rows = new Set(many.told.changes.map((change) => change.group)).size;
  assert.equal(await count(large, ".change"), rows);
  await picture(large, "many");
  const timed = async (act) => {
    const begun = performance.now();
    await act();
    return Math.round(performance.now() - begun);
  };
  const filtered = await timed(async () => {
    await large.ask("document.querySelector('[data-filter=compatible]').click()");
    assert.equal(await count(large, SHOWN), many.told.counts.compatible);
  });
  await large.press("Escape");
  const searched = await timed(() =>
    search(large, "kind123/ missing", "document.querySelectorAll('.change:not([hidden])').length === 1"));
  const times = `${rows} changes open in ${Math.round(opened)} ms`;
  console.log(`page: ${times} (an empty page in ${Math.round(nothing)} ms), filter ${filtered} ms, search ${searched} ms`);
  assert.deepEqual(large.complaints, []);
});

await browser.close();
await rm(folder, { recursive: true, force: true });
console.log(failed === 0 ? "page: all passed" : `page: ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
