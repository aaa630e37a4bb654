"use strict";

const path = require("node:path");
const { createHash } = require("node:crypto");

/** A test that has a cassette, and its session, in which any number of servers are asked. */
class Scope {
  #server;
  #settings;
  #session;

  constructor(server, settings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Opens its session. */
  async open() {
    this.#session = (await this.#server.open(this.#settings)).session;
    return this.#session;
  }

  /** The recorded requests and answers. */
  interactions() {
    return this.#server.interactions(this.#session);
  }

  misses() {
    return this.#server.misses(this.#session);
  }

  /** Why live servers gave no answer, each reason once. */
  async unanswered() {
    return [...new Set(await this.#server.unanswered(this.#session))];
  }

  /** Ends its session. Returns what was recorded and not asked for. */
  async finish(save) {
    const came = await this.#server.finish(this.#session, save);
    const silent = came.recorded.find((each) => each.fault && each.answered === 0);
    if (silent) throw new Error(`retape: the server did not answer a single request: ${silent.fault}`);
    return came.unplayed;
  }
}

/** A name of parts: what a file or an address may not hold is replaced, and told apart by a short hash. It is the
 *  same in Rust and Python (`tests/names.json`). */
function nameOf(parts) {
  return parts.map(part).join("/");
}

function part(text) {
  let clean = text.replace(/\p{Surrogate}|[\x00-\x1f\x7f-\x9f\\/:*?"<>|~%#]/gu, "_").replace(/[ .]+$/, "");
  if (clean.startsWith(".") || clean === "" || clean === "-") clean = `_${clean}`;
  if (clean === text && Buffer.byteLength(text) <= 150) return text;
  const digest = createHash("sha1").update(text).digest("hex").slice(0, 8);
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
