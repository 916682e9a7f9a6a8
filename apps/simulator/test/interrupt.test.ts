import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));
/** Runs a command on a terminal; part of util-linux. */
const SCRIPT = "/usr/bin/script";
const HAS_TERMINAL = process.platform === "linux" && existsSync(SCRIPT);
if (!HAS_TERMINAL) console.warn(`skipped: Ctrl-C on a terminal, as there is no ${SCRIPT} of util-linux to make one`);

const MANIFEST = `
apiVersion: batch/v1
kind: CronJob
metadata: { name: often }
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command, passes the process to `how` when it has printed the expected text, and waits for its end. */
async function interrupt(
  command: string,
  args: readonly string[],
  waitFor: RegExp,
  how: (child: ReturnType<typeof spawn>) => void,
): Promise<Ended> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, NO_COLOR: "1" } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  let printed = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (printed || !waitFor.test(output)) return;
    printed = true;
    how(child);
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

function manifestFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "often.yaml");
  writeFileSync(file, MANIFEST);
  return file;
}

test(
  "SIGINT ends a long run early, with what was reached written out and status 130",
  { timeout: 60_000 },
  async () => {
    const args = [BINARY, "run", manifestFile(), "--for", "365d", "--json", "-"];
    const { code, output } = await interrupt(process.execPath, args, /"type":"event"/, (child) => child.kill("SIGINT"));
    expect(code).toBe(130);
    const lines = output.trimEnd().split("\n");
    const last = JSON.parse(lines.at(-1)!) as { type: string; at: string };
    expect(last.type).toBe("end");
    expect(Date.parse(last.at)).toBeLessThan(Date.parse("2026-12-31T00:00:00Z"));
    expect(lines.length).toBeGreaterThan(100);
  },
);

test.runIf(HAS_TERMINAL)(
  "Ctrl-C on a terminal clears the progress bar and prints the timeline so far",
  { timeout: 60_000 },
  async () => {
    const command = [
      process.execPath,
      BINARY,
      "run",
      manifestFile(),
      "--start",
      "2026-01-01T00:00:00Z",
      "--for",
      "365d",
    ].join(" ");
    const { code, output } = await interrupt(SCRIPT, ["-qefc", command, "/dev/null"], /░ \d+% /, (child) => {
      child.stdin!.write("\u0003");
    });
    expect(code).toBe(130);
    const [bar, rest] = output.split("\u001B[2Kkubewright  2026-01-01T00:00:00Z");
    expect(bar).toMatch(/░+ 0% +\S+ of 365d/);
    expect(rest).toContain("CronJob default/often");
    expect(rest).not.toMatch(/[█░] \d+% /);
    expect(rest).toMatch(/kubewright: stopped after \S+ of 365d/);
  },
);
