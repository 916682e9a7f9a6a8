import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { openReplacement, replaceFile } from "./file-replacement.js";

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);
const isRoot = process.getuid?.() === 0;

test("a file is replaced as a whole when it is closed, and not before", async () => {
  const folder = makeFolder();
  const file = path.join(folder, "trace.jsonl");
  writeFileSync(file, "old and long\n");
  const replacement = await openReplacement(file);
  await replacement.write("new\n");
  await replacement.write("x".repeat(200_000));
  expect(readFileSync(file, "utf8")).toBe("old and long\n");
  await replacement.close();
  expect(readFileSync(file, "utf8")).toBe(`new\n${"x".repeat(200_000)}`);
  expect(readdirSync(folder)).toEqual(["trace.jsonl"]);
});

test("the given mode replaces a looser one, and no other user can read the file meanwhile", async () => {
  const folder = makeFolder();
  const file = path.join(folder, "kubeconfig");
  writeFileSync(file, "old");
  chmodSync(file, 0o666);
  const replacement = await openReplacement(file, { mode: 0o600 });
  expect(readdirSync(folder).map((name) => [name === "kubeconfig", modeOf(path.join(folder, name))])).toContainEqual([
    false,
    "600",
  ]);
  await replacement.write("secret");
  await replacement.close();
  expect([modeOf(file), readFileSync(file, "utf8")]).toEqual(["600", "secret"]);
  await replaceFile(path.join(folder, "new"), "secret", { mode: 0o600 });
  expect(modeOf(path.join(folder, "new"))).toBe("600");
});

test("without one a file keeps its mode, and a new one has the usual", async () => {
  const folder = makeFolder();
  const file = path.join(folder, "report.html");
  writeFileSync(file, "old");
  chmodSync(file, 0o640);
  await replaceFile(file, "new");
  expect(modeOf(file)).toBe("640");
  writeFileSync(path.join(folder, "usual"), "");
  await replaceFile(path.join(folder, "other"), "new");
  expect(modeOf(path.join(folder, "other"))).toBe(modeOf(path.join(folder, "usual")));
});

test("through a link the file it leads to is replaced, and the link stays", async () => {
  const folder = makeFolder();
  mkdirSync(path.join(folder, "elsewhere"));
  const [link, file] = [path.join(folder, "link"), path.join(folder, "elsewhere", "file")];
  writeFileSync(file, "old");
  symlinkSync(path.join("elsewhere", "file"), link);
  await replaceFile(link, "new", { mode: 0o600 });
  expect([readFileSync(file, "utf8"), modeOf(file), lstatSync(link).isSymbolicLink()]).toEqual(["new", "600", true]);
});

test("a link that leads nowhere is replaced itself", async () => {
  const folder = makeFolder();
  const link = path.join(folder, "link");
  symlinkSync(path.join(folder, "nowhere"), link);
  await replaceFile(link, "new", { mode: 0o600 });
  expect([readFileSync(link, "utf8"), lstatSync(link).isSymbolicLink()]).toEqual(["new", false]);
  expect(readdirSync(folder)).toEqual(["link"]);
});

test.skipIf(process.platform === "win32")("what is no file is written to as it is", async () => {
  await replaceFile("/dev/null", "gone", { mode: 0o600 });
  expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
});

test("what cannot be written is named, and nothing is left behind", async () => {
  const folder = makeFolder();
  await expect(openReplacement(folder)).rejects.toThrow(/^EISDIR: .*'$/);
  const missing = path.join(folder, "missing", "file");
  await expect(openReplacement(missing)).rejects.toMatchObject({
    code: "ENOENT",
    message: `ENOENT: no such file or directory, open '${missing}'`,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test.skipIf(isRoot)("a file that may not be written is not replaced either", async () => {
  const folder = makeFolder();
  const file = path.join(folder, "kept");
  writeFileSync(file, "old", { mode: 0o400 });
  await expect(replaceFile(file, "new")).rejects.toMatchObject({ code: "EACCES" });
  expect([readFileSync(file, "utf8"), readdirSync(folder)]).toEqual(["old", ["kept"]]);
});

test("when it cannot take the old one's place, the old one stays and nothing else", async () => {
  const folder = makeFolder();
  const file = path.join(folder, "file");
  const replacement = await openReplacement(file);
  await replacement.write("new");
  mkdirSync(file);
  await expect(replacement.close()).rejects.toThrow("EISDIR");
  expect([readdirSync(folder), statSync(file).isDirectory()]).toEqual([["file"], true]);
});

test.skipIf(process.platform !== "linux")("a full disk is reported, and no file is left behind", () => {
  const folder = makeFolder();
  const file = path.join(folder, "file");
  writeFileSync(file, "old");
  const module = fileURLToPath(new URL("file-replacement.ts", import.meta.url));
  // A limit on file sizes fails like a full disk.
  const program = `
    import { replaceFile } from ${JSON.stringify(module)};
    process.on("SIGXFSZ", () => {});
    await replaceFile(${JSON.stringify(file)}, "x".repeat(1e6)).catch((error) => console.log(error.code));
  `;
  const limited = ["-c", 'ulimit -f 64; exec "$@"', "sh", process.execPath, "--input-type=module", "-e", program];
  const { stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["EFBIG\n", ""]);
  expect([readFileSync(file, "utf8"), readdirSync(folder)]).toEqual(["old", ["file"]]);
});

test.each(["process.exit(130);", "throw new Error();", ""])(
  "a process that ends before it closes the file leaves the old one, and nothing else: %s",
  (end) => {
    const folder = makeFolder();
    const file = path.join(folder, "file");
    writeFileSync(file, "old");
    const module = fileURLToPath(new URL("file-replacement.ts", import.meta.url));
    const program = `
      import { openReplacement } from ${JSON.stringify(module)};
      import { readdirSync } from "node:fs";
      const replacement = await openReplacement(${JSON.stringify(file)});
      await replacement.write("new");
      console.log(readdirSync(${JSON.stringify(folder)}).length);
      ${end}
    `;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    expect(stdout).toBe("2\n");
    expect([readFileSync(file, "utf8"), readdirSync(folder)]).toEqual(["old", ["file"]]);
    expect(existsSync(file)).toBe(true);
  },
);
