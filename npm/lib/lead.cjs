"use strict";

const http = require("node:http");

/**
 * Leads `fetch`, undici and whoever uses `node:http` or `node:https` (axios, got, node-fetch) to retape while a
 * test runs. Only the address that they connect to is another one, and a header field says which session and which
 * server is meant.
 */

const FIELD = "retape-for";
const KEYS = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map((name) => Symbol.for(name));

/** The global objects whose `fetch` a test may call: jest gives it that of another realm. */
function worlds() {
  const outer = typeof fetch === "function" ? fetch.constructor("return globalThis")() : globalThis;
  return outer === globalThis ? [globalThis] : [globalThis, outer];
}

/** Leads to a session until the function that it returns is called. */
function lead(address, session) {
  const stops = [leadFetch(address, session), leadAgents(address, session)];
  return () => stops.forEach((stop) => stop());
}

function leadFetch(address, session) {
  // The first use of it makes the dispatcher.
  if (typeof Response === "function") new Response();
  const before = [];
  for (const world of worlds()) {
    for (const key of KEYS) {
      const inner = world[key];
      if (inner === undefined) continue;
      before.push([world, key, inner]);
      world[key] = leading(inner, address, session);
    }
  }
  return () => before.forEach(([world, key, inner]) => (world[key] = inner));
}

function leading(inner, address, session) {
  const dispatch = (options, handler) => {
    const origin = String(options.origin);
    if (origin === address || !/^https?:/.test(origin)) return inner.dispatch(options, handler);
    const headers = withField(options.headers, `${session} ${origin}`);
    return inner.dispatch({ ...options, origin: address, headers }, handler);
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

function withField(headers, value) {
  if (Array.isArray(headers)) return [...headers, FIELD, value];
  if (headers && typeof headers[Symbol.iterator] === "function") return [...[...headers].flat(), FIELD, value];
  return { ...headers, [FIELD]: value };
}

/** Each request of `node:http` and `node:https` asks an agent for its connection. */
function leadAgents(address, session) {
  const { hostname, port } = new URL(address);
  const ours = new http.Agent();
  const { addRequest } = http.Agent.prototype;
  http.Agent.prototype.addRequest = function (request, options, ...more) {
    const meant = originOf(request, options);
    if (this === ours || meant === address || options.socketPath) {
      return addRequest.call(this, request, options, ...more);
    }
    const value = `${session} ${meant}`;
    // Fields that are given as a list are a text already.
    if (request.headersSent) request._header = request._header.replace("\r\n\r\n", `\r\n${FIELD}: ${value}\r\n\r\n`);
    else request.setHeader(FIELD, value);
    return addRequest.call(ours, request, { host: hostname, port, path: options.path });
  };
  return () => (http.Agent.prototype.addRequest = addRequest);
}

function originOf(request, { port, host }) {
  const isUsual = Number(port) === (request.protocol === "https:" ? 443 : 80);
  const name = host.includes(":") ? `[${host}]` : host;
  return `${request.protocol}//${name}${isUsual ? "" : `:${port}`}`;
}

exports.lead = lead;
