#!/usr/bin/env node
// Checked in, so that installing the workspace links the command before anything is built.
// oxlint-disable-next-line kubewright/no-ambient-io -- the launcher is where the process is set up
import process from "node:process";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 19)) await import("../dist/main.js");
else {
  process.stderr.write(`kubewright: needs Node.js 22.19 or later, and this is ${process.versions.node}\n`);
  process.exitCode = 2;
}
