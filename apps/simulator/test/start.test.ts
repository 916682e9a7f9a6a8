import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { expect, onTestFinished, test } from "vitest";

const LAUNCHER = fileURLToPath(new URL("../bin/kubewright.js", import.meta.url));

/** Writes down, when the process ends, which modules it loaded, Node's own among them, and where it keeps what V8 made of them. */
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

/** Serves until it says that it does, and tells what that took. */
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
  // Nobody else may write there.
  expect(cache).toContain(path.join(path.dirname(LAUNCHER), "..", "node_modules", ".cache"));
});
