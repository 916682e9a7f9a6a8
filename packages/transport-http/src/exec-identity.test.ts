import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { SimulatedClock } from "@kubewright/clock";
import { expect, onTestFinished, test } from "vitest";

import type { ConnectionOptions, ExecPlugin } from "./connection-options.js";
import { ExecIdentity, type ExecIdentityOptions } from "./exec-identity.js";
import { createHttpTransport } from "./http-transport.js";

const V1 = "client.authentication.k8s.io/v1";
const fixture = (name: string): string => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "kubewright-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns a plugin that runs a shell script. */
function shell(script: string): ExecPlugin {
  return { apiVersion: V1, command: "/bin/sh", args: ["-c", script] };
}

function printing(text: string): ExecPlugin {
  return { apiVersion: V1, command: "printf", args: ["%s", text] };
}

function credential(status: object | undefined, apiVersion = V1): string {
  return JSON.stringify({ kind: "ExecCredential", apiVersion, status });
}

function identity(plugin: ExecPlugin, options: Partial<ExecIdentityOptions> = {}): ExecIdentity {
  const connection: ConnectionOptions = { server: "https://127.0.0.1" };
  const source = new ExecIdentity({
    plugin,
    connection,
    clock: new SimulatedClock(),
    timeoutMs: 60_000,
    warn: () => {},
    ...options,
  });
  onTestFinished(() => source.close());
  return source;
}

async function failure(waiting: unknown): Promise<string> {
  return Promise.resolve(waiting).then(
    () => expect.unreachable("it did not fail"),
    ({ message }: Error) => message,
  );
}

/** A script that never ends, with a child that never ends and ignores signals. It writes both process ids to files. */
const hanging = (folder: string): string =>
  `echo "open your browser" >&2; echo $$ > ${folder}/self.tmp; (trap "" TERM INT HUP; sleep 1000) & echo $! > ${folder}/child.tmp
   mv ${folder}/self.tmp ${folder}/self; mv ${folder}/child.tmp ${folder}/child; wait`;

async function pids(folder: string): Promise<number[]> {
  const files = ["self", "child"].map((name) => join(folder, name));
  await expect.poll(() => files.every((file) => existsSync(file))).toBe(true);
  return files.map((file) => Number(readFileSync(file, "utf8")));
}

/** Whether the process has ended. A zombie counts as ended. */
function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.startsWith("Z");
  } catch {
    return true;
  }
}

async function allGone(all: readonly number[]): Promise<void> {
  await expect.poll(() => all.filter((pid) => !isGone(pid))).toEqual([]);
}

test("a plugin that hangs is named after ten seconds, and killed with its children when its time is over", async () => {
  const folder = await scratch();
  const clock = new SimulatedClock();
  const warnings: string[] = [];
  const source = identity(shell(hanging(folder)), { clock, warn: (message) => void warnings.push(message) });
  const waiting = failure(source.current());
  const all = await pids(folder);
  await clock.advance(9999);
  await expect.poll(() => warnings.splice(0)).toEqual(["/bin/sh: open your browser"]);
  await clock.advance(1);
  expect(warnings).toEqual(["still waiting for /bin/sh, which is killed after 60 s"]);
  expect(all.filter(isGone)).toEqual([]);
  await clock.advance(50_000);
  expect(await waiting).toBe(
    "getting credentials: exec: executable /bin/sh did not end within 60 s, and was killed: open your browser",
  );
  await allGone(all);
});

test("closing the transport kills a plugin that is running, and what waits for it fails", async () => {
  const folder = await scratch();
  const { transport, close } = createHttpTransport({ server: "http://127.0.0.1:1", exec: shell(hanging(folder)) });
  const waiting = failure(transport({ method: "GET", path: "/", headers: {} }));
  const all = await pids(folder);
  await close();
  expect(await waiting).toBe("getting credentials: exec: the connection was closed");
  await allGone(all);
  expect(await failure(transport({ method: "GET", path: "/", headers: {} }))).toContain("the connection was closed");
});

test("an aborted request does not wait for the plugin, which continues for the others", async () => {
  const folder = await scratch();
  const { transport, close } = createHttpTransport({
    server: "http://127.0.0.1:1",
    exec: shell(`while [ ! -e ${folder}/go ]; do sleep 0.02; done; printf %s '${credential({ token: "t" })}'`),
  });
  onTestFinished(close);
  const stop = new AbortController();
  const request = { method: "GET", path: "/", headers: {} } as const;
  const other = failure(transport(request));
  const given = failure(transport({ ...request, signal: stop.signal }));
  stop.abort(new Error("enough"));
  expect(await given).toBe("enough");
  await writeFile(join(folder, "go"), "");
  expect(await other).toContain("connect ECONNREFUSED");
});

