#!/usr/bin/env node
// Checked in, so that installing the workspace links the command before anything is built.
await import("../dist/main.js");
