"use strict";

const http = require("node:http");
const { spawn } = require("node:child_process");
const { binary } = require("./binary.cjs");
const { IS_CONTROL } = require("./lead.cjs");

/**
 * A running retape. It is started on first use, or found at `RETAPE_URL` where retape runs the tests itself,
 * and ends with this process, also when that is killed.
 */
class Server {
  #url;
  #agent = Object.assign(new http.Agent({ keepAlive: true }), { [IS_CONTROL]: true });

  /** Where it listens, such as `http://127.0.0.1:40123`. */
  url() {
    this.#url ??= process.env.RETAPE_URL ? Promise.resolve(process.env.RETAPE_URL) : start();
    return this.#url;
  }

  /** Whether the retape that runs the tests decides about the mode. */
  get isOurs() {
    return !process.env.RETAPE_URL;
  }

  open(settings) {
    return this.#ask("POST", "open", {}, JSON.stringify(settings));
  }

  route(session, to) {
    return this.#ask("POST", "route", { session, to });
  }

  async misses(session) {
    return (await this.#ask("GET", "misses", { session })).misses;
  }

  async unanswered(session) {
    return (await this.#ask("GET", "unanswered", { session })).unanswered;
  }

  async interactions(session) {
    return (await this.#ask("GET", "interactions", { session })).interactions;
  }

  finish(session, save) {
    return this.#ask("POST", "finish", { session, save: save ? "yes" : "no" });
  }

  async #ask(method, what, parameters, body = "") {
    const said = Object.entries(parameters).filter(([, value]) => value !== undefined);
    const url = new URL(`/-/retape/${what}?${said.map(([k, v]) => `${k}=${v}`).join("&")}`, await this.url());
    const headers = { "x-retape": "1", "content-length": Buffer.byteLength(body) };
    const { status, text } = await new Promise((resolve, reject) => {
      const request = http.request(url, { method, headers, agent: this.#agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece) => (text += piece));
        response.on("end", () => resolve({ status: response.statusCode, text })).on("error", reject);
      });
      request.on("error", reject).end(body);
    });
    const answer = JSON.parse(text);
    if (status >= 400) throw new Error(`retape: ${answer.error.message}`);
    return answer;
  }
}

function start() {
  const { RETAPE_MODE, RETAPE_UPSTREAM, ...env } = process.env;
  const command = [binary(), "run", "--attached", "--allow-unused"];
  const child = spawn(command[0], command.slice(1), { env, stdio: ["pipe", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let said = "";
    let told = "";
    child.stderr.on("data", (piece) => (told = (told + piece).slice(-4096)));
    child.stdout.on("data", (piece) => {
      said += piece;
      if (!said.includes("\n")) return;
      // From now on it keeps no test runner alive.
      for (const each of [child, child.stdin, child.stdout, child.stderr]) each.unref();
      resolve(said.trim());
    });
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`\`${command.join(" ")}\` did not start: ${told.trim()}`)));
  });
}

exports.Server = Server;
