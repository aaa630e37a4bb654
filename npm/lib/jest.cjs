"use strict";

const path = require("node:path");
const { Tapes } = require("./index.cjs");

/** Gives each test of this file, or of this `describe`, a cassette of its own. */
exports.retape = function retape(options) {
  const tapes = new Tapes(options);
  beforeEach(async () => {
    const { currentTestName, testPath } = expect.getState();
    const rerun = `npx jest ${path.relative(process.cwd(), testPath)} -t ${JSON.stringify(currentTestName)}`;
    await tapes.begin({ file: testPath, names: running()?.names ?? [currentTestName], rerun });
  });
  afterEach(() => tapes.end({ passed: (running()?.errors ?? []).length === 0 }));
  return tapes;
};

/** The test that runs, as jest-circus knows it. */
function running() {
  const key = Object.getOwnPropertySymbols(globalThis).find((each) => each.description === "JEST_STATE_SYMBOL");
  const test = key && globalThis[key].currentlyRunningTest;
  if (!test) return undefined;
  const names = [];
  for (let each = test; each && each.name !== "ROOT_DESCRIBE_BLOCK"; each = each.parent) names.unshift(each.name);
  return { names, errors: test.errors };
}
