"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { createHash } = require("node:crypto");

/** A test that has a cassette, and its sessions: one for each server that it asks. */
class Scope {
  #server;
  #settings;
  #sessions = new Map();

  constructor(server, { name, folder, mode, rerun }) {
    this.#server = server;
    this.name = name;
    this.folder = folder;
    this.#settings = { folder, mode, rerun };
  }

  /** The session in which a server is asked: a text, or a promise while it is being opened. */
  sessionFor(origin) {
    const known = this.#sessions.get(origin);
    if (known) return known.session ?? known.opening;
    return this.#open(origin, this.#cassetteFor(origin), origin);
  }

  /** The session of clients that have retape as their base address. */
  sessionAt(upstream) {
    const known = this.#sessions.get("");
    return known ? known.opening : this.#open("", this.name, upstream);
  }

  /** The recorded requests and answers. */
  async interactions() {
    const all = [];
    for (const { opening } of this.#sessions.values()) all.push(...(await this.#server.interactions(await opening)));
    return all;
  }

  async misses() {
    const all = [];
    for (const { opening } of this.#sessions.values()) all.push(...(await this.#server.misses(await opening)));
    return all;
  }

  /** Ends its sessions. Returns what was recorded and not asked for. */
  async finish(save) {
    const unplayed = [];
    for (const { opening } of this.#sessions.values()) {
      const came = await this.#server.finish(await opening, save);
      unplayed.push(...came.unplayed);
      const silent = came.recorded.find((each) => each.fault && each.answered === 0);
      if (silent) throw new Error(`retape: the server did not answer a single request: ${silent.fault}`);
    }
    this.#sessions.clear();
    return unplayed;
  }

  #open(key, cassette, upstream) {
    const entry = {};
    entry.opening = this.#server.open({ ...this.#settings, cassette, upstream }).then(({ session }) => {
      entry.session = session;
      return session;
    });
    this.#sessions.set(key, entry);
    return entry.opening;
  }

  /** The first server has the cassette of the test; another one has its own, named after its host. */
  #cassetteFor(origin) {
    const first = this.#recordedOrigin() ?? [...this.#sessions.keys()].find((key) => key !== "") ?? origin;
    return origin === first ? this.name : `${this.name}@${new URL(origin).host.replace(":", "_")}`;
  }

  #recordedOrigin() {
    if (this.#settings.mode === "record") return undefined;
    try {
      const text = fs.readFileSync(path.join(this.folder, `${this.name}.json`), "utf8").slice(0, 4096);
      const found = /"upstream"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text);
      return found ? JSON.parse(found[1]) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** A name of parts: what a file or an address may not hold is replaced, and told apart by a short hash. */
function nameOf(parts) {
  return parts.map(part).join("/");
}

function part(text) {
  let clean = text.replace(/[\x00-\x1f\x7f\\/:*?"<>|~%#]/g, "_").replace(/[ .]+$/, "");
  if (clean.startsWith(".") || clean === "" || clean === "-") clean = `_${clean}`;
  if (clean === text && Buffer.byteLength(text) <= 150) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  while (Buffer.byteLength(clean) > 141) clean = [...clean].slice(0, -1).join("");
  return `${clean}-${digest}`;
}

/** `src/agent` of `/project/src/agent.test.ts`. */
function fileParts(file) {
  const relative = path.relative(process.cwd(), file).replace(/(\.(test|spec))?\.[cm]?[jt]sx?$/, "");
  return relative.split(path.sep).filter((each) => each !== "..");
}

exports.Scope = Scope;
exports.nameOf = nameOf;
exports.fileParts = fileParts;
