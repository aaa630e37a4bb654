import { afterAll, beforeAll, beforeEach } from "vitest";
import { Tapes } from "./index.cjs";

/** Gives each test of this file, or of this `describe`, a cassette of its own, and one to the hooks around them. */
export function retape(options) {
  const tapes = new Tapes(options);
  // The suite stands behind the fixtures since vitest 4.1, and before that alone.
  beforeAll(async function () {
    const file = Array.from(arguments, (each) => each?.file ?? each).find((each) => each?.filepath);
    await tapes.beginHooks({ file: file.filepath, rerun: `npx vitest run ${file.name}` });
  });
  beforeEach(async ({ task, onTestFinished }) => {
    const names = [];
    for (let each = task; each && each !== each.file; each = each.suite) if (each.name) names.unshift(each.name);
    const file = task.file.filepath;
    const rerun = `npx vitest run ${task.file.name} -t ${JSON.stringify(names.join(" "))}`;
    // Behind all hooks, also behind those that fail.
    onTestFinished(() => tapes.end({ passed: task.result?.state !== "fail", test: task }));
    await tapes.begin({ file, names, rerun, test: task });
  });
  // It runs behind those that the file defines. If one of them fails, vitest runs none behind it.
  afterAll(() => tapes.endHooks());
  queueMicrotask(() => afterAll(() => tapes.tellHooks()));
  return tapes;
}
