"use strict";

const fs = require("node:fs");
const path = require("node:path");

/** The path of the retape binary: `RETAPE_BIN`, that of this package, or of the one for this platform. */
exports.binary = function binary() {
  if (process.env.RETAPE_BIN) return process.env.RETAPE_BIN;
  const platform = `${process.platform}-${process.arch}`;
  const name = process.platform === "win32" ? "retape.exe" : "retape";
  const own = path.join(__dirname, "../bin", name);
  if (fs.existsSync(own)) return own;
  try {
    return require.resolve(`retape-http-${platform}/bin/${name}`);
  } catch {
    throw new Error(
      `retape-http has no binary for ${platform} here. If there is one, npm left it out: ` +
        "install without `--omit=optional`, or set RETAPE_BIN to a retape of your own",
    );
  }
};
