import { afterAll, beforeAll, beforeEach } from "vitest";
import { Tapes } from "./index.cjs";
import { only, quoted } from "./quoted.cjs";

/** Gives each test of this file, or of this `describe`, a cassette of its own, and one to the hooks around them. */
export function retape(options) {
  const tapes = new Tapes(options);
  const late = [];
  // The suite stands behind the fixtures since vitest 4.1, and before that alone.
  beforeAll(async function () {
    const file = Array.from(arguments, (each) => each?.file ?? each).find((each) => each?.filepath);
    await tapes.beginHooks({ file: file.filepath, rerun: `npx vitest run ${quoted(file.name)}` });
  });
  beforeEach(async ({ task, onTestFinished }) => {
    const names = [];
    for (let each = task; each && each !== each.file; each = each.suite) if (each.name) names.unshift(each.name);
    const file = task.file.filepath;
    const rerun = `npx vitest run ${quoted(task.file.name)} -t ${only(names.join(" "))}`;
    // Behind all hooks, also behind those that fail.
    onTestFinished(async () => {
      const failed = task.result?.state === "fail";
      // One that is to fail (`test.fails`) has passed if it failed, and not by what it missed.
      const ended = tapes.end({ passed: failed === Boolean(task.fails), test: task });
      await (task.fails ? ended.catch((error) => late.push(error)) : ended);
    });
    await tapes.begin({ file, names, rerun, test: task });
  });
  // It runs behind those that the file defines. If one of them fails, vitest runs none behind it.
  afterAll(() => tapes.endHooks());
  afterAll(() => {
    if (late.length > 0) throw late[0];
  });
  queueMicrotask(() => afterAll(() => tapes.tellHooks()));
  return tapes;
}
