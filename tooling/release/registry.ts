import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { freePort } from "../../conformance/free-port.ts";

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

const VERDACCIO = "6.10.4";
const READY_MS = 30_000;

/**
 * Starts a local verdaccio registry on a free port. It accepts kubewright's packages from any client, and forwards
 * other requests to npm's configured registry.
 *
 * @param folder - Folder for its files, including an `.npmrc` that selects this registry.
 */
export async function startRegistry(folder: string): Promise<Registry> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const upstream = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).stdout.trim();
  mkdirSync(folder, { recursive: true });
  const ours = { access: "$all", publish: "$all", unpublish: "$all" };
  const config = {
    storage: path.join(folder, "storage"),
    auth: { htpasswd: { file: path.join(folder, "htpasswd") } },
    uplinks: { upstream: { url: upstream, timeout: "60s", cache: true } },
    packages: {
      "@kubewright/*": ours,
      kubewright: ours,
      "create-kubewright": ours,
      "**": { access: "$all", proxy: "upstream" },
    },
    web: { enable: false },
    max_body_size: "50mb",
    log: { type: "stdout", format: "pretty", level: "warn" },
  };
  // YAML parsers accept JSON.
  writeFileSync(path.join(folder, "config.yaml"), JSON.stringify(config));
  const program = installVerdaccio(path.join(folder, "verdaccio"));
  // npm requires a token for publishing; this registry does not check it.
  writeFileSync(path.join(folder, ".npmrc"), `registry=${url}\n//127.0.0.1:${port}/:_authToken=rehearsal\n`);
  const args = [program, "--config", path.join(folder, "config.yaml"), "--listen", `127.0.0.1:${port}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const close = async (): Promise<void> => {
    child.kill();
    await exited;
  };
  const until = performance.now() + READY_MS;
  while (performance.now() < until && child.exitCode === null) {
    const ready = await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { url, close };
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await close();
  throw new Error(`verdaccio did not start:\n${output}`);
}

/**
 * Installs verdaccio on demand. It is not a dependency of the repository, because only rehearsals need it and it has
 * 280 packages. Returns the path of its program.
 */
function installVerdaccio(folder: string): string {
  const manifest = {
    private: true,
    dependencies: { verdaccio: VERDACCIO },
    // verdaccio-audit requests a dist-tag that some mirrors do not have.
    overrides: { "verdaccio-audit": { "node-fetch": "^2.7.0" } },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
  const { status, stderr } = spawnSync("npm", ["install", "--silent", "--ignore-scripts", "--no-audit"], {
    cwd: folder,
    encoding: "utf8",
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`verdaccio cannot be installed: ${stderr}`);
  return path.join(folder, "node_modules/verdaccio/bin/verdaccio");
}
