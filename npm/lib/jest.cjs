"use strict";

const path = require("node:path");
const { Tapes } = require("./index.cjs");
const { only, onlyFile } = require("./quoted.cjs");

/** Gives each test of this file, or of this `describe`, a cassette of its own, and one to the hooks around them. */
exports.retape = function retape(options) {
  const tapes = new Tapes(options);
  const place = () => onlyFile(path.relative(process.cwd(), expect.getState().testPath));
  const end = () => tapes.end({ passed: (running()?.errors ?? []).length === 0 });
  const endHooks = () => tapes.endHooks();
  beforeAll(() => tapes.beginHooks({ file: expect.getState().testPath, rerun: `npx jest ${place()}` }));
  beforeEach(async () => {
    const { currentTestName, testPath } = expect.getState();
    const rerun = `npx jest ${place()} -t ${only(currentTestName)}`;
    await tapes.begin({ file: testPath, names: running()?.names ?? [currentTestName], rerun });
  });
  afterEach(end);
  afterAll(endHooks);
  last(end, endHooks);
  return tapes;
};

/** Lets these hooks run behind those that the file defines below: jest runs hooks in the order of their definition. */
function last(...ours) {
  const block = state()?.currentDescribeBlock;
  if (!block) return;
  const isOurs = (hook) => ours.includes(hook.fn);
  // Once the file has defined all.
  queueMicrotask(() => {
    const all = block.hooks.splice(0);
    block.hooks.push(...all.filter((hook) => !isOurs(hook)), ...all.filter(isOurs));
  });
}

/** The test that runs. */
function running() {
  const test = state()?.currentlyRunningTest;
  if (!test) return undefined;
  const names = [];
  for (let each = test; each && each.name !== "ROOT_DESCRIBE_BLOCK"; each = each.parent) names.unshift(each.name);
  return { names, errors: test.errors };
}

/** What jest-circus knows. */
function state() {
  const key = Object.getOwnPropertySymbols(globalThis).find((each) => each.description === "JEST_STATE_SYMBOL");
  return key && globalThis[key];
}
