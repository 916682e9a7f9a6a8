#!/usr/bin/env node
// Checked in, so that installing the workspace links the command before anything is built.
/* oxlint-disable kubewright/no-ambient-io -- the launcher is where the process is set up */
import process from "node:process";

// By default V8 lets its young generation grow to 128 MiB, all of which becomes resident, and its old generation to several
// times what is in use. That is twice the memory of a process that caches much and otherwise allocates short-lived objects.
// V8 also collects type feedback, which it needs to optimize a function, only from the eighth call on. Most functions here run
// for each change of an object, so feedback from the first call saves CPU time. bench/README.md has the figures of all three.
const SETTINGS = ["--max-semi-space-size=8", "--heap-growing-percent=40", "--no-lazy-feedback-allocation"];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `kubewright-controller-manager: needs Node.js 22.19 or later, and this is ${process.versions.node}\n`,
  );
  process.exitCode = 2;
} else {
  // The size of the young generation must be set before V8 starts, so the process replaces itself (execve) and keeps its PID.
  if (canReplaceItself() && !setsHeapLimits(process.execArgv) && !setsHeapLimits([process.env.NODE_OPTIONS ?? ""]))
    process.execve(process.execPath, [process.execPath, ...SETTINGS, ...process.execArgv, ...process.argv.slice(1)]);
  await import("../dist/main.js");
}

/** Returns false when a parent process uses Node's IPC channel, or when this process may not start programs. */
function canReplaceItself() {
  const isForbidden = process.platform === "win32" || process.permission !== undefined;
  return process.execve !== undefined && process.channel === undefined && !isForbidden;
}

/** Whether the flags set a heap limit, as the user's flags may, and those of a process that has replaced itself do. */
function setsHeapLimits(flags) {
  return flags.some((flag) => /semi[-_]space[-_]size|heap[-_]growing|optimize[-_]for[-_]size/.test(flag));
}