function host(handlesSigterm: boolean, script: string): ChildProcess & { readonly text: () => string } {
  const file = fileURLToPath(new URL("../test/plugin-host.ts", import.meta.url));
  const child = spawn(process.execPath, [file, String(handlesSigterm), "/bin/sh", "-c", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return Object.assign(child, { text: () => text });
}

const ended = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("a process that %s ends takes its plugin along", async (signal) => {
  const folder = await scratch();
  const child = host(false, hanging(folder));
  const end = ended(child);
  const all = await pids(folder);
  child.kill(signal);
  expect(await end).toBe(signal);
  await allGone(all);
});

test("a process that takes its time to end after SIGTERM does so without its plugin", async () => {
  const folder = await scratch();
  const child = host(true, hanging(folder));
  const end = ended(child);
  const all = await pids(folder);
  child.kill("SIGTERM");
  expect(await end).toBe(0);
  expect(child.text()).toMatch(/asked to end/);
  expect(child.text()).toMatch(/getting credentials: exec: executable \/bin\/sh failed with exit code 137/);
  await allGone(all);
});

test("what leaves nothing to do but write on is stopped, and so is a child that keeps the output open", async () => {
  const endless = identity(shell("trap '' PIPE; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"));
  expect(await failure(endless.current())).toContain("printed more than 1 MiB, and was killed");
  const folder = await scratch();
  const clock = new SimulatedClock();
  const left = identity(shell(`sleep 1000 & echo $! > ${folder}/child; echo $$ > ${folder}/self`), { clock });
  const waiting = failure(left.current());
  const all = await pids(folder);
  await clock.advance(60_000);
  expect(await waiting).toContain("did not end within 60 s");
  await allGone(all);
});

test("what a plugin writes to standard error is passed on line by line, without what changes a terminal", async () => {
  const warnings: string[] = [];
  const script = "printf 'open https://\\nÄ \\033[31mred' >&2; printf '\\n\\n' >&2; exit 3";
  const source = identity(shell(script), { warn: (message) => void warnings.push(message) });
  expect(await failure(source.current())).toBe(
    "getting credentials: exec: executable /bin/sh failed with exit code 3: Ä U+001B[31mred",
  );
  expect(warnings).toEqual(["/bin/sh: open https://", "/bin/sh: Ä U+001B[31mred"]);
  const flood: string[] = [];
  await failure(
    identity(shell("head -c 100000 /dev/zero | tr '\\0' 'x' >&2; yes no | head -n 5000 >&2; exit 1"), {
      warn: (message) => void flood.push(message),
    }).current(),
  );
  expect([flood.length, flood[0]!.length]).toEqual([100, "/bin/sh: ".length + 1000]);
});

const forV1 = (kind: object): string => JSON.stringify({ apiVersion: V1, kind: "ExecCredential", ...kind });

test.each<[string, string]>([
  ["", "decoding stdout: it must be a mapping, not a null"],
  ["eyJhbGciOi-a-secret", "decoding stdout: it must be a mapping, not a string"],
  ["{eyJhbGciOi: [a-secret", "decoding stdout: neither JSON nor YAML, 22 characters"],
  ["[]", "decoding stdout: it must be a mapping, not a list"],
  ["{}", "decoding stdout: Object 'Kind' is missing"],
  ['{"kind":"ExecCredential"}', 'decoding stdout: no kind "ExecCredential" is registered for version ""'],
  ['{"kind":"Secret","apiVersion":"v1"}', 'decoding stdout: no kind "Secret" is registered for version "v1"'],
  [
    credential({ token: "t" }, `${V1}beta1`),
    `exec plugin is configured to use API version ${V1}, plugin returned version ${V1}beta1`,
  ],
  [credential(undefined), "exec plugin didn't return a status field"],
  [credential({}), "exec plugin didn't return a token or cert/key pair"],
  [credential({ clientKeyData: "k" }), "exec plugin returned only certificate or key, not both"],
  [credential({ token: 5 }), "decoding stdout: status.token must be a string, not a number"],
  [forV1({ status: [] }), "decoding stdout: status must be a mapping, not a list"],
  [
    credential({ token: "t", expirationTimestamp: "tomorrow" }),
    'decoding stdout: expirationTimestamp "tomorrow" is not an RFC 3339 time',
  ],
  [
    credential({ clientCertificateData: fixture("client.crt"), clientKeyData: fixture("server.key") }),
    "failed parsing client key/certificate: tls: private key does not match public key",
  ],
])("%j on standard output is refused, without a word of it that may be secret", async (printed, message) => {
  expect(await failure(identity(printing(printed)).current())).toBe(`getting credentials: ${message}`);
});

test("a credential may be YAML, and a certificate", async () => {
  const yaml = `kind: ExecCredential\napiVersion: ${V1}\nstatus:\n  token: t\n`;
  expect(await identity(printing(yaml)).current()).toEqual({ authorization: "Bearer t" });
  const pair = { clientCertificateData: fixture("client.crt"), clientKeyData: fixture("client.key") };
  expect(await identity(printing(credential(pair))).current()).toEqual({
    cert: pair.clientCertificateData,
    key: pair.clientKeyData,
  });
});

test("a plugin runs once while its credential lasts, and again when that has expired", async () => {
  const folder = await scratch();
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const expirationTimestamp = "2026-01-01T01:00:00Z";
  const source = identity(
    shell(`echo run >> ${folder}/log; printf %s '${credential({ token: "t", expirationTimestamp })}'`),
    { clock },
  );
  const runs = (): number => readFileSync(join(folder, "log"), "utf8").split("\n").length - 1;
  const first = await Promise.all(Array.from({ length: 20 }, async () => source.current()));
  expect([new Set(first).size, runs()]).toEqual([1, 1]);
  await clock.advance(3_600_000);
  expect([source.current(), runs()]).toEqual([first[0], 1]);
  await clock.advance(1);
  await source.current();
  expect(runs()).toBe(2);
});

test("a plugin gets its cluster in KUBERNETES_EXEC_INFO, besides the environment and its own variables", async () => {
  const plugin = {
    ...shell(
      'printf \'{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"%s"}}\' "$V" "$(printf %s "$KUBERNETES_EXEC_INFO" | od -An -tx1 | tr -d " \\n")"',
    ),
    env: [{ name: "V", value: V1 }],
  };
  const connection = { server: "https://k", serverName: "n", ca: "CA", proxyUrl: "http://p" };
  const told = async (more: Partial<ExecPlugin>): Promise<unknown> => {
    const { authorization } = await identity({ ...plugin, ...more }, { connection }).current();
    return JSON.parse(Buffer.from(authorization!.slice("Bearer ".length), "hex").toString());
  };
  const info = { kind: "ExecCredential", apiVersion: V1 };
  expect(await told({})).toEqual({ ...info, spec: { interactive: false } });
  expect(await told({ provideClusterInfo: true, clusterConfig: { audience: "a" } })).toEqual({
    ...info,
    spec: {
      interactive: false,
      cluster: {
        server: "https://k",
        "tls-server-name": "n",
        "certificate-authority-data": Buffer.from("CA").toString("base64"),
        "proxy-url": "http://p",
        config: { audience: "a" },
      },
    },
  });
});

test("a plugin that is missing, or not executable, is reported with its install hint", async () => {
  const folder = await scratch();
  await writeFile(join(folder, "plugin"), "");
  await chmod(join(folder, "plugin"), 0o600);
  const installHint = "Get it:\n\n  brew install it\u001b[1m";
  for (const command of [join(folder, "none"), join(folder, "plugin"), "no-such-command-anywhere"])
    expect(await failure(identity({ apiVersion: V1, command, installHint }).current())).toBe(
      `getting credentials: exec: executable ${command} not found: Get it: brew install itU+001B[1m`,
    );
});

test("a plugin that needs a terminal, or speaks another version, is not run", async () => {
  const touching = shell("exit 0");
  expect(await failure(identity({ ...touching, interactiveMode: "Always" }).current())).toBe(
    "getting credentials: exec plugin cannot support interactive mode: standard input is unavailable",
  );
  const exec = { ...touching, apiVersion: "client.authentication.k8s.io/v1alpha1" };
  for (const token of [undefined, "t"])
    expect(() => createHttpTransport({ server: "https://x", exec, token })).toThrow(
      'exec plugin: invalid apiVersion "client.authentication.k8s.io/v1alpha1"',
    );
});
