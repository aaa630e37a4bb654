"use strict";

const { AsyncResource } = require("node:async_hooks");
const path = require("node:path");
const { after, afterEach, before, beforeEach } = require("node:test");
const { Tapes } = require("./index.cjs");
const { only, quoted } = require("./quoted.cjs");

/** Gives each test of this file, or of this `describe`, a cassette of its own, and one to the hooks around them. */
exports.retape = function retape(options) {
  const tapes = new Tapes(options);
  const caller = process.argv[1];
  const relative = (file) => quoted(path.relative(process.cwd(), file));
  // At once: node begins with all hooks of a file together.
  const begun = tapes.beginHooks({ file: caller, rerun: `node --test ${relative(caller)}` });
  begun.catch(() => {});
  before(() => begun);
  beforeEach(async (t) => {
    const file = t.filePath ?? caller;
    const names = (t.fullName ?? t.name).split(" > ");
    const rerun = `node --test --test-name-pattern ${only(t.name)} ${relative(file)}`;
    await tapes.begin({ file, names, rerun, test: t.fullName ?? t.name });
  });
  afterEach((t) => end(tapes, t));
  // Hooks run in the order of their definition, and none behind one that fails. So the first one tells what was
  // missed, and defines the last one: for the file, and not for the hook within which it is defined.
  const defineLast = AsyncResource.bind(() => after(() => tapes.endHooks()));
  after(async () => {
    await tapes.tellHooks();
    defineLast();
  });
  return tapes;
};

async function end(tapes, t) {
  const passed = t.passed !== false && !t.error;
  try {
    await tapes.end({ passed, test: t.fullName ?? t.name });
  } catch (error) {
    // Of a test that has failed already, node tells the first error only.
    if (!passed) console.error(error.message);
    throw error;
  }
}
