"use strict";

const http = require("node:http");
const https = require("node:https");
const vm = require("node:vm");

/**
 * Leads `fetch`, undici and whoever uses `node:http` or `node:https` (axios, got, node-fetch, ws) to retape while a
 * test runs. Only the address that they connect to is another one, and a header field says which session and which
 * server is meant.
 */

const FIELD = "retape-for";
/** The field that says whom the client trusts, if it takes any certificate or has some of its own. */
const TRUST = "retape-trust";
/** The field by which retape tells that the server gave no answer. */
const ERROR = "retape-error";
/** The agent that asks retape itself. */
const IS_CONTROL = Symbol.for("retape.control");
const KEYS = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map((name) => Symbol.for(name));

/** The global objects whose `fetch` a test may call: jest gives it that of another realm. */
function worlds() {
  const outer = vm.runInThisContext("globalThis");
  return outer === globalThis ? [globalThis] : [globalThis, outer];
}

/** Leads to a session until the function that it returns is called. Requests wait until `opened` says the address
 *  and the session. */
function lead(opened, noteAsked = () => {}) {
  let to;
  opened.then((it) => (to = it)).catch(() => {});
  // If there is none, that is told already.
  const led = (go, otherwise) => {
    noteAsked();
    if (to) return go(to);
    opened.then(go, otherwise);
    return true;
  };
  const stops = [leadFetch(led), leadUndici(led), leadAgents(led), giveAgents()];
  return () => stops.forEach((stop) => stop());
}

function leadFetch(led) {
  const before = [];
  for (const world of worlds()) {
    // The first use of it makes the dispatcher.
    if (typeof world.Response === "function") new world.Response();
    for (const key of KEYS) {
      const inner = world[key];
      if (inner === undefined) continue;
      before.push([world, key, inner]);
      world[key] = leading(inner, led);
    }
  }
  return () => before.forEach(([world, key, inner]) => (world[key] = inner));
}

