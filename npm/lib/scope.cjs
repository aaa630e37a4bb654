"use strict";

const path = require("node:path");
const { createHash } = require("node:crypto");

/** A test, or the hooks of a file, that has a cassette, and its session, in which any number of servers are asked. */
class Scope {
  #server;
  #settings;
  session;
  /** What is done in it. */
  mode;
  /** How many misses were told. */
  reported = 0;
  /** What was connected to past retape. */
  past = new Set();

  constructor(server, settings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Its session. It goes on from those beside it, in which the client may have made up names. */
  async open(others) {
    const beside = others.flatMap((other) => other?.session ?? []);
    if (!this.session) ({ session: this.session, mode: this.mode } = await this.#server.open({ ...this.#settings, beside }));
    return this.session;
  }

  /** The recorded requests and answers. */
  interactions() {
    return this.#server.interactions(this.session);
  }

  /** What was missed since this was asked last. */
  async newMisses() {
    const misses = (await this.#server.misses(this.session)).slice(this.reported);
    this.reported += misses.length;
    return misses;
  }

  /** Why live servers gave no answer, each reason once. */
  async unanswered() {
    return [...new Set(await this.#server.unanswered(this.session))];
  }

  /** Ends its session. Returns what it came to. */
  async finish(save) {
    const came = await this.#server.finish(this.session, save);
    const silent = came.recorded.find((each) => each.unanswered);
    if (silent) throw new Error(`retape: the live server failed: ${silent.fault}`);
    return came;
  }
}

/** A name of parts: what a file or an address may not hold is replaced, and told apart by a short hash. It is the
 *  same in Rust, Python and Go (`tests/names.json`). */
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
