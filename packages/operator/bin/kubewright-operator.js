#!/usr/bin/env node
// Checked in, so that installing the workspace links the command before the first build.
await import("../dist/cli/main.js");
