"use strict";

const path = require("node:path");
const { after, afterEach, before, beforeEach } = require("node:test");
const { Tapes } = require("./index.cjs");

/** Gives each test of this file, or of this `describe`, a cassette of its own, and one to the hooks around them. */
exports.retape = function retape(options) {
  const tapes = new Tapes(options);
  const caller = process.argv[1];
  const relative = (file) => path.relative(process.cwd(), file);
  // At once: node begins with all hooks of a file together.
  const begun = tapes.beginHooks({ file: caller, rerun: `node --test ${relative(caller)}` });
  begun.catch(() => {});
  before(() => begun);
  beforeEach(async (t) => {
    const file = t.filePath ?? caller;
    const names = (t.fullName ?? t.name).split(" > ");
    const rerun = `node --test --test-name-pattern ${JSON.stringify(t.name)} ${relative(file)}`;
    await tapes.begin({ file, names, rerun, test: t.fullName ?? t.name });
  });
  afterEach((t) => end(tapes, t));
  // Behind those that the file defines: they run in the order of their definition.
  queueMicrotask(() => after(() => tapes.endHooks()));
  // If one of them fails, node runs none behind it.
  after(() => tapes.tellHooks());
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
