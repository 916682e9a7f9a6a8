import { readFileSync } from "node:fs";
import { hostname } from "node:os";

import { realClock, realRandom } from "@kubewright/clock";

import { readProcessStats } from "./metrics/node-process-stats.js";
import { run } from "./run.js";
import { nodeServingIo } from "./serving/node-serving-io.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const stop = new AbortController();
for (const name of SIGNALS) {
  process.on(name, () => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort(new Error(`stopped by ${name}`));
  });
}

const status = await run(
  {
    args: process.argv.slice(2),
    env: process.env,
    pid: process.pid,
    hostname: hostname(),
    build: { version, platform: process.platform, arch: process.arch },
    localTimeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    clock: realClock,
    random: realRandom,
    writeOut: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
    readFile: (path) => readFileSync(path, "utf8"),
    ignoreSignals: () => SIGNALS.forEach((name) => process.removeAllListeners(name)),
    servingIo: nodeServingIo(),
    readProcess: readProcessStats,
    nodeVersion: process.version,
  },
  stop.signal,
);
// Exit explicitly: after a failure, work may still be in flight.
process.exit(status);
