import process from "node:process";

import { runCli } from "./cli.js";
import { nodeIo } from "./nodejs/nodejs-io.js";
import { readOwnFile } from "./nodejs/own-files.js";

/** Real time after the first signal, in milliseconds, at which a command that has not stopped is ended. */
const STOP_DEADLINE_MS = 30_000;

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
    setTimeout(() => {
      process.stderr.write(`kubewright: not stopped ${STOP_DEADLINE_MS / 1000} s after ${signal}: ended\n`);
      process.exit(130);
    }, STOP_DEADLINE_MS).unref();
  });
}
// A reader that closes the pipe (`kubewright run … | head`) ends the output without an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
// A reader may stop after the line that it waits for; the server continues.
process.stderr.on("error", () => {});

const { version } = JSON.parse(await readOwnFile("package.json")) as { version: string };
process.exitCode = await runCli(process.argv.slice(2), nodeIo(stop.signal), version);
