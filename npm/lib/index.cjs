"use strict";

const path = require("node:path");
const { binary } = require("./binary.cjs");
const { Server } = require("./server.cjs");
const { Scope, nameOf, fileParts } = require("./scope.cjs");
const { lead } = require("./lead.cjs");

const server = new Server();

/** The cassettes of the tests of a file, one after the other. */
class Tapes {
  #options;
  #scope;
  #test;
  #stop;
  #alias = `~js-${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  #url;

  constructor(options = {}) {
    this.#options = options;
  }

  /** The base address for clients that are not led by themselves. It leads to the test that is running. */
  get url() {
    if (!this.#url) throw new Error("`tape.url` is known once the first test begins: read it in a test or a hook");
    return this.#url;
  }

  /** The recorded requests and answers of the test that is running. */
  interactions() {
    return this.#scope.interactions();
  }

  /** Begins a test. `test` tells it from others. */
  async begin({ file, names, rerun, test }) {
    if (this.#scope) {
      throw new Error("retape: tests of one file that run at the same time cannot be told apart; let them run in turn");
    }
    const { folder = process.env.RETAPE_CASSETTES ?? "cassettes", upstream = process.env.RETAPE_UPSTREAM } = this.#options;
    this.#scope = new Scope(server, {
      cassette: this.#name(file, names),
      folder: path.resolve(folder),
      mode: this.#mode(),
      rerun: `RETAPE_MODE=record ${rerun}`,
      upstream,
    });
    this.#test = test;
    try {
      const address = await server.url();
      const session = await this.#scope.open();
      this.#url = `${address}/${this.#alias}/-`;
      if (upstream) await server.route(this.#alias, session);
      this.#stop = lead(address, session);
    } catch (error) {
      this.#scope = undefined;
      throw error;
    }
  }

  #name(file, names) {
    const { cassette = () => [...fileParts(file), ...names] } = this.#options;
    const name = typeof cassette === "function" ? cassette({ file, names }) : cassette;
    return Array.isArray(name) ? nameOf(name) : name;
  }

  /** Ends a test. Throws what was missed, as a test that fails in silence says nothing. */
  async end({ passed, test }) {
    const scope = this.#scope;
    // One that came while another was running has not begun.
    if (!scope || test !== this.#test) return;
    this.#scope = undefined;
    this.#stop();
    const misses = await scope.misses();
    const unanswered = passed ? [] : await scope.unanswered();
    const unplayed = await scope.finish(passed && misses.length === 0);
    if (misses.length > 0) throw new Error(explained(misses));
    // The test has failed already, and node:test shows no second error.
    if (unanswered.length > 0) console.error(`retape: a live server gave no answer\n\n${unanswered.join("\n")}`);
    if (passed && this.#options.strict && unplayed.length > 0) {
      const lines = unplayed.map((each) => `  ${each.method} ${each.path} (interaction ${each.interaction})`);
      throw new Error(`recorded, and not asked for:\n${lines.join("\n")}`);
    }
  }

  #mode() {
    if (this.#options.mode) return this.#options.mode;
    if (!server.isOurs) return undefined;
    if (process.env.RETAPE_MODE) return process.env.RETAPE_MODE;
    return ["", "0", "false", undefined].includes(process.env.CI) ? "once" : "replay";
  }
}

function explained(misses) {
  const count = misses.length === 1 ? "a request has" : `${misses.length} requests have`;
  const shown = misses.slice(0, 5).map((miss) => miss.explanation);
  const more = misses.length > 5 ? [`and ${misses.length - 5} more`] : [];
  return [`${count} no recorded answer`, ...shown, ...more].join("\n\n");
}

exports.Tapes = Tapes;
exports.binary = binary;
