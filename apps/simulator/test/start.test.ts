import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { expect, onTestFinished, test } from "vitest";

const LAUNCHER = fileURLToPath(new URL("../bin/kubewright.js", import.meta.url));

/** Records at exit which modules the process loaded, including Node's own, and the directory of V8's compile cache. */
const WITNESS = `
import module from "node:module";
import { writeFileSync } from "node:fs";
const urls = [];
module.registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
process.on("exit", () => writeFileSync(process.env.WITNESS, JSON.stringify({ urls, own: process.moduleLoadList, cache: module.getCompileCacheDir() })));
`;

interface Witness {
  readonly urls: readonly string[];
  readonly own: readonly string[];
  readonly cache: string;
}

/** Starts the server, and returns the recorded modules once it serves. */
async function serveOnce(): Promise<Witness> {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const witness = path.join(folder, "witness.mjs");
  writeFileSync(witness, WITNESS);
  const child = spawn(process.execPath, ["--import", pathToFileURL(witness).href, LAUNCHER, "serve", "--port", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], WITNESS: path.join(folder, "witnessed.json") },
  });
  let output = "";
  child.stderr.on("data", (text: Buffer) => {
    output += String(text);
    if (output.includes("kubewright is ready")) child.kill("SIGTERM");
  });
  await new Promise((resolve) => child.once("close", resolve));
  expect(output).toContain("Serving on http://127.0.0.1:");
  return JSON.parse(readFileSync(path.join(folder, "witnessed.json"), "utf8")) as Witness;
}

test("serve loads only what it needs: no libraries of other commands, no texts of kubectl explain, not Node's HTTP client", async () => {
  const { urls, own, cache } = await serveOnce();
  expect(urls.join("\n")).toContain("/serve-command-");
  expect(
    urls.filter((url) => /cli-progress|csv-stringify|ajv|selfsigned|(run|why|learn)-command|descriptions/.test(url)),
  ).toEqual([]);
  expect(own).not.toContain("NativeModule internal/deps/undici/undici");
  // A folder that other users cannot write to.
  expect(cache).toContain(path.join(path.dirname(LAUNCHER), "..", "node_modules", ".cache"));
});
