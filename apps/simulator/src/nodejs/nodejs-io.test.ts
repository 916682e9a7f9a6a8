import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { InterruptedError } from "@kubewright/analysis/errors";
import { expect, onTestFinished, test } from "vitest";

import { nodeIo } from "./nodejs-io.js";

const io = nodeIo(new AbortController().signal);

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("a folder lists its files, links to files, and folders, but neither pipes nor links to folders", async () => {
  const folder = makeFolder();
  const at = (name: string): string => path.join(folder, name);
  writeFileSync(at("a.yaml"), "");
  mkdirSync(at("b"));
  symlinkSync(at("a.yaml"), at("c.yaml"));
  symlinkSync(folder, at("d"));
  symlinkSync("nowhere", at("e.yaml"));
  execFileSync("mkfifo", [at("f.yaml")]);
  symlinkSync(at("f.yaml"), at("g.yaml"));
  const entries = [...(await io.listFolder(folder))!].sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(entries).toEqual([
    { name: "a.yaml", isFolder: false },
    { name: "b", isFolder: true },
    { name: "c.yaml", isFolder: false },
    { name: "e.yaml", isFolder: false },
  ]);
  expect(await io.listFolder(at("a.yaml"))).toBeUndefined();
  await expect(io.listFolder(at("h"))).rejects.toMatchObject({ code: "ENOENT" });
});

test.each([
  ["UTF-8", Buffer.from("kind: Jöb\n")],
  ["UTF-8 with a byte order mark", Buffer.from("\uFEFFkind: Jöb\n")],
  ["UTF-16, as PowerShell writes it", Buffer.from("\uFEFFkind: Jöb\n", "utf16le")],
  ["UTF-16, big-endian", Buffer.from("\uFEFFkind: Jöb\n", "utf16le").swap16()],
])("the encoding of a text is detected: %s", async (_title, bytes) => {
  const file = path.join(makeFolder(), "a.yaml");
  writeFileSync(file, bytes);
  expect(await io.readFile(file)).toBe("kind: Jöb\n");
});

function pipe(): string {
  const file = path.join(makeFolder(), "pipe");
  execFileSync("mkfifo", [file]);
  return file;
}

test("a device is refused", async () => {
  await expect(io.readFile("/dev/zero")).rejects.toThrow("is neither a regular file nor a folder nor a pipe");
});

test("a file over 64 MB is refused before it is read", async () => {
  const file = path.join(makeFolder(), "large.yaml");
  writeFileSync(file, "");
  truncateSync(file, 64_000_001);
  await expect(io.readFile(file)).rejects.toThrow("is larger than 64 MB, the limit");
});

test("a pipe is read until its writer closes it, and its size is limited", async () => {
  const file = pipe();
  spawn("sh", ["-c", `printf 'kind: Job' > ${file}`]);
  expect(await io.readFile(file)).toBe("kind: Job");
  spawn("sh", ["-c", `cat /dev/zero > ${file}`]);
  await expect(io.readFile(file)).rejects.toThrow("is larger than 64 MB, the limit");
});

test("a pipe that no program writes to is refused", async () => {
  await expect(io.readFile(pipe())).rejects.toThrow("is a pipe without data");
});

test("a stop ends the reading of a pipe whose writer sends nothing", async () => {
  const file = pipe();
  const writer = spawn("sh", ["-c", `exec sleep 60 > ${file}`]);
  onTestFinished(() => void writer.kill());
  const stop = new AbortController();
  const text = nodeIo(stop.signal).readFile(file);
  // The other side of the pipe is open once the writer can be read without an end.
  stop.abort();
  await expect(text).rejects.toThrow(InterruptedError);
});
