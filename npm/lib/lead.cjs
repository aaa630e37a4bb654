"use strict";

/**
 * Leads `fetch` and undici to retape while a test runs. Only the address that they connect to is another one, and
 * a header field says which session and which server is meant.
 */

const KEYS = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map((name) => Symbol.for(name));

/** The global objects whose `fetch` a test may call: jest gives it that of another realm. */
function worlds() {
  const outer = typeof fetch === "function" ? fetch.constructor("return globalThis")() : globalThis;
  return outer === globalThis ? [globalThis] : [globalThis, outer];
}

/** Leads until the function that it returns is called. */
function lead(address, session) {
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
    const go = (session) =>
      inner.dispatch(
        { ...options, origin: address, headers: withField(options.headers, `${session} ${origin}`) },
        handler,
      );
    const opened = session();
    if (typeof opened === "string") return go(opened);
    opened.then(go).catch((error) => (handler.onResponseError ? handler.onResponseError(null, error) : handler.onError(error)));
    return true;
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
  if (Array.isArray(headers)) return [...headers, "retape-for", value];
  if (headers && typeof headers[Symbol.iterator] === "function") return [...[...headers].flat(), "retape-for", value];
  return { ...headers, "retape-for": value };
}

exports.lead = lead;
