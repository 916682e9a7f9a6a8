import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { jobs } from "@kubewright/api";
import { expect, onTestFinished, test, vi } from "vitest";

import "../src/vitest.js";
import { type TestServer, missingTestServer, startTestCluster } from "../src/index.js";
import { startServeProcess } from "../src/processes/index.js";
import { startServe } from "../src/serve-backend.js";
import { backupController, clusterWithBackups, createBackup } from "./backups.js";

const SERVE = path.join(
  path.dirname(createRequire(import.meta.url).resolve("kubewright/package.json")),
  "bin/kubewright.js",
);

/** The test of a controller, for all kinds of clusters. */
async function testBackupController(against: TestServer): Promise<void> {
  await using cluster = await clusterWithBackups({ against });
  const trace = await cluster.trace();
  const controller = await cluster.run(backupController);
  const fault = cluster.faults.refuse({
    by: "backupController",
    verb: "create",
    resource: jobs,
    times: 1,
    status: 500,
  });
  const nightly = await createBackup(cluster, "nightly");
  await cluster.eventually(() => expect(nightly).toOwn(jobs, 1), { within: "10s" });
  await cluster.eventually(() => expect(nightly).toHaveEvent({ reason: "Complete" }), { within: "2m" });
  await expect(cluster.object(jobs, "nightly")).toHaveCondition("Complete");
  expect(fault.count).toBe(1);
  expect(trace.text()).toContain("backupController sends create jobs.batch default/nightly: 201\n");
  await controller.stop();
  await nightly.delete();
  await cluster.eventually(() => expect(cluster.object(jobs, "nightly")).toBeGone(), { within: "1m" });
  await expect(nightly).toBeGone();
}

test.each(["in-process", "serve"] as const)(
  "a controller is tested the same way against: %s",
  testBackupController,
  60_000,
);

test("a long time passes against serve as in process: only at the times of events", async () => {
  await using cluster = await startTestCluster({ against: "serve", start: "2030-01-01T00:00:00Z", kubelet: "none" });
  const seen: string[] = [];
  await cluster.run(({ clock }) => ({
    name: "ticking",
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(3_600_000, signal).catch(() => {});
        if (!signal.aborted) seen.push(new Date(clock.now()).toISOString());
      }
    },
  }));
  await cluster.advance("1d");
  expect(seen).toHaveLength(24);
  expect([seen[0], seen.at(-1)]).toEqual(["2030-01-01T01:00:00.000Z", "2030-01-02T00:00:00.000Z"]);
  expect(cluster.now.toISOString()).toBe("2030-01-02T00:00:00.000Z");
});

test("a running serve from the environment is reset for each test", async () => {
  const { url, stop } = await startServeProcess({ flags: ["--start=2026-01-01T00:00:00Z"] });
  onTestFinished(stop);
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("KUBEWRIGHT_TEST_SERVER", url);
  for (let round = 0; round < 2; round++) {
    await using cluster = await clusterWithBackups();
    expect(cluster.against).toBe("serve");
    expect(cluster.now.toISOString()).toMatch(/^2026-01-01T00:00:0/);
    await createBackup(cluster, "nightly");
    await cluster.advance("1h");
  }
});

test("a serve that ends during a test reports its exit", async () => {
  const { url, ended, stop } = await startServeProcess({ flags: [] });
  const backend = await startServe({ url, ended, end: stop });
  await stop();
  await expect(backend.advance(1000)).rejects.toThrow(/^kubewright serve ended with (0|SIGTERM):\nServing on http/);
  await backend.stop();
});

test("a missing server is reported", async () => {
  expect(await missingTestServer("kube-apiserver", {})).toMatch(/^KUBEBUILDER_ASSETS is not set: set it to a folder/);
  expect(await missingTestServer("serve")).toBeUndefined();
  expect(await missingTestServer(undefined, {})).toBeUndefined();
  const bad = { KUBEWRIGHT_TEST_SERVER: "minikube" };
  await expect(missingTestServer(undefined, bad)).rejects.toThrow(
    'KUBEWRIGHT_TEST_SERVER: "minikube" is none of in-process, serve, kube-apiserver, or the URL',
  );
  vi.stubEnv("KUBEBUILDER_ASSETS", "/nowhere");
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startTestCluster({ against: "kube-apiserver" })).rejects.toThrow(
    "cannot test against kube-apiserver: KUBEBUILDER_ASSETS (/nowhere) has no kube-apiserver and no etcd",
  );
});

/** Creates programs with the flags and output of kube-apiserver and etcd, backed by an embedded API server. */
async function fakePrograms(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "assets-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const flag = `const flag = (name) => process.argv.find((each) => each.startsWith(\`--\${name}=\`))?.split("=")[1];`;
  const programs = {
    etcd: `import { createServer } from "node:http";
createServer((_, response) => response.end("{}")).listen(new URL(flag("listen-client-urls")).port, "127.0.0.1");`,
    "kube-apiserver": `import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
const config = flag("cert-dir") + "/kubeconfig";
const child = spawn(process.execPath, [${JSON.stringify(SERVE)}, "serve", "--tls", "--controllers=", "--kubelet=none",
  "--port=0", "--token-file=" + flag("token-auth-file"), "--kubeconfig=" + config], { stdio: "inherit" });
process.on("SIGTERM", () => child.kill());
child.on("close", () => process.exit());
const look = setInterval(() => {
  const text = existsSync(config) ? readFileSync(config, "utf8") : "";
  const [, port] = /server: https:\\S+:(\\d+)/.exec(text) ?? [];
  const [, authority] = /certificate-authority-data: (\\S+)/.exec(text) ?? [];
  if (port === undefined || authority === undefined) return;
  clearInterval(look);
  writeFileSync(flag("cert-dir") + "/apiserver.crt", Buffer.from(authority, "base64"));
  // As there, who is answered finds the certificate.
  createServer((socket) => {
    const inner = connect(Number(port), "127.0.0.1");
    for (const [one, other] of [[socket, inner], [inner, socket]])
      one.on("error", () => {}).on("close", () => other.destroy()).pipe(other);
  }).listen(Number(flag("secure-port")), "127.0.0.1");
}, 20);`,
  };
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(path.join(folder, `${name}.mjs`), `${flag}\n${text}\n`);
    const script = `#!/bin/sh\nexec ${process.execPath} ${path.join(folder, `${name}.mjs`)} "$@"\n`;
    await writeFile(path.join(folder, name), script);
    await chmod(path.join(folder, name), 0o755);
  }
  return folder;
}

test("on an API server without controllers, Kubernetes' controllers run in process, in real time", async () => {
  vi.stubEnv("KUBEBUILDER_ASSETS", await fakePrograms());
  onTestFinished(() => void vi.unstubAllEnvs());
  await testBackupController("kube-apiserver");
  await using cluster = await startTestCluster({ against: "kube-apiserver", kubelet: "none" });
  await expect(cluster.advance("10m")).rejects.toThrow(
    "advance: on a kube-apiserver time is real, and 10m is longer than the 1m that a test waits: wait with eventually",
  );
  await cluster.advance(10);
});

test("a controller is tested the same way against a real kube-apiserver", async ({ skip }) => {
  const missing = await missingTestServer("kube-apiserver");
  skip(missing !== undefined, missing);
  await expect(testBackupController("kube-apiserver")).resolves.toBeUndefined();
}, 240_000);
