// The helpers for node:test, vitest and jest, run by these runners as users run them, against a server on loopback.
//
// Usage: node run.mjs FOLDER [RUNNER...]    FOLDER has retape-http, vitest, jest, undici and ws installed

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { createRequire } from "node:module";
import path from "node:path";

const [folder, ...chosen] = process.argv.slice(2);
const RUNNERS = {
  "node:test": {
    head: `const test = require("node:test"); const { retape } = require("retape-http/node-test");
      const { before: beforeAll, after: afterAll, afterEach } = test;`,
    file: "things.test.cjs",
    command: (file) => ["node", "--test", file],
  },
  vitest: {
    head: `import { afterAll, afterEach, beforeAll, test } from "vitest"; import { retape } from "retape-http/vitest"; import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
    file: "things.test.mjs",
    command: (file) => ["npx", "vitest", "run", "--no-color", file],
    failing: "test.fails",
  },
  jest: {
    head: `const { retape } = require("retape-http/jest");`,
    file: "things.test.js",
    command: (file) => ["npx", "jest", "--no-color", file],
    failing: "test.failing",
  },
};

const { nameOf } = createRequire(import.meta.url)("../../../npm/lib/scope.cjs");
for (const [text, expected] of JSON.parse(fs.readFileSync(new URL("../../names.json", import.meta.url), "utf8"))) {
  assert.equal(nameOf([text]), expected);
}

let asked = 0;
const things = new Map();
const live = http.createServer(async (request, response) => {
  asked += 1;
  if (request.url.startsWith("/things")) {
    const body = await new Response(request).text();
    const made = request.method === "POST" && { ...JSON.parse(body), id: `thing-${randomUUID()}` };
    if (made) things.set(made.id, made);
    const thing = made || things.get(request.url.split("/").pop());
    if (request.method === "DELETE") things.delete(thing?.id);
    return response.writeHead(thing ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(thing));
  }
  if (request.url === "/stream") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    return setTimeout(() => response.end("data: 2\n\n"), 20);
  }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ path: request.url }));
});
const { WebSocketServer } = createRequire(path.resolve(folder, "package.json"))("ws");
new WebSocketServer({ server: live }).on("connection", (socket) => {
  asked += 1;
  socket.on("message", (text) => socket.send(`heard ${text}`));
});
await new Promise((resolve) => live.listen(0, "127.0.0.1", resolve));
// Its certificate is its own.
const [key, cert] = ["key.pem", "cert.pem"].map((name) => path.join(folder, name));
execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
  "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert], { stdio: "ignore" });
const secure = https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) }, (_, response) => {
  asked += 1;
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});
await new Promise((resolve) => secure.listen(0, "localhost", resolve));
// Nobody listens there any more.
const gone = http.createServer();
const nobody = await new Promise((resolve) => gone.listen(0, "127.0.0.1", () => resolve(gone.address().port)));
gone.close();
const origin = `http://127.0.0.1:${live.address().port}`;

for (const name of chosen.length > 0 ? chosen : Object.keys(RUNNERS)) {
  await suite(RUNNERS[name], path.join(folder, name.replace(":", "-")));
  console.log(`${name}: ok`);
}
await lateHooks(path.join(folder, "late"));
live.close();
secure.close();

/** Hooks that are defined once the file has waited for something. */
async function lateHooks(place) {
  fs.rmSync(place, { recursive: true, force: true });
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(path.join(place, "late.test.mjs"), `
    import test, { after, before } from "node:test";
    import { retape } from "retape-http/node-test";
    retape();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const ask = async (method, path) => {
      const answer = await fetch("${origin}/things" + path, { method, body: method === "POST" ? "{}" : undefined });
      if (answer.status !== 200) throw new Error(method + " " + answer.status);
      return answer.json();
    };
    let thing;
    before(async () => { thing = await ask("POST", ""); });
    after(async () => { await ask("DELETE", "/" + thing.id); });
    test("gets it", async () => { await ask("GET", "/" + thing.id); });
  `);
  asked = 0;
  passes(await execute(["node", "--test", "late.test.mjs"], place));
  passes(await execute(["node", "--test", "late.test.mjs"], place, { CI: "true" }));
  assert.equal(asked, 3, "nothing goes to the network");
}

async function suite(runner, place) {
  fs.rmSync(place, { recursive: true, force: true });
  fs.mkdirSync(place, { recursive: true });
  const write = (body) => fs.writeFileSync(path.join(place, runner.file), `${runner.head}\n${body}`);
  const run = (environment = {}) => execute(runner.command(runner.file), place, environment);
  const cassettes = () => fs.readdirSync(path.join(place, "cassettes"), { recursive: true }).filter((each) => each.endsWith(".json")).sort();
  const tests = `
    const assert = require("node:assert");
    const tape = retape({ upstream: "${origin}" });
    const { fetch: plain } = globalThis;
    globalThis.fetch = async (...asked) => plain(...asked); // as suites do
    const get = async (path) => (await fetch("${origin}" + path)).json();
    test("asks two things", async () => {
      assert.deepEqual(await get("/a?b=c"), { path: "/a?b=c" });
      assert.deepEqual(await get("/d"), { path: "/d" });
      assert.equal((await tape.interactions()).length, 2);
    });
    test("reads a stream: a/b", async () => {
      assert.equal(await (await fetch("${origin}/stream")).text(), "data: 1\\n\\ndata: 2\\n\\n");
    });
    test("has a base address", async () => {
      assert.deepEqual(await (await require("undici").request(tape.url + "/base")).body.json(), { path: "/base" });
    });
    test("meets nobody", async () => {
      await assert.rejects(fetch("http://127.0.0.1:${nobody}/x"), (error) => error.cause.code === "ECONNREFUSED");
      await assert.rejects(require("undici").request("http://127.0.0.1:${nobody}/y"), { code: "ECONNREFUSED", port: ${nobody} });
    });
    test("goes by undici", async () => {
      assert.deepEqual(await (await require("undici").request("${origin}/u")).body.json(), { path: "/u" });
    });
    test("goes by dispatchers of its own", async () => {
      const { Agent, Client, Pool, fetch: another } = require("undici");
      assert.deepEqual(await (await plain("${origin}/o", { dispatcher: new Agent() })).json(), { path: "/o" });
      assert.deepEqual(await (await another("${origin}/p", { dispatcher: new Pool("${origin}") })).json(), { path: "/p" });
      const client = new Client("${origin}");
      assert.deepEqual(await (await client.request({ method: "GET", path: "/c" })).body.json(), { path: "/c" });
      await assert.rejects(plain("http://127.0.0.1:${nobody}/x", { dispatcher: new Agent() }), (error) => error.cause.code === "ECONNREFUSED");
    });
    test("goes by WebSockets", async () => {
      const comes = (socket, event) => new Promise((resolve, reject) => socket.once(event, resolve).once("error", reject));
      const { WebSocket } = require("ws");
      const socket = new WebSocket("${origin.replace("http", "ws")}/w");
      await comes(socket, "open");
      socket.send("hello");
      assert.equal(String(await comes(socket, "message")), "heard hello");
      socket.close();
      await comes(socket, "close");
      await assert.rejects(comes(new WebSocket("ws://127.0.0.1:${nobody}/w"), "open"), { code: "ECONNREFUSED" });
    });
    test("goes by node:http", async () => {
      const ask = (path, options) => new Promise((resolve, reject) => {
        require("node:http").get("${origin}" + path, options, (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (piece) => (text += piece)).on("end", () => resolve(JSON.parse(text)));
        }).on("error", reject);
      });
      await assert.rejects(ask("/none", { port: ${nobody} }), { code: "ECONNREFUSED", port: ${nobody} });
      assert.deepEqual(await ask("/h", {}), { path: "/h" });
      assert.deepEqual(await ask("/l", { headers: ["host", "localhost", "accept", "*/*"], agent: false }), { path: "/l" });
    });
  `;
  write(tests);
  asked = 0;
  passes(await run());
  assert.equal(asked, 11);
  assert.equal(cassettes().length, 8, String(cassettes()));

  const replayed = await run({ CI: "true" });
  passes(replayed);
  assert.doesNotMatch(replayed.text, /past retape/);
  assert.equal(asked, 11, "nothing goes to the network");

  write(`
    const assert = require("node:assert");
    retape({ cassette: ({ names }) => ["things", ...names.map((each) => each.replace("plays", "asks"))] });
    test("plays two things", async () => {
      assert.deepEqual(await (await fetch("${origin}/d")).json(), { path: "/d" });
    });
  `);
  passes(await run({ CI: "true" }));

  // What is not led is told, and fails a test that is strict.
  const past = (options) => write(`
    retape(${options});
    test("knocks", async () => new Promise((resolve) => require("node:net").connect(${live.address().port}, "127.0.0.1").on("connect", function () {
      this.destroy();
      resolve();
    })));
  `);
  past("");
  const told = await run();
  passes(told);
  assert.match(told.text, /past retape[^]*127\.0\.0\.1:\d+ \(knocks\)/);
  past("{ strict: true }");
  assert.notEqual((await run()).status, 0);
  past(`{ strict: true, allowedHosts: ["127"] }`);
  passes(await run());

  write(`
    const assert = require("node:assert");
    const ca = require("node:fs").readFileSync("${cert}");
    const { Agent, setGlobalDispatcher } = require("undici");
    setGlobalDispatcher(new Agent({ connect: { ca } }));
    retape({ cassette: ({ names }) => ["secure", ...names] });
    const url = "https://localhost:${secure.address().port}/s";
    const ask = (options) => new Promise((resolve, reject) => {
      const done = (answer) => answer.resume().on("end", () => resolve(answer.statusCode));
      require("node:https").get(url, options, done).on("error", reject);
    });
    test("trusts whom it is told to", async () => {
      assert.equal(await ask({ rejectUnauthorized: false }), 200);
      assert.equal(await ask({ ca }), 200);
      assert.equal(await ask({ agent: new (require("node:https").Agent)({ ca: [String(ca)] }) }), 200);
      assert.equal((await require("undici").request(url)).statusCode, 200);
      await assert.rejects(ask({}));
    });
  `);
  asked = 0;
  passes(await run());
  assert.equal(asked, 4);
  passes(await run({ CI: "true" }));
  assert.equal(asked, 4, "nothing goes to the network");

  // Two tests of one title are two.
  write(`
    const assert = require("node:assert");
    retape({ cassette: ({ names }) => ["twins", ...names] });
    for (const name of ["red", "blue"]) {
      test("makes a thing", async () => {
        const made = await fetch("${origin}/things", { method: "POST", body: JSON.stringify({ name }) });
        assert.equal((await made.json()).name, name);
      });
    }
  `);
  passes(await run());
  const twins = cassettes().filter((each) => each.startsWith("twins")).map((each) => path.basename(each));
  assert.deepEqual(twins.sort(), ["makes a thing (2).json", "makes a thing.json"]);
  passes(await run({ CI: "true" }));
  things.clear();

  // What hooks ask has a cassette too, and a name that they make up is the same in the tests.
  write(`
    const assert = require("node:assert");
    const { randomUUID } = require("node:crypto");
    retape({ cassette: ({ names }) => ["hooks", ...names] });
    const name = "agent-" + randomUUID();
    let shared, own;
    const ask = async (method, path, body) => {
      const answer = await fetch("${origin}/things" + path, { method, body: body && JSON.stringify(body) });
      assert.equal(answer.status, 200);
      return answer.json();
    };
    beforeAll(async () => { shared = await ask("POST", "", { name }); });
    afterAll(async () => { await ask("DELETE", "/" + shared.id); });
    afterEach(async () => { await ask("DELETE", "/" + own.id); });
    test("sees what a hook made", async () => {
      assert.equal((await ask("GET", "/" + shared.id)).name, name);
      own = await ask("POST", "", { name: "own" });
    });
    test("sees it again", async () => {
      assert.equal((await ask("GET", "/" + shared.id)).name, name);
      own = await ask("POST", "", { name: "another" });
    });
  `);
  asked = 0;
  passes(await run());
  assert.equal(asked, 8);
  assert.equal(things.size, 0);
  assert.deepEqual(cassettes().filter((each) => each.startsWith("hooks")).length, 3, String(cassettes()));
  for (let times = 0; times < 2; times += 1) passes(await run({ CI: "true" }));
  assert.equal(asked, 8, "nothing goes to the network");
  fs.rmSync(path.join(place, "cassettes/hooks/sees it again.json"));
  const unknown = await run({ CI: "true" });
  assert.match(unknown.text, /RETAPE_MODE=record (npx vitest run|npx jest|node --test) \S+$/m, "what hooks make is shared");
  fs.rmSync(path.join(place, "cassettes/hooks/_hooks.json"));
  const unhooked = await run({ CI: "true" });
  assert.notEqual(unhooked.status, 0);
  assert.match(unhooked.text, /`hooks\/_hooks`/);

  // What Polly recorded has the name of its test.
  const request = { method: "GET", url: `${origin}/p`, headers: [] };
  const response = { status: 200, headers: [], content: { text: "from Polly" } };
  const log = { creator: { name: "Polly.JS" }, _recordingName: "plays: Polly", entries: [{ request, response }] };
  const recording = path.join(place, "recordings", "plays-Polly_1", "recording.har");
  fs.mkdirSync(path.dirname(recording), { recursive: true });
  fs.writeFileSync(recording, JSON.stringify({ log }));
  const binary = path.resolve(folder, "node_modules/retape-http/bin/retape.cjs");
  passes(await execute(["node", binary, "import", "recordings"], place));
  write(`
    const assert = require("node:assert");
    retape({ cassette: ({ names }) => names.join("/").split("/") });
    test("plays: Polly", async () => assert.equal(await (await fetch("${origin}/p")).text(), "from Polly"));
  `);
  passes(await run({ CI: "true" }));

  write(`
    retape();
    test("asks two things", async () => { await fetch("${origin}/a?b=c"); await fetch("${origin}/other"); });
    test("reads a stream: a/b", async () => {});
  `);
  const missed = await run({ CI: "true" });
  assert.notEqual(missed.status, 0);
  assert.match(missed.text, /a request has no recorded answer/);
  assert.match(missed.text, /GET \/other/);
  assert.match(missed.text, /RETAPE_MODE=record (npx vitest run|npx jest|node --test)/);
  assert.match(missed.text, /asks two things/);

  write(`
    retape();
    test("has no cassette", async () => { await fetch("${origin}/nothing?of=it", { method: "PUT" }); });
  `);
  const without = await run({ CI: "true" });
  assert.notEqual(without.status, 0);
  assert.match(without.text, /no cassette `\S*things\/has no cassette`/);
  assert.ok(without.text.includes(`PUT ${origin}/nothing?of=it`), without.text);
  assert.match(without.text, /RETAPE_MODE=record (npx vitest run|npx jest|node --test)/);

  // What a hint says can be copied, whatever the title is: it runs that test, and nothing of the title.
  const titles = ["/it's (a+b)? $HOME `touch ran`", "--flag"];
  const asks = (query) => write(`
    retape({ cassette: ({ names }) => ["titles", ...names] });
    for (const title of ${JSON.stringify(titles)}) test(title, async () => { await fetch("${origin}/t${query}"); });
  `);
  asks("");
  passes(await run());
  asks("?changed=1");
  const hints = new Set((await run({ CI: "true" })).text.match(/RETAPE_MODE=record (npx vitest run|npx jest|node --test) .*/g));
  assert.equal(hints.size, titles.length, [...hints].join("\n"));
  const changed = () => cassettes().filter((each) => each.startsWith("titles") && fs.readFileSync(path.join(place, "cassettes", each), "utf8").includes("changed=1"));
  let renewed = 0;
  for (const hint of hints) {
    const again = await execute(["bash", "-c", hint], place);
    passes(again);
    assert.equal(changed().length, (renewed += 1), `${hint}\n${again.text}`);
  }
  assert.ok(!fs.existsSync(path.join(place, "ran")));

  // A test that is to fail has passed once it fails, but not by what it missed.
  if (runner.failing) {
    const fails = (query, body = "assert.equal(1, 2);") => write(`
      const assert = require("node:assert");
      retape({ cassette: ({ names }) => ["failing", ...names] });
      ${runner.failing}("is a known bug", async () => { await fetch("${origin}/f${query}"); ${body} });
    `);
    const known = () => cassettes().filter((each) => each.startsWith("failing"));
    fails("", "");
    assert.notEqual((await run()).status, 0);
    assert.ok(!known().includes("failing/is a known bug.json"), String(known()));
    fails("");
    passes(await run());
    assert.ok(known().includes("failing/is a known bug.json"), String(known()));
    asked = 0;
    passes(await run({ CI: "true" }));
    assert.equal(asked, 0, "nothing goes to the network");
    fails("?other");
    const hidden = await run({ CI: "true" });
    assert.notEqual(hidden.status, 0, hidden.text);
    assert.match(hidden.text, /a request has no recorded answer[^]*GET \/f\?other/);
  }

  write(`
    retape({ upstraem: "${origin}" });
    test("has an option that is none", async () => {});
  `);
  const misspelt = await run();
  assert.notEqual(misspelt.status, 0);
  assert.match(misspelt.text, /there is no option `upstraem`; there are cassette, folder, mode, upstream/);

  write(`
    retape({ mode: "recrod" });
    test("has a mode that is none", async () => {});
  `);
  const nowhere = await run();
  assert.notEqual(nowhere.status, 0);
  assert.match(nowhere.text, /`mode` is `recrod`/);
  assert.ok(!nowhere.text.includes("no session"), nowhere.text);

  write(`
    const assert = require("node:assert");
    retape();
    test("fails", async () => { await fetch("${origin}/fails"); assert.equal(1, 2); });
    // fetch refuses port 1 itself.
    test("has no server", async () => { assert.ok((await (await fetch("http://127.0.0.1:2/a")).json()).path); });
  `);
  const failed = await run();
  assert.notEqual(failed.status, 0);
  assert.match(failed.text, /`http:\/\/127.0.0.1:2` cannot be reached: the connection was refused/);
  assert.ok(!cassettes().some((each) => each.includes("fails")), String(cassettes()));
}

function passes({ status, text }) {
  assert.equal(status, 0, text);
}

function execute([command, ...words], cwd, environment) {
  const { CI, RETAPE_MODE, RETAPE_URL, RETAPE_UPSTREAM, NODE_TEST_CONTEXT, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(command, words, { cwd, env: { ...env, ...environment } }, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? 1) : 0, text: stdout + stderr }),
    );
  });
}
