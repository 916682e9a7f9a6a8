#!/usr/bin/env node
// Checked in, so that an install of the workspace links the command before the build.
await import("../dist/main.js");
