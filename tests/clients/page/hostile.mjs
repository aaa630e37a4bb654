// Pages of strangers, in a real browser, that know retape's port and try to reset, read and record through it.
//
// Usage: node hostile.mjs RETAPE CHROMIUM

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Browser, Page } from "./browser.mjs";

const [retape, chromium] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "retape-hostile-"));
const ANSWER = "only for the client";

/** A server at a free port of this machine. */
async function served(handler) {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: server.address().port };
}

/** retape around a server, until it is stopped: its port, and its exit status in the end. */
async function started(...words) {
  const { RETAPE_MODE, CI, ...env } = process.env;
  const child = spawn(retape, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const ended = once(child, "exit");
  child.stderr.resume();
  return {
    port: new URL(line.trim()).port,
    stop: async () => (child.kill("SIGTERM"), (await ended)[0]),
  };
}

/** What all ways of a page to reach an address have got, as far as it could read it: it runs in the page. */
async function attack(base) {
  const got = {};
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  const read = async (name, ...request) => {
    try {
      const answer = await fetch(...request);
      got[name] = answer.type === "opaque" ? "" : `${answer.status} ${await answer.text()}`;
    } catch {
      got[name] = "";
    }
  };
  const plain = { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" };
  const control = { method: "POST", headers: { "x-retape": "1" } };
  await read("reset", `${base}/-/retape/reset?misses=clear`, plain);
  await read("reset, not asking", `${base}/-/retape/reset?misses=clear`, { ...plain, mode: "no-cors" });
  await read("reset, with the field", `${base}/-/retape/reset?misses=clear`, control);
  await read("open", `${base}/-/retape/open`, { ...control, body: '{"cassette":"stolen","mode":"record"}' });
  await read("sessions", `${base}/-/retape/sessions`);
  await read("misses", `${base}/-/retape/misses`, { mode: "no-cors" });
  await read("the server", `${base}/get`);
  await read("the server, not asking", `${base}/get`, { mode: "no-cors", credentials: "include" });
  await read("another cassette", `${base}/stolen/-/get`, { mode: "no-cors" });
  await read("a write", `${base}/post`, { ...plain, mode: "no-cors" });
  await read("a write that is asked for", `${base}/put`, { method: "PUT", body: "{}" });
  navigator.sendBeacon(`${base}/beacon`, "{}");
  const element = (tag, members) => document.body.append(Object.assign(document.createElement(tag), members));
  element("img", { src: `${base}/img` });
  element("script", { src: `${base}/script` });
  element("iframe", { src: `${base}/iframe` });
  element("iframe", { sandbox: "allow-scripts", srcdoc: `<script>fetch("${base}/sandboxed", {mode: "no-cors"})</script>` });
  element("iframe", { name: "sink" });
  element("img", { src: `/to?${encodeURIComponent(`${base}/redirected`)}` });
  const form = (method, path) =>
    element("form", { method, target: "sink", action: `${base}${path}`, enctype: "text/plain" });
  form("post", "/-/retape/reset?misses=clear");
  form("post", "/form");
  form("get", "/form");
  for (const one of document.forms) one.submit(), await later(50);
  const source = new EventSource(`${base}/events`);
  source.onmessage = ({ data }) => (got.events = data);
  const socket = new WebSocket(`${base.replace("http", "ws")}/socket`);
  socket.onopen = () => (got.socket = "open");
  new Worker(URL.createObjectURL(new Blob([`fetch("${base}/worker", {mode: "no-cors"})`])));
  open(`${base}/opened`);
  await later(700);
  source.close();
  for (const frame of document.querySelectorAll("iframe")) {
    try {
      const text = frame.contentDocument?.body?.innerText;
      if (text) got[`frame ${frame.src}`] = text;
    } catch {}
  }
  return got;
}

const asked = [];
const upstream = await served((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  response.writeHead(200, { "content-type": "application/json", "access-control-allow-origin": "*" });
  response.end(JSON.stringify({ said: ANSWER }));
});
const strange = await served((request, response) => {
  const [, to] = request.url.split("/to?");
  const head = to ? { location: decodeURIComponent(to) } : { "content-type": "text/html" };
  response.writeHead(to ? 302 : 200, head).end("<!doctype html><title>strange</title><body>");
});

let failed = 0;
async function check(name, act) {
  try {
    await act();
    console.log(`hostile page: ${name}: ok`);
  } catch (error) {
    failed += 1;
    console.error(`hostile page: ${name}: ${error.message}`);
  }
}

// The names lead to this machine, as those of a stranger's domain may.
const browser = await Browser.start(chromium, ["--host-resolver-rules=MAP *.example 127.0.0.1", "--disable-popup-blocking"]);

/** Opens a page and lets it attack retape at that port; what it could read of what is not its business. */
async function attacked([url, base], port) {
  const page = await Page.open(browser);
  await page.go(url);
  const got = await page.ask(`(${attack})(${JSON.stringify(base ?? `http://127.0.0.1:${port}`)})`);
  const words = [ANSWER, "sessions", "cassette", "mode", "played", "open"];
  return Object.entries(got).filter(([, text]) => words.some((word) => text.includes(word)));
}

const strangers = `http://strange.example:${strange.port}/`;
const file = join(folder, "page.html");
await writeFile(file, "<!doctype html><title>file</title><body>");
/** Who attacks: what it is, its address, and the one by which it names retape, if that is another. */
const pages = [
  ["a page of a stranger", () => [strangers]],
  ["a page from a file", () => [pathToFileURL(file).href]],
  ["a page without an origin", () => ["data:text/html,<!doctype html><body>"]],
  // DNS that leads the stranger's own name to retape makes its answers answers of the stranger's page.
  ["a page whose name leads to retape", (port) => [`http://strange.example:${port}/`, `http://strange.example:${port}`]],
];

await check("a client records", async () => {
  const { port, stop } = await started("record", "--upstream", `http://127.0.0.1:${upstream.port}`, "tape");
  const answer = await fetch(`http://127.0.0.1:${port}/mine`);
  assert.equal((await answer.json()).said, ANSWER);
  assert.equal(await stop(), 0);
  assert.deepEqual(asked.splice(0), ["GET /mine"]);
});

for (const [name, at] of pages) {
  await check(`${name} records nothing`, async () => {
    const { port, stop } = await started("record", "--upstream", `http://127.0.0.1:${upstream.port}`, "other");
    assert.deepEqual(await attacked(at(port), port), []);
    await stop();
    assert.deepEqual(asked, [], "it was passed on");
    assert.deepEqual((await readdir(join(folder, "cassettes"))).sort(), ["tape.json"]);
  });
  await check(`${name} resets nothing and reads nothing`, async () => {
    const { port, stop } = await started("replay", "tape");
    const base = `http://127.0.0.1:${port}`;
    assert.equal((await fetch(`${base}/missing`)).status, 470);
    const before = await (await fetch(`${base}/-/retape/sessions`)).text();
    assert.deepEqual(await attacked(at(port), port), []);
    assert.equal(await (await fetch(`${base}/-/retape/sessions`)).text(), before);
    assert.equal(await stop(), 1, "a miss was made forgotten");
  });
}

// Which shows that all these ways lead somewhere.
await check("the same from a page of this machine gets through", async () => {
  const { port, stop } = await started("record", "--upstream", `http://127.0.0.1:${upstream.port}`, "other");
  const read = await attacked([`http://127.0.0.1:${strange.port}/`], port);
  assert.deepEqual(read.map(([name]) => name), ["the server"]);
  await stop();
  const reached = new Set(asked.splice(0).map((line) => line.split(/[ ?]/)[1]));
  const ways = ["get", "post", "put", "beacon", "img", "script", "iframe", "redirected", "form", "events", "socket"];
  for (const way of [...ways, "worker", "opened"]) assert.ok(reached.has(`/${way}`), `/${way} led nowhere`);
});

await browser.close();
upstream.server.close();
strange.server.close();
await rm(folder, { recursive: true, force: true });
console.log(failed === 0 ? "hostile page: all passed" : `hostile page: ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
