import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";

import { InterruptedError } from "@kubewright/analysis/errors";
import { expect, onTestFinished, test, vi } from "vitest";

import { execute } from "./execute.js";

const never = new AbortController().signal;

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A program that starts another one, writes both process IDs to a file, and does not end. */
const withChild = (file: string): readonly string[] => ["-c", `sleep 60 & echo "$$ $!" > ${file}; wait`];

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended and waits for its parent is not running.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function pidsIn(file: string): Promise<number[]> {
  await expect.poll(() => readFileSync(file, { encoding: "utf8", flag: "a+" })).toMatch(/\d+ \d+\n/);
  return readFileSync(file, "utf8").trim().split(" ").map(Number);
}

test("the output and the status of a program are returned", async () => {
  expect(await execute("sh", ["-c", "echo out; echo err >&2; exit 3"], {}, never)).toEqual({
    status: 3,
    stdout: "out\n",
    stderr: "err\n",
  });
});

test("a program that is not installed is undefined", async () => {
  expect(await execute("no-such-program-here", [], {}, never)).toBeUndefined();
});

test("a program has no standard input", async () => {
  expect(await execute("cat", [], {}, never)).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("the temporary files of a program are removed", async () => {
  const result = await execute("sh", ["-c", 'touch "$TMPDIR/left"; echo "$TMPDIR"'], {}, never);
  const folder = result!.stdout.trim();
  expect(folder).not.toBe("");
  expect(() => readdirSync(folder)).toThrow("ENOENT");
});

test("a program that takes too long is ended with the programs that it has started", async () => {
  const file = path.join(makeFolder(), "pids");
  writeFileSync(file, "");
  const result = execute("sh", withChild(file), { timeoutMs: 300 }, never);
  const pids = await pidsIn(file);
  expect(await result).toMatchObject({ ended: "timeout" });
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
});

test("a program that prints too much is ended", async () => {
  expect(await execute("cat", ["/dev/zero"], { maxBytes: 1_000_000 }, never)).toEqual(
    expect.objectContaining({ ended: "output", stdout: "" }),
  );
});

test("a stop ends a program with the programs that it has started", async () => {
  const file = path.join(makeFolder(), "pids");
  writeFileSync(file, "");
  const stop = new AbortController();
  const result = execute("sh", withChild(file), {}, stop.signal);
  const pids = await pidsIn(file);
  stop.abort();
  await expect(result).rejects.toThrow(InterruptedError);
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
});

test("programs find no network and no plugins, unless they may use them", async () => {
  vi.stubEnv("HELM_PLUGINS", "/plugins");
  onTestFinished(() => void vi.unstubAllEnvs());
  const print = ["-c", 'echo "$HTTPS_PROXY $GIT_ALLOW_PROTOCOL $HELM_PLUGINS"'];
  expect((await execute("sh", print, {}, never))!.stdout).toMatch(
    /^http:\/\/127\.0\.0\.1:0 none \S+\/kubewright-\w+\n$/,
  );
  expect((await execute("sh", print, { network: true }, never))!.stdout).toMatch(/ \/plugins\n$/);
});
