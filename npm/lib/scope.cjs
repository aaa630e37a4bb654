"use strict";

const path = require("node:path");
const { createHash } = require("node:crypto");

/** A test that has a cassette, and its session, in which any number of servers are asked. */
class Scope {
  #server;
  #settings;
  #session;
  #opening;

  constructor(server, { name, folder, mode, rerun }) {
    this.#server = server;
    this.name = name;
    this.folder = folder;
    this.#settings = { cassette: name, folder, mode, rerun };
  }

  /** Its session: a text, or a promise while it is being opened. */
  session(upstream) {
    this.#opening ??= this.#server.open({ ...this.#settings, upstream }).then(({ session }) => (this.#session = session));
    return this.#session ?? this.#opening;
  }

  /** The recorded requests and answers. */
  async interactions() {
    return this.#opening ? this.#server.interactions(await this.#opening) : [];
  }

  async misses() {
    return this.#opening ? this.#server.misses(await this.#opening) : [];
  }

  /** Why live servers gave no answer, each reason once. */
  async unanswered() {
    return this.#opening ? [...new Set(await this.#server.unanswered(await this.#opening))] : [];
  }

  /** Ends its session. Returns what was recorded and not asked for. */
  async finish(save) {
    if (!this.#opening) return [];
    const came = await this.#server.finish(await this.#opening, save);
    this.#opening = this.#session = undefined;
    const silent = came.recorded.find((each) => each.fault && each.answered === 0);
    if (silent) throw new Error(`retape: the server did not answer a single request: ${silent.fault}`);
    return came.unplayed;
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
