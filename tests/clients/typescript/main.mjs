// Runs scenarios through the TypeScript SDK and writes what it said, one JSON file per scenario.
//
// Usage: main.mjs --out DIR [--parallel] [--swapped] [--direct] [--settle SECONDS] [SCENARIO...]
//        main.mjs --names
//
// `{mode}` in DIR is that of retape. A live server needs so many SECONDS to close a stream.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { run, SCENARIOS } from "./scenarios.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    names: { type: "boolean" },
    out: { type: "string" },
    parallel: { type: "boolean" },
    swapped: { type: "boolean" },
    direct: { type: "boolean" },
    settle: { type: "string", default: "0" },
  },
});

if (options.names) {
  console.log(Object.keys(SCENARIOS).join("\n"));
  process.exit();
}
const names = positionals.length > 0 ? positionals : Object.keys(SCENARIOS);
const unknown = names.filter((name) => !(name in SCENARIOS));
if (unknown.length > 0) {
  const known = Object.keys(SCENARIOS).join(", ");
  console.error(`no scenario ${unknown.join(", ")}; there are ${known}`);
  process.exit(2);
}
const mode = options.direct ? "direct" : await modeOfRetape();
const out = options.out.replace("{mode}", mode);
const settle = mode === "replay" ? 0 : Number(options.settle) * 1000;
const passed = options.parallel ? await allAtOnce(names) : await oneByOne(names);
process.exitCode = passed.every(Boolean) ? 0 : 1;

function allAtOnce(names) {
  return Promise.all(shuffled(names).map(passes));
}

async function oneByOne(names) {
  const passed = [];
  for (const name of names) {
    passed.push(await passes(name));
  }
  return passed;
}

async function passes(name) {
  try {
    const said = await run(name, baseUrl(name), settle, options.swapped);
    const path = join(out, `${name}.json`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, JSON.stringify(said));
    return true;
  } catch (error) {
    console.error(`typescript ${name}:`, error);
    return false;
  }
}

// `record` or `replay`, which is also that of the proof of a recording.
async function modeOfRetape() {
  const answer = await fetch(`${process.env.RETAPE_URL}/-/retape/health`);
  return (await answer.json()).mode;
}

function baseUrl(name) {
  const url = process.env.RETAPE_URL;
  return options.direct ? url : `${url}/letta/typescript/${name}/-`;
}

function shuffled(names) {
  return names
    .map((name) => ({ name, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name);
}
