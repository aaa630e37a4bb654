// Runs scenarios through the TypeScript SDK and writes what it said, one JSON file per scenario.
//
// Usage: main.mjs --out DIR [--parallel] [--swapped] [--direct] [--settle SECONDS] [SCENARIO...]

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { run, SCENARIOS } from "./scenarios.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    parallel: { type: "boolean" },
    swapped: { type: "boolean" },
    direct: { type: "boolean" },
    settle: { type: "string", default: "0" },
  },
});

const names = positionals.length > 0 ? positionals : Object.keys(SCENARIOS);
const unknown = names.filter((name) => !(name in SCENARIOS));
if (unknown.length > 0) {
  const known = Object.keys(SCENARIOS).join(", ");
  console.error(`no scenario ${unknown.join(", ")}; there are ${known}`);
  process.exit(2);
}
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
    const said = await run(name, baseUrl(name), Number(options.settle) * 1000, options.swapped);
    const path = join(options.out, `${name}.json`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, JSON.stringify(said));
    return true;
  } catch (error) {
    console.error(`typescript ${name}:`, error);
    return false;
  }
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
