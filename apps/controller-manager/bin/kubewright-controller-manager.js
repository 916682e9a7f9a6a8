#!/usr/bin/env node
// Checked in, so that installing the workspace links the command before anything is built.
// oxlint-disable-next-line kubewright/no-ambient-io -- the launcher is where the process is set up
import { setFlagsFromString } from "node:v8";

// By itself V8 lets its heap grow to several times what is in use, and keeps what it has got: under load twice the memory
// of a process that caches much and otherwise makes short-lived objects, for a tenth less of CPU time (bench/README.md).
// This has to be said before anything is loaded that makes the heap grow.
setFlagsFromString("--optimize-for-size");
await import("../dist/main.js");
