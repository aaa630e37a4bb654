"use strict";

const path = require("node:path");
const { afterEach, beforeEach } = require("node:test");
const { Tapes } = require("./index.cjs");

/** Gives each test of this file, or of this `describe`, a cassette of its own. */
exports.retape = function retape(options) {
  const tapes = new Tapes(options);
  const caller = process.argv[1];
  beforeEach(async (t) => {
    const file = t.filePath ?? caller;
    const names = (t.fullName ?? t.name).split(" > ");
    const relative = path.relative(process.cwd(), file);
    await tapes.begin({ file, names, rerun: `node --test --test-name-pattern ${JSON.stringify(t.name)} ${relative}` });
  });
  afterEach(async (t) => {
    const passed = t.passed !== false && !t.error;
    try {
      await tapes.end({ passed });
    } catch (error) {
      // Of a test that has failed already, node tells the first error only.
      if (!passed) console.error(error.message);
      throw error;
    }
  });
  return tapes;
};