function leading(inner, led) {
  const dispatch = (options, handler) => {
    const asItIs = () => inner.dispatch(options, handler);
    return dispatchLed(led, { by: inner, ours: inner, origin: String(options.origin), options, handler, asItIs });
  };
  // All else that a dispatcher can do, the one in its place does.
  return new Proxy(inner, {
    get: (target, name) => {
      if (name === "dispatch") return dispatch;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Sends a request of the dispatcher `by` to retape, by the dispatcher `ours`. */
function dispatchLed(led, { by, ours, origin, options, handler, asItIs }) {
  if (!/^https?:/.test(origin)) return asItIs();
  return led(({ address, session }) => {
    if (origin === address) return asItIs();
    const headers = withFields(options.headers, fields(session, origin, own(by, "options")?.connect));
    return ours.dispatch({ ...options, origin: address, headers }, refusing(handler, origin));
  }, asItIs);
}

/** Dispatchers that a client has made for itself send by a method of their class, which each copy of undici has. */
function leadUndici(led) {
  const copies = Object.keys(require.cache).filter((file) => /[\\/]undici[\\/]index\.js$/.test(file));
  const stops = copies.map((file) => {
    const { Agent } = require.cache[file].exports;
    const base = Object.getPrototypeOf(Agent.prototype);
    const ours = new Agent();
    const { dispatch } = base;
    base.dispatch = function (options, handler) {
      const asItIs = () => dispatch.call(this, options, handler);
      const { origin = own(this, "url")?.origin } = options ?? {};
      return dispatchLed(led, { by: this, ours, origin: String(origin), options, handler, asItIs });
    };
    return () => (base.dispatch = dispatch);
  });
  return () => stops.forEach((stop) => stop());
}

/** What Node says where nothing listens. */
function refused(origin) {
  const { hostname, port, protocol } = new URL(origin);
  const at = { address: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
  const error = new Error(`connect ECONNREFUSED ${at.address}:${at.port}`);
  return Object.assign(error, { code: "ECONNREFUSED", errno: -111, syscall: "connect", ...at });
}

/** A handler of undici that hears of a server which cannot be reached what it would hear without retape. */
function refusing(handler, origin) {
  let abort;
  const heard = {
    onConnect(stop, ...more) {
      abort = stop;
      return handler.onConnect(stop, ...more);
    },
    onHeaders(status, headers, ...more) {
      const at = headers.findIndex((each, index) => index % 2 === 0 && String(each).toLowerCase() === ERROR);
      if (at < 0 || String(headers[at + 1]) !== "unreachable") return handler.onHeaders(status, headers, ...more);
      abort(refused(origin));
      return false;
    },
    onResponseStart(controller, status, headers, ...more) {
      if (headers[ERROR] === "unreachable") return controller.abort(refused(origin));
      return handler.onResponseStart(controller, status, headers, ...more);
    },
  };
  return new Proxy(handler, {
    has: (target, name) => name in target,
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return heard[name] ?? value.bind(target);
    },
  });
}

/** What a dispatcher of undici keeps to itself under a name. */
function own(dispatcher, name) {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find((each) => each.description === name);
  return symbol && dispatcher[symbol];
}

/** What a request says to retape, whose client has such options for TLS. */
function fields(session, origin, options) {
  const said = { [FIELD]: `${session} ${origin}` };
  const trusted = origin.startsWith("https:") && trustedBy(options ?? {});
  return trusted ? { ...said, [TRUST]: trusted } : said;
}

function trustedBy({ ca, rejectUnauthorized }) {
  if (!(rejectUnauthorized ?? process.env.NODE_TLS_REJECT_UNAUTHORIZED !== "0")) return "anyone";
  const texts = [ca ?? []].flat().map(String).join("\n");
  const blocks = texts.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g);
  const certificates = [...blocks].map(([, block]) => block.replace(/\s/g, ""));
  // More are a bundle of the known authorities.
  return certificates.length <= 32 ? certificates.join() : "";
}

function withFields(headers, more) {
  if (Array.isArray(headers)) return [...headers, ...Object.entries(more).flat()];
  if (headers && typeof headers[Symbol.iterator] === "function") {
    return [...[...headers].flat(), ...Object.entries(more).flat()];
  }
  return { ...headers, ...more };
}

/** Each request of `node:http` and `node:https` asks an agent for its connection. */
function leadAgents(led) {
  const ours = new http.Agent();
  const { addRequest } = http.Agent.prototype;
  http.Agent.prototype.addRequest = function (request, options, ...more) {
    const meant = originOf(request, options);
    const asItIs = () => addRequest.call(this, request, options, ...more);
    if (this === ours || this[IS_CONTROL] || options.socketPath) return asItIs();
    return led(({ address, session }) => {
      if (meant === address) return asItIs();
      const { hostname, port } = new URL(address);
      for (const [name, value] of Object.entries(fields(session, meant, { ...this.options, ...options }))) {
        // Fields that are given as a list are a text already.
        if (request.headersSent) request._header = request._header.replace("\r\n\r\n", `\r\n${name}: ${value}\r\n\r\n`);
        else request.setHeader(name, value);
      }
      const { emit } = request;
      request.emit = function (event, ...details) {
        const isRefused = event === "response" && details[0].headers[ERROR] === "unreachable";
        return isRefused ? Boolean(request.destroy(refused(meant))) : emit.call(this, event, ...details);
      };
      return addRequest.call(ours, request, { host: hostname, port, path: options.path });
    }, asItIs);
  };
  return () => (http.Agent.prototype.addRequest = addRequest);
}

/** A request for which a function makes the connection asks no agent; those of `ws` are such. It gets an agent of its
 *  own, which makes the connection so. */
function giveAgents() {
  const before = [http, https].flatMap((module) => ["request", "get"].map((name) => [module, name, module[name]]));
  for (const [module, name, original] of before) {
    module[name] = (...asked) => original(...asked.map((each) => withAgent(each, module.Agent)));
  }
  return () => before.forEach(([module, name, original]) => (module[name] = original));
}

function withAgent(options, Agent) {
  if (typeof options?.createConnection !== "function" || (options.agent ?? undefined) !== undefined) return options;
  return { ...options, agent: Object.assign(new Agent(), { createConnection: options.createConnection }) };
}

function originOf(request, { port, host }) {
  const isUsual = Number(port) === (request.protocol === "https:" ? 443 : 80);
  const name = host.includes(":") ? `[${host}]` : host;
  return `${request.protocol}//${name}${isUsual ? "" : `:${port}`}`;
}

exports.lead = lead;
exports.IS_CONTROL = IS_CONTROL;
