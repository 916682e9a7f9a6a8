import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));
/** KUBEWRIGHT_HEAVY=1 simulates a month, which takes half a minute. */
const DAYS = process.env["KUBEWRIGHT_HEAVY"] === "1" ? 30 : 2;
/** The run takes 190 MiB, and 330 MiB without the heap settings. */
const MAX_MIB = 250;
/** Prints the peak memory at exit. `maxRSS` is unsuitable: it includes the process that started this one. */
const PRINT_PEAK_SCRIPT = `data:text/javascript,import{readFileSync}from"node:fs";process.on("exit",()=>process.stderr.write("peak "+/VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]))`;

function hourly(minute: number): string {
  return `
apiVersion: batch/v1
kind: CronJob
metadata: { name: hourly-${minute} }
spec:
  schedule: "${minute % 60} * * * *"
  jobTemplate:
    spec:
      template:
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;
}

test.skipIf(!existsSync("/proc/self/status"))(
  `${DAYS} days of a hundred hourly CronJobs take at most ${MAX_MIB} MiB of memory`,
  { timeout: 600_000 },
  async () => {
    if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
    const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, "hundred.yaml");
    writeFileSync(file, Array.from({ length: 100 }, (_, index) => hourly(index)).join("---"));
    const args = ["--import", PRINT_PEAK_SCRIPT, BINARY, "run", file, "--for", `${DAYS}d`];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(code).toBe(0);
    const peakMib = Number(/peak (\d+)/.exec(said)?.[1]) / 1024;
    console.log(`run: ${DAYS} days of 100 hourly CronJobs took ${peakMib.toFixed(0)} MiB`);
    expect(peakMib).toBeLessThan(MAX_MIB);
  },
);
