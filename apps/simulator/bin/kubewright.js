#!/usr/bin/env node
// Checked in, so that installing the workspace links the command before anything is built.
/* oxlint-disable kubewright/no-ambient-io -- the launcher is where the process is set up */
import module from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 19)) {
  // V8 caches the compiled sources for the next start, beside the sources: no other user may write there.
  // A folder that cannot be written to has no cache.
  module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)));
  await import("../dist/main.js");
} else {
  process.stderr.write(`kubewright: needs Node.js 22.19 or later, and this is ${process.versions.node}\n`);
  process.exitCode = 2;
}
