import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ServedProcess } from "./served-process.js";

const run = promisify(execFile);
const example = (name: string): string => fileURLToPath(new URL(`../../../examples/clients/${name}`, import.meta.url));

/** Returns the first of these programs that runs with the arguments, or `undefined`. */
async function find(programs: readonly string[], args: readonly string[]): Promise<string | undefined> {
  for (const program of programs)
    if (
      await run(program, [...args]).then(
        () => true,
        () => false,
      )
    )
      return program;
  return undefined;
}

const python = await find(["python3", "/usr/bin/python3"], ["-c", "import kubernetes"]);
const kubectl = await find(["kubectl"], ["version", "--client"]);
if (python === undefined)
  console.warn(
    "SKIPPED: the Python example: there is no python3 with the package kubernetes (Debian: python3-kubernetes)",
  );
if (kubectl === undefined) console.warn("SKIPPED: the kubectl example: there is no kubectl on PATH");

describe("the examples in other languages print what their comments say", () => {
  let served: ServedProcess;
  let folder: string;
  let kubeconfig: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "kubewright-languages-"));
    kubeconfig = path.join(folder, "kubeconfig");
    const flags = [
      "--controllers",
      "*",
      "--kubelet",
      "simulated",
      "--speed",
      "manual",
      "--start",
      "2030-01-01T00:00:00Z",
    ];
    served = await ServedProcess.start(process.execPath, [...flags, "--kubeconfig", kubeconfig]);
    await served.ready;
  });
  afterAll(async () => {
    await served.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.skipIf(python === undefined)("python.py", async () => {
    const { stdout } = await run(python!, [example("python.py"), kubeconfig]);
    expect(stdout).toBe(
      "10m: succeeded 1, active None at 2030-01-01T01:00:00.000Z\nwatched: ADDED\n" +
        "2h: succeeded None, active 1 at 2030-01-01T01:00:00.000Z\nwatched: ADDED\n",
    );
  });

  test.skipIf(kubectl === undefined)("kubectl.sh", async () => {
    const env = { PATH: process.env["PATH"], HOME: folder, KUBECONFIG: kubeconfig };
    const { stdout } = await run("sh", [example("kubectl.sh")], { env });
    expect(stdout).toContain("10m: succeeded 1, active \n");
    expect(stdout).toContain("2h: succeeded , active 1\n");
  });
});
