// A headless Chromium, driven through its DevTools protocol over a pipe: nothing to install.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What an answer of the browser may take, in milliseconds. */
const PATIENCE = 30_000;

export class Browser {
  #child;
  #profile;
  #next = 1;
  #waiting = new Map();
  #rest = "";
  listeners = [];

  static async start(program, more = []) {
    const browser = new Browser();
    browser.#profile = await mkdtemp(join(tmpdir(), "retape-chromium-"));
    const flags = [
      "--headless",
      "--remote-debugging-pipe",
      "--no-sandbox",
      "--disable-gpu",
      "--hide-scrollbars",
      "--no-first-run",
      "--disable-background-networking",
      `--user-data-dir=${browser.#profile}`,
      ...more,
      "about:blank",
    ];
    const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"];
    browser.#child = spawn(program, flags, { stdio });
    browser.#child.on("error", (error) => browser.#fail(error));
    browser.#child.on("exit", () => browser.#fail(new Error("the browser has ended")));
    browser.#child.stdio[3].on("error", (error) => browser.#fail(error));
    browser.#child.stdio[4].setEncoding("utf8").on("data", (text) => browser.#read(text));
    return browser;
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #read(text) {
    const messages = (this.#rest + text).split("\0");
    this.#rest = messages.pop();
    for (const message of messages.map((message) => JSON.parse(message))) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (waiting && message.error) waiting.reject(new Error(message.error.message));
      else if (waiting) waiting.resolve(message.result);
      else this.listeners.forEach((listener) => listener(message));
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method} was not answered`)), PATIENCE);
      const done = (end) => (value) => {
        clearTimeout(late);
        end(value);
      };
      this.#waiting.set(id, { resolve: done(resolve), reject: done(reject) });
    });
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.send("Browser.close").catch(() => {});
    await ended;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One page, and all that it complained about and asked the network for. */
export class Page {
  complaints = [];
  requests = [];
  #browser;
  #session;
  #loaded = () => {};

  static async open(browser, { width = 1280, height = 900, scheme = "light" } = {}) {
    const page = new Page();
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    page.#browser = browser;
    page.#session = sessionId;
    browser.listeners.push((message) => message.sessionId === sessionId && page.#hear(message));
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
    await page.size(width, height);
    await page.scheme(scheme);
    return page;
  }

  send(method, params) {
    return this.#browser.send(method, params, this.#session);
  }

  #hear({ method, params }) {
    if (method === "Page.loadEventFired") this.#loaded();
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description);
    if (method === "Runtime.consoleAPICalled") this.complaints.push(`console.${params.type}`);
    if (method === "Log.entryAdded") this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  size(width, height) {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    return this.send("Emulation.setDeviceMetricsOverride", metrics);
  }

  scheme(value) {
    const features = [{ name: "prefers-color-scheme", value }];
    return this.send("Emulation.setEmulatedMedia", { features });
  }

  /** Opens an address, and says how many milliseconds it took until the page was painted. */
  async go(url) {
    // A page behind another one is not painted.
    await this.send("Page.bringToFront");
    const loaded = new Promise((resolve) => (this.#loaded = resolve));
    const begun = performance.now();
    await this.send("Page.navigate", { url });
    await loaded;
    await this.ask("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
    return performance.now() - begun;
  }

  /** The value of an expression in the page. */
  async ask(expression) {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", asked);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true. */
  until(expression) {
    const look = `new Promise((done) => {
      const look = () => ((${expression}) ? done(true) : requestAnimationFrame(look));
      look();
    })`;
    return this.ask(look);
  }

  async press(key) {
    const named = { Enter: ["\r", 13], Escape: ["", 27] }[key] ?? [key, key.toUpperCase().charCodeAt(0)];
    const [text, windowsVirtualKeyCode] = named;
    const stroke = { key, text, windowsVirtualKeyCode };
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...stroke });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, windowsVirtualKeyCode });
  }

  type(text) {
    return this.send("Input.insertText", { text });
  }

  async picture({ whole = false } = {}) {
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: whole });
    return Buffer.from(data, "base64");
  }

  async print() {
    const { data } = await this.send("Page.printToPDF", { printBackground: true });
    return Buffer.from(data, "base64");
  }
}
