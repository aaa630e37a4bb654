// Makes the npm packages: the one with the helpers, and one for each binary that is given, which has the helpers
// too, so that it can be installed from its file alone.
//
// Usage: node packaging/npm.mjs OUT PLATFORM=BINARY...    such as linux-x64=target/release/retape
//
// All are versions of one name: `0.1.0` and `0.1.0-linux-x64`.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const root = path.dirname(path.dirname(new URL(import.meta.url).pathname));
const [out, ...binaries] = process.argv.slice(2);
const version = /^version = "(.*)"/m.exec(fs.readFileSync(path.join(root, "Cargo.toml"), "utf8"))[1];
fs.mkdirSync(out, { recursive: true });

const manifest = JSON.parse(fs.readFileSync(path.join(root, "npm/package.json"), "utf8"));
for (const [name, said] of Object.entries(manifest.optionalDependencies)) {
  manifest.optionalDependencies[name] = said.replace(/@[^@]*?-/, `@${version}-`);
}
pack(stage("main"), { ...manifest, version });

const { optionalDependencies, ...whole } = manifest;
for (const [platform, binary] of binaries.map((each) => each.split("="))) {
  const folder = stage(platform);
  const file = path.join(folder, "bin", platform.startsWith("win32") ? "retape.exe" : "retape");
  fs.copyFileSync(binary, file);
  fs.chmodSync(file, 0o755);
  const [system, processor] = platform.split("-");
  pack(folder, { ...whole, version: `${version}-${platform}`, os: [system], cpu: [processor] });
}

/** A folder with the helpers. */
function stage(name) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `retape-npm-${name}-`));
  fs.cpSync(path.join(root, "npm"), folder, { recursive: true });
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) fs.copyFileSync(path.join(root, name), path.join(folder, name));
  fs.copyFileSync(path.join(root, "docs/vitest.md"), path.join(folder, "README.md"));
  return folder;
}

function pack(folder, content) {
  fs.writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(content, null, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", path.resolve(out)], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  fs.rmSync(folder, { recursive: true });
}
