"use strict";

const path = require("node:path");
const { binary } = require("./binary.cjs");
const { Server } = require("./server.cjs");
const { Scope, nameOf, fileParts } = require("./scope.cjs");
const { lead } = require("./lead.cjs");
const { watch } = require("./past.cjs");

const server = new Server();
const OPTIONS = ["cassette", "folder", "mode", "upstream", "strict", "allowedHosts"];

/** The cassettes of the tests of a file, one after the other, and one of the hooks around them. */
class Tapes {
  #options;
  #hooks;
  #scope;
  #test;
  /** The tests of each name, in the order in which they first began. */
  #called = new Map();
  #hasBegun = false;
  /** The command for the whole file, once its hooks have asked something: what they make, the tests share. */
  #rerun;
  #stop;
  /** What was connected to past retape, and by which test. */
  #past = new Set();
  #alias = `~js-${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  #url;

  constructor(options = {}) {
    const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
    if (unknown) throw new Error(`retape: there is no option \`${unknown}\`; there are ${OPTIONS.join(", ")}`);
    this.#options = options;
  }

  /** The base address for clients that are not led by themselves. It leads to the test that is running, or to the
   *  hooks around it. */
  get url() {
    if (!this.#url) throw new Error("`tape.url` is known once the first hook begins: read it in a test or a hook");
    return this.#url;
  }

  /** The recorded requests and answers of the test that is running. */
  interactions() {
    return (this.#scope ?? this.#hooks).interactions();
  }

  /** Begins the hooks of a file: what is asked while no test is running. */
  async beginHooks({ file, rerun }) {
    this.#hooks = this.#opening(this.#nameOfHooks(file), rerun);
    await this.#ask(this.#hooks, "hooks", () => (this.#rerun = rerun));
  }

  /** Tells what they have missed, if no test has begun for that. */
  async tellHooks() {
    if (this.#hasBegun || !this.#hooks) return;
    const misses = await this.#hooks.newMisses();
    if (misses.length > 0) console.error(explained(misses));
  }

  /** Ends them. Throws what was missed. */
  async endHooks() {
    const hooks = this.#hooks;
    if (!hooks) return;
    this.#hooks = undefined;
    this.#stop();
    // They have failed to begin, and said why.
    if (!hooks.session) return;
    const misses = await hooks.newMisses();
    // Hooks that have failed let no test begin.
    const { unplayed } = await hooks.finish(this.#hasBegun && hooks.reported === 0);
    if (this.#past.size > 0) console.error(`retape: ${explainedPast(this.#past)}`);
    if (misses.length > 0) throw new Error(explained(misses));
    this.#check(unplayed, hooks.past);
  }

  /** Begins a test. `test` tells it from others. */
  async begin({ file, names, rerun, test }) {
    if (this.#scope) {
      throw new Error("retape: tests of one file that run at the same time cannot be told apart; let them run in turn");
    }
    this.#test = this.#testOf(JSON.stringify([file, names]), test);
    const { number } = this.#test;
    // Two that are called alike are two.
    const apart = number === 1 ? names : [...names.slice(0, -1), `${names.at(-1)} (${number})`];
    this.#scope = this.#opening(this.#name(file, apart), this.#rerun ?? rerun);
    this.#hasBegun = true;
    try {
      const misses = (await this.#hooks?.newMisses()) ?? [];
      if (misses.length > 0) throw new Error(explained(misses));
      await this.#ask(this.#scope, names.join(" > "));
    } catch (error) {
      this.#scope = undefined;
      throw error;
    }
  }

  /** Ends a test. Throws what was missed, as a test that fails in silence says nothing. */
  async end({ passed, test }) {
    const scope = this.#scope;
    // One that came while another was running has not begun.
    if (!scope || test !== this.#test.test) return;
    this.#scope = undefined;
    this.#test.hasPassed = passed;
    this.#stop();
    const misses = await scope.newMisses();
    const unanswered = passed ? [] : await scope.unanswered();
    const { unplayed, recorded, requests } = await scope.finish(passed && misses.length === 0);
    const isLive = requests > 0 && scope.mode !== "replay";
    if (isLive && this.#hooks?.mode === "replay" && (await this.#hooks.interactions()).length > 0) {
      const file = recorded.find((each) => each.path)?.path;
      console.error(`retape: ${file ? `${file} was recorded` : "the test asked a live server"} while the hooks of its ` +
        "file were replayed, so the server may not know what they made: record the file anew (RETAPE_MODE=record)");
    }
    if (this.#hooks) await this.#ask(this.#hooks, "hooks");
    if (misses.length > 0) throw new Error(explained(misses));
    // The test has failed already, and node:test shows no second error.
    if (unanswered.length > 0) console.error(`retape: a live server gave no answer\n\n${unanswered.join("\n")}`);
    if (passed) this.#check(unplayed, scope.past);
  }

  /** Which of the tests of a name this is. A runner that tells a test by its name alone begins one anew if it failed. */
  #testOf(name, test) {
    const all = this.#called.get(name) ?? [];
    this.#called.set(name, all);
    const isIt = (each) => each.test === test && (typeof test === "object" || !each.hasPassed);
    const known = all.find(isIt);
    if (known) return known;
    all.push({ test, number: all.length + 1, hasPassed: false });
    return all.at(-1);
  }

  /** Leads what is asked from now on to a session, which goes on from that of the hooks. */
  async #ask(scope, title, noteAsked) {
    this.#stop?.();
    const unwatch = watch(server.url(), (host, port) => this.#notePast(scope, title, host, port));
    const opened = this.#open(scope);
    const unlead = lead(opened, noteAsked);
    this.#stop = () => [unwatch, unlead].forEach((stop) => stop());
    await opened;
  }

  #notePast(scope, title, host, port) {
    const { allowedHosts = [] } = this.#options;
    if (allowedHosts.some((each) => new RegExp(each).test(host))) return;
    const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    scope.past.add(where);
    this.#past.add(`${where} (${title})`);
  }

  async #open(scope) {
    const address = await server.url();
    const session = await scope.open(scope === this.#hooks ? [] : [this.#hooks]);
    this.#url = `${address}/${this.#alias}/-`;
    if (this.#upstream) await server.route(this.#alias, session);
    return { address, session };
  }

  #check(unplayed, past) {
    if (!this.#options.strict) return;
    if (past.size > 0) throw new Error(explainedPast(past));
    if (unplayed.length === 0) return;
    const lines = unplayed.map((each) => `  ${each.method} ${each.path} (interaction ${each.interaction})`);
    throw new Error(`recorded, and not asked for:\n${lines.join("\n")}`);
  }

  get #upstream() {
    return this.#options.upstream ?? process.env.RETAPE_UPSTREAM;
  }

  #opening(cassette, rerun) {
    const { folder = process.env.RETAPE_CASSETTES ?? "cassettes" } = this.#options;
    return new Scope(server, {
      cassette,
      folder: path.resolve(folder),
      mode: this.#mode(),
      rerun: `RETAPE_MODE=record ${rerun}`,
      upstream: this.#upstream,
    });
  }

  #nameOfHooks(file) {
    const { cassette } = this.#options;
    return typeof cassette === "string" ? `${cassette}-hooks` : this.#name(file, ["_hooks"]);
  }

  #name(file, names) {
    const { cassette = () => [...fileParts(file), ...names] } = this.#options;
    const name = typeof cassette === "function" ? cassette({ file, names }) : cassette;
    return Array.isArray(name) ? nameOf(name) : name;
  }

  #mode() {
    if (this.#options.mode) return this.#options.mode;
    if (!server.isOurs) return undefined;
    if (process.env.RETAPE_MODE) return process.env.RETAPE_MODE;
    return ["", "0", "false", undefined].includes(process.env.CI) ? "once" : "replay";
  }
}

function explainedPast(past) {
  const said = "connected to past retape, so neither recorded nor replayed (`allowedHosts` names what may be reached; " +
    "`tape.url` is an address for clients that are not led)";
  return [`${said}:`, ...past].join("\n  ");
}

function explained(misses) {
  const count = misses.length === 1 ? "a request has" : `${misses.length} requests have`;
  const shown = misses.slice(0, 5).map((miss) => miss.explanation);
  const more = misses.length > 5 ? [`and ${misses.length - 5} more`] : [];
  return [`${count} no recorded answer`, ...shown, ...more].join("\n\n");
}

exports.Tapes = Tapes;
exports.binary = binary;
