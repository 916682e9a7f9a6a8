#!/usr/bin/env node
// Checked in, so that installing the workspace links the command before anything is built.
/* oxlint-disable kubewright/no-ambient-io -- the launcher is where the process is set up */
import process from "node:process";

// By itself V8 lets its young generation grow to 128 MiB, whose pages it uses in turn until all are resident, and the old one
// to several times what is in use: twice the memory of a process that caches much and otherwise makes short-lived objects.
// And it notes what a function is called with, which it needs to compile it well, only from the eighth call on: most functions
// here are called for each change of an object, so the sooner the better (bench/README.md has the figures of all three).
const SETTINGS = ["--max-semi-space-size=8", "--heap-growing-percent=40", "--no-lazy-feedback-allocation"];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `kubewright-controller-manager: needs Node.js 22.19 or later, and this is ${process.versions.node}\n`,
  );
  process.exitCode = 2;
} else {
  // How large the young one may grow can only be said before V8 starts: this process starts anew in its own place, as the
  // same PID. It does not come back.
  if (mayStartAnew() && !saysLimits(process.execArgv) && !saysLimits([process.env.NODE_OPTIONS ?? ""]))
    process.execve(process.execPath, [process.execPath, ...SETTINGS, ...process.execArgv, ...process.argv.slice(1)]);
  await import("../dist/main.js");
}

/** Not where a parent process talks to this one by Node's channel, or where it may not start programs. */
function mayStartAnew() {
  const isForbidden = process.platform === "win32" || process.permission !== undefined;
  return process.execve !== undefined && process.channel === undefined && !isForbidden;
}

/** Who says something of the heap's limits, or has started anew. */
function saysLimits(flags) {
  return flags.some((flag) => /semi[-_]space[-_]size|heap[-_]growing|optimize[-_]for[-_]size/.test(flag));
}
