#!/usr/bin/env node
"use strict";

const { spawnSync } = require("node:child_process");
const { binary } = require("../lib/binary.cjs");

const ended = spawnSync(binary(), process.argv.slice(2), { stdio: "inherit" });
if (ended.error) throw ended.error;
if (ended.signal) process.kill(process.pid, ended.signal);
process.exitCode = ended.status ?? 2;
