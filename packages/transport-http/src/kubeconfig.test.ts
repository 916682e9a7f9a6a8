import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { loadClientConfig } from "./client-config.js";
import { inClusterConfig } from "./in-cluster-config.js";
import { loadKubeConfig } from "./kubeconfig.js";

/** Returns a folder that is deleted after the test, and a function that writes a file into it. */
async function scratch(): Promise<{ folder: string; write: (name: string, text: string) => Promise<string> }> {
  const folder = await mkdtemp(join(tmpdir(), "kubewright-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  };
  return { folder, write };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const KUBECONFIG = `
apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: { cluster: local, user: admin, namespace: team }
- name: prod
  context: { cluster: remote, user: robot }
- name: broken
  context: { cluster: nowhere, user: admin }
- name: no-user
  context: { cluster: local, user: ghost }
clusters:
- name: local
  cluster: { server: "https://127.0.0.1:6443/", certificate-authority-data: ${base64("CA")}, tls-server-name: kubernetes }
- name: remote
  cluster: { server: "https://prod.example/prefix", certificate-authority: pki/ca.crt, insecure-skip-tls-verify: false, proxy-url: "http://proxy:3128" }
users:
- name: admin
  user: { client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")} }
- name: robot
  user:
    tokenFile: token
    as: boss
    as-groups: [a]
    exec:
      apiVersion: client.authentication.k8s.io/v1
      interactiveMode: Never
      command: bin/login
      args: [--quiet]
      env: [{ name: A, value: b }]
`;

test("the current context is followed to its cluster and user, and inline data is decoded", async () => {
  const { write } = await scratch();
  expect(await loadKubeConfig({ path: await write("config", KUBECONFIG) })).toEqual({
    context: "dev",
    namespace: "team",
    server: "https://127.0.0.1:6443",
    ca: "CA",
    serverName: "kubernetes",
    insecureSkipTlsVerify: false,
    cert: "CERT",
    key: "KEY",
  });
});

test("another context can be chosen, paths in the file are relative to it, and the server can be replaced", async () => {
  const { folder, write } = await scratch();
  const path = await write("config", KUBECONFIG);
  await write("pki/ca.crt", "CA FILE");
  await write("token", "t\n");
  expect(await loadKubeConfig({ path, context: "prod", server: "https://other" })).toEqual({
    context: "prod",
    server: "https://other",
    ca: "CA FILE",
    insecureSkipTlsVerify: false,
    proxyUrl: "http://proxy:3128",
    token: "t",
    tokenFile: join(folder, "token"),
    impersonate: { user: "boss", groups: ["a"] },
    exec: {
      apiVersion: "client.authentication.k8s.io/v1",
      command: join(folder, "bin/login"),
      args: ["--quiet"],
      env: [{ name: "A", value: "b" }],
      interactiveMode: "Never",
      provideClusterInfo: false,
    },
  });
});

test("a kubeconfig may be JSON", async () => {
  const { write } = await scratch();
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c" } }],
    clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:8001" } }],
  };
  expect(await loadKubeConfig({ path: await write("config", JSON.stringify(config, undefined, 2)) })).toMatchObject({
    server: "http://127.0.0.1:8001",
  });
});

test.each([
  [{ context: "other" }, 'context "other" does not exist'],
  [{ context: "broken" }, 'invalid configuration: cluster "nowhere" was not found for context "broken"'],
  [{ context: "no-user" }, 'invalid configuration: user "ghost" was not found for context "no-user"'],
  [{ context: "prod" }, "invalid configuration: unable to read certificate-authority"],
])("%j is an error of one line: %s", async (options, message) => {
  const { write } = await scratch();
  await expect(loadKubeConfig({ path: await write("config", KUBECONFIG), ...options })).rejects.toThrow(message);
});

test("a file that is missing, is not YAML, or lacks a name is named with what is wrong, in one line", async () => {
  const { folder, write } = await scratch();
  const failure = async (path: string): Promise<string> => {
    const error = await loadKubeConfig({ path }).then(
      () => expect.unreachable("it did not fail"),
      (reason: unknown) => reason as Error,
    );
    expect(error.message).not.toContain("\n");
    return error.message.replace(folder, "");
  };
  expect(await failure(join(folder, "none"))).toBe('error loading config file "/none": no such file or directory');
  expect(await failure(await write("bad", "a: [1"))).toMatch(/^error loading config file "\/bad": .*line 1/);
  expect(await failure(await write("text", "hello"))).toBe(
    'error loading config file "/text": it is not a kubeconfig: no mapping at the top',
  );
  expect(await failure(await write("nameless", "clusters: [{}]"))).toBe(
    'error loading config file "/nameless": clusters[0].name is missing',
  );
  expect(await failure(await write("empty", ""))).toContain("no configuration has been provided");
});

test("an auth-provider is refused with the way out", async () => {
  const { write } = await scratch();
  const text = KUBECONFIG.replace(
    "user: { client-certificate-data",
    "user: { auth-provider: { name: gcp }, client-certificate-data",
  );
  await expect(loadKubeConfig({ path: await write("config", text) })).rejects.toThrow(
    'user "admin": auth-provider "gcp" is not supported, use an exec plugin',
  );
});

test("without a path the files of KUBECONFIG are merged, the first to name a thing winning; missing ones are passed over", async () => {
  const { folder, write } = await scratch();
  const first = await write(
    "first",
    "current-context: prod\nclusters: [{ name: local, cluster: { server: 'http://first' } }]",
  );
  const second = await write("second", KUBECONFIG);
  const env = { KUBECONFIG: [join(folder, "none"), first, second].join(":"), HOME: "/no/such/home" };
  await write("pki/ca.crt", "CA FILE");
  await write("token", "t");
  expect(await loadKubeConfig({ env })).toMatchObject({ context: "prod", server: "https://prod.example/prefix" });
  expect(await loadKubeConfig({ env, context: "dev" })).toMatchObject({ server: "http://first" });
});

test("without KUBECONFIG it is the one in the home folder", async () => {
  const { folder, write } = await scratch();
  await write(".kube/config", KUBECONFIG);
  expect(await loadKubeConfig({ env: { HOME: folder } })).toMatchObject({ context: "dev" });
  await expect(loadKubeConfig({ env: { HOME: join(folder, "none") } })).rejects.toThrow(
    "no configuration has been provided",
  );
});

test("in a cluster, address, token and CA come from the pod", async () => {
  const { folder, write } = await scratch();
  await write("token", "t\n");
  await write("ca.crt", "CA");
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  expect(await inClusterConfig({ env, serviceAccountPath: folder })).toEqual({
    server: "https://[fd00::1]:443",
    token: "t",
    tokenFile: join(folder, "token"),
    ca: "CA",
  });
});

test("in a cluster, an unreadable CA is only warned of, a missing token is not forgiven", async () => {
  const { folder, write } = await scratch();
  await write("token", "t");
  const warnings: string[] = [];
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const warn = (message: string): void => void warnings.push(message);
  expect((await inClusterConfig({ env, serviceAccountPath: folder, warn })).ca).toBeUndefined();
  expect(warnings[0]).toContain(`Expected to load root CA config from ${folder}/ca.crt, but got err: ENOENT`);
  await expect(inClusterConfig({ env, serviceAccountPath: join(folder, "none") })).rejects.toThrow("ENOENT");
});

test("flags are resolved as upstream does: kubeconfig, with or without master; master alone; in the cluster; nothing", async () => {
  const { folder, write } = await scratch();
  const kubeconfig = await write("config", KUBECONFIG);
  const warnings: string[] = [];
  const load = (flags: { kubeconfig?: string; master?: string }, env = {}): ReturnType<typeof loadClientConfig> =>
    loadClientConfig({
      kubeconfig: "",
      master: "",
      ...flags,
      env,
      serviceAccountPath: folder,
      warn: (message) => void warnings.push(message),
    });
  expect(await load({ kubeconfig })).toMatchObject({ server: "https://127.0.0.1:6443" });
  expect(await load({ kubeconfig, master: "https://m" })).toMatchObject({ server: "https://m", cert: "CERT" });
  expect(await load({ master: "http://m" })).toEqual({ server: "http://m" });
  expect(warnings).toEqual([]);

  await write("token", "t");
  await write("ca.crt", "CA");
  expect(await load({}, { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" })).toMatchObject({
    server: "https://10.0.0.1:443",
  });
  const specified =
    "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work.";
  expect(warnings.splice(0)).toEqual([specified]);

  await expect(load({})).rejects.toThrow(
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
  );
  expect(warnings).toEqual([
    specified,
    "error creating inClusterConfig, falling back to default config: unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined",
  ]);
});

test("files of a client certificate are read, and their paths returned for rereading; inline data has no path", async () => {
  const { folder, write } = await scratch();
  await write("me.crt", "CERT FILE");
  await write("me.key", "KEY FILE");
  const user = { "client-certificate": "me.crt", "client-key": "me.key" };
  const config = (entry: object): string =>
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1" } }],
      users: [{ name: "u", user: entry }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    });
  expect(await loadKubeConfig({ path: await write("config", config(user)) })).toMatchObject({
    cert: "CERT FILE",
    key: "KEY FILE",
    certFile: join(folder, "me.crt"),
    keyFile: join(folder, "me.key"),
  });
  const inline = { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") };
  const loaded = await loadKubeConfig({ path: await write("config", config(inline)) });
  expect([loaded.cert, loaded.key, loaded.certFile, loaded.keyFile]).toEqual(["CERT", "KEY", undefined, undefined]);
});
