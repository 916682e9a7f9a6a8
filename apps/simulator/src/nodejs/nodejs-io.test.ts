import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

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
