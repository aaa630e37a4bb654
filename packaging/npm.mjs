// Makes the npm packages: the one with the helpers, and one for each binary that is given.
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

const main = stage("main");
fs.cpSync(path.join(root, "npm"), main, { recursive: true });
const manifest = JSON.parse(fs.readFileSync(path.join(main, "package.json"), "utf8"));
manifest.version = version;
for (const [name, said] of Object.entries(manifest.optionalDependencies)) {
  manifest.optionalDependencies[name] = said.replace(/@[^@]*?-/, `@${version}-`);
}
licenses(main);
fs.copyFileSync(path.join(root, "docs/vitest.md"), path.join(main, "README.md"));
pack(main, manifest);

for (const [platform, binary] of binaries.map((each) => each.split("="))) {
  const folder = stage(platform);
  const name = platform.startsWith("win32") ? "retape.exe" : "retape";
  fs.mkdirSync(path.join(folder, "bin"));
  fs.copyFileSync(binary, path.join(folder, "bin", name));
  fs.chmodSync(path.join(folder, "bin", name), 0o755);
  licenses(folder);
  const [system, processor] = platform.split("-");
  const { description, license } = manifest;
  pack(folder, {
    name: manifest.name,
    version: `${version}-${platform}`,
    description: `${description}: the binary for ${platform}`,
    license,
    os: [system],
    cpu: [processor],
    files: ["bin"],
  });
}

function stage(name) {
  return fs.mkdtempSync(path.join(os.tmpdir(), `retape-npm-${name}-`));
}

function licenses(folder) {
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) fs.copyFileSync(path.join(root, name), path.join(folder, name));
}

function pack(folder, content) {
  fs.writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(content, null, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", path.resolve(out)], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  fs.rmSync(folder, { recursive: true });
}
