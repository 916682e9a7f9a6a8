import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import { type BuildResult, type OutputFile, build } from "esbuild";

import { lazyExpressions, lazySharding, withoutExternalClients } from "../browser-plugin.js";

const source = path.join(import.meta.dirname, "../src/browser/index.ts");

/**
 * Bundles `kubewright/browser` as a site does: `index.js`, `expressions.js`, `sharding.js`, and the chunks that they
 * load on demand.
 */
export function bundle(): Promise<BuildResult & { readonly outputFiles: OutputFile[] }> {
  return build({
    entryPoints: { index: source, expressions: "kubewright:expressions", sharding: "kubewright:sharding" },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    conditions: ["@kubewright/source"],
    outdir: "/",
    write: false,
    logLevel: "silent",
    plugins: [lazyExpressions, lazySharding, withoutExternalClients],
    metafile: true,
  });
}

/** The worker's script: imports a module and calls the function that the page names. */
const WORKER = `import * as engine from "./index.js";
import { loadExpressions } from "./expressions.js";
import { loadSharding } from "./sharding.js";
self.onmessage = async ({ data: { name, request, options, cancelAt } }) => {
  const stop = new AbortController();
  const shares = [];
  if (engine.needsExpressions(request)) await loadExpressions();
  if (engine.needsSharding(request)) await loadSharding();
  const began = performance.now();
  const onProgress = (share) => {
    shares.push(share);
    if (cancelAt !== undefined && share >= cancelAt) self.postMessage({ share });
  };
  self.onmessage = () => stop.abort();
  try {
    const result = await engine[name](request, { ...options, onProgress, signal: stop.signal });
    self.postMessage({ result, shares, tookMs: performance.now() - began });
  } catch (error) {
    self.postMessage({ error: error.name + ": " + error.message, shares });
  }
};`;

/** Sends a request to a new worker. */
const ASK = `globalThis.ask = (message) => new Promise((resolve, reject) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onerror = (event) => reject(new Error(event.message));
  worker.onmessage = ({ data }) => {
    if ("share" in data) return worker.postMessage("stop");
    worker.terminate();
    resolve(data);
  };
  worker.postMessage(message);
});`;

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>engine</title><script src="/ask.js"></script></head><body></body></html>`;

/** Serves the bundle with a policy that permits only its own files and no evaluation of text. */
export async function serveBundle(): Promise<{ readonly server: Server; readonly url: string }> {
  const { outputFiles } = await bundle();
  const files = new Map(outputFiles.map(({ path: name, text }) => [name, text]));
  files.set("/worker.js", WORKER);
  files.set("/ask.js", ASK);
  const server = createServer((request, response) => {
    const text = request.url === "/" ? PAGE : files.get(request.url ?? "");
    response.writeHead(text === undefined ? 404 : 200, {
      "content-type": request.url === "/" ? "text/html" : "text/javascript",
      "content-security-policy": "default-src 'none'; script-src 'self'; worker-src 'self'",
    });
    response.end(text ?? "");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
