import { afterEach, beforeEach } from "vitest";
import { Tapes } from "./index.cjs";

/** Gives each test of this file, or of this `describe`, a cassette of its own. */
export function retape(options) {
  const tapes = new Tapes(options);
  beforeEach(async ({ task }) => {
    const names = [];
    for (let each = task; each && each !== each.file; each = each.suite) if (each.name) names.unshift(each.name);
    const file = task.file.filepath;
    const rerun = `npx vitest run ${task.file.name} -t ${JSON.stringify(names.join(" "))}`;
    await tapes.begin({ file, names, rerun, test: task });
  });
  afterEach(async ({ task }) => tapes.end({ passed: task.result?.state !== "fail", test: task }));
  return tapes;
}
