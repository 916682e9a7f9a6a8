import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { beforeAll, expect, onTestFinished, test } from "vitest";

import { type KubeConfigConnection, type KubeConfigOptions, loadKubeConfig } from "./kubeconfig.js";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const V1 = "client.authentication.k8s.io/v1";
const V1BETA1 = "client.authentication.k8s.io/v1beta1";

// The library is loaded on demand, with the first file.
beforeAll(() => import("yaml"));

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly top?: object;
}

/** Loads a kubeconfig that is valid except for the given parts. */
async function load(
  { cluster, user, context, top }: Parts,
  options: Omit<KubeConfigOptions, "path"> = {},
): Promise<KubeConfigConnection & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "kubewright-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "config");
  await writeFile(join(folder, "there"), "CONTENT");
  await writeFile(join(folder, "empty"), "\n");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1", ...cluster } }],
    users: [{ name: "u", user: { ...user } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", ...context } }],
    "current-context": "x",
    ...top,
  };
  await writeFile(path, JSON.stringify(config));
  const loaded = await loadKubeConfig({ path, ...options }).catch((error: Error) => {
    throw new Error(error.message.replaceAll(folder, ""));
  });
  return { ...loaded, folder };
}

/** Returns the error message of a kubeconfig, with paths relative to its folder. */
function refusal(parts: Parts, options?: Omit<KubeConfigOptions, "path">): Promise<string> {
  return load(parts, options).then(
    () => "not refused",
    ({ message }: Error) => message,
  );
}

const MORE = "requesting uid, groups or user-extra for u without impersonating a user";
const exec = { apiVersion: V1, command: "login", interactiveMode: "Never" };
const forExec = "for u to use exec authentication plugin";

test.each<[string, Parts, string]>([
  ["groups without a user", { user: { "as-groups": ["a"] } }, MORE],
  ["a UID without a user", { user: { "as-uid": "7" } }, MORE],
  ["extra without a user", { user: { "as-user-extra": { scopes: ["x"] } } }, MORE],
  ["groups for a user that is empty", { user: { as: "", "as-groups": ["a"] } }, MORE],
  [
    "a plugin without interactiveMode",
    { user: { exec: { ...exec, interactiveMode: "" } } },
    `interactiveMode must be specified ${forExec}`,
  ],
  [
    "a plugin with an unknown interactiveMode",
    { user: { exec: { ...exec, interactiveMode: "never" } } },
    'invalid interactiveMode for u: "never"',
  ],
  [
    "a plugin without a command",
    { user: { exec: { ...exec, command: undefined } } },
    `command must be specified ${forExec}`,
  ],
  [
    "a plugin without a version",
    { user: { exec: { ...exec, apiVersion: undefined } } },
    `apiVersion must be specified ${forExec}`,
  ],
  [
    "a variable without a name",
    { user: { exec: { ...exec, env: [{ value: "x" }] } } },
    `env variable name must be specified ${forExec}`,
  ],
  [
    "two plugins",
    { user: { exec, "auth-provider": { name: "gcp" } } },
    "authProvider cannot be provided in combination with an exec plugin for u",
  ],
  [
    "a token and a password",
    { user: { token: "t", password: "p" } },
    "more than one authentication method found for u; found [token basicAuth], only one is allowed",
  ],
  [
    "a certificate without a key",
    { user: { "client-certificate-data": base64("C") } },
    "client-key-data or client-key must be specified for u to use the clientCert authentication method.",
  ],
  [
    "a certificate twice",
    { user: { "client-certificate": "there", "client-certificate-data": base64("C"), "client-key": "there" } },
    "client-cert-data and client-cert are both specified for u. client-cert-data will override.",
  ],
  [
    "a key twice",
    { user: { "client-certificate": "there", "client-key": "there", "client-key-data": base64("K") } },
    "client-key-data and client-key are both specified for u; client-key-data will override",
  ],
  [
    "a certificate that is not there",
    { user: { "client-certificate": "gone", "client-key": "there" } },
    "unable to read client-cert /gone for u due to open /gone: no such file or directory",
  ],
  [
    "a key that is not there",
    { user: { "client-certificate": "there", "client-key": "gone" } },
    "unable to read client-key /gone for u due to open /gone: no such file or directory",
  ],
  [
    "an authority that is not there",
    { cluster: { "certificate-authority": "gone" } },
    "unable to read certificate-authority /gone for c due to open /gone: no such file or directory",
  ],
  [
    "an authority twice",
    { cluster: { "certificate-authority": "there", "certificate-authority-data": base64("A") } },
    "certificate-authority-data and certificate-authority are both specified for c. certificate-authority-data will override.",
  ],
  [
    "a proxy of another kind",
    { cluster: { "proxy-url": "ftp://p" } },
    `invalid 'proxy-url' "ftp://p" for cluster "c": unsupported scheme "ftp", must be http, https, or socks5`,
  ],
  [
    "a proxy without a scheme",
    { cluster: { "proxy-url": "p.example" } },
    `invalid 'proxy-url' "p.example" for cluster "c": unsupported scheme "", must be http, https, or socks5`,
  ],
  [
    "a proxy that is no URL",
    { cluster: { "proxy-url": "http://[" } },
    `invalid 'proxy-url' "http://[" for cluster "c": could not parse: http://[`,
  ],
  [
    "a cluster without a server",
    { cluster: { server: "", "tls-server-name": "n" } },
    'no server found for cluster "c"',
  ],
  ["a cluster with nothing", { cluster: { server: "" } }, "cluster has no server defined"],
  ["a user that is not there", { context: { user: "ghost" } }, 'user "ghost" was not found for context "x"'],
  [
    "a cluster that is not there",
    { context: { cluster: "nowhere" } },
    'cluster "nowhere" was not found for context "x"',
  ],
  ["no cluster", { context: { cluster: "" } }, 'cluster was not specified for context "x"'],
  [
    "a namespace that cannot be one",
    { context: { namespace: "../kube-system" } },
    'namespace "../kube-system" for context "x" does not conform to the kubernetes DNS_LABEL rules',
  ],
  [
    "a current context that is not there",
    { top: { "current-context": "gone" } },
    "context was not found for specified context: gone",
  ],
  ["no current context", { top: { "current-context": "" } }, "no context chosen: it has no current-context"],
])("%s: refused in upstream's words", async (_, parts, message) => {
  expect(await refusal(parts)).toBe(`invalid configuration: ${message}`);
});

test("everything that is wrong is said at once, and nothing twice", async () => {
  const user = { "as-uid": "7", exec: { env: [{}, {}] }, token: "t", username: "jo" };
  expect(await refusal({ user, cluster: { server: "", "proxy-url": "x" } })).toBe(
    `invalid configuration: [${[
      `command must be specified ${forExec}`,
      `apiVersion must be specified ${forExec}`,
      `env variable name must be specified ${forExec}`,
      `interactiveMode must be specified ${forExec}`,
      "more than one authentication method found for u; found [token basicAuth], only one is allowed",
      MORE,
      'no server found for cluster "c"',
      `invalid 'proxy-url' "x" for cluster "c": unsupported scheme "", must be http, https, or socks5`,
    ].join(", ")}]`,
  );
  expect(await refusal({ context: { user: "ghost", cluster: "nowhere" } })).toBe(
    'invalid configuration: [user "ghost" was not found for context "x", cluster "nowhere" was not found for context "x"]',
  );
});

test.each<[string, Parts, string]>([
  ["a user to be that is no text", { user: { as: 5 } }, 'user "u": as must be a string, not a number'],
  [
    "groups that are no list",
    { user: { as: "jo", "as-groups": "a" } },
    'user "u": as-groups must be a list, not a string',
  ],
  [
    "a group that is no text",
    { user: { as: "jo", "as-groups": ["a", 1] } },
    'user "u": as-groups[1] must be a string, not a number',
  ],
  [
    "extra that is no list",
    { user: { as: "jo", "as-user-extra": { a: "x" } } },
    'user "u": as-user-extra.a must be a list, not a string',
  ],
  [
    "verification switched by a text",
    { cluster: { "insecure-skip-tls-verify": "false" } },
    'cluster "c": insecure-skip-tls-verify must be a boolean, not a string',
  ],
  [
    "an authority that is not base64",
    { cluster: { "certificate-authority-data": "-----BEGIN" } },
    'cluster "c": certificate-authority-data: illegal base64 data at input byte 0',
  ],
  [
    "an authority that was cut off",
    { cluster: { "certificate-authority-data": "QUFBQ" } },
    'cluster "c": certificate-authority-data: illegal base64 data at input byte 5',
  ],
  ["a token that is no text", { user: { token: 12345 } }, 'user "u": token must be a string, not a number'],
  [
    "arguments that are no list",
    { user: { exec: { ...exec, args: "x" } } },
    'user "u": exec.args must be a list, not a string',
  ],
  [
    "a user that is no mapping",
    { top: { users: [{ name: "u", user: "jo" }] } },
    'user "u" must be a mapping, not a string',
  ],
  ["users that are no list", { top: { users: { u: {} } } }, "users must be a list, not a mapping"],
  ["two users of one name", { top: { users: [{ name: "u" }, { name: "u" }] } }, 'duplicate name "u" in list of users'],
  ["another kind of file", { top: { kind: "Secret" } }, 'no kind "Secret" is registered for version "v1"'],
])("%s: never passed over", async (_, parts, message) => {
  expect(await refusal(parts)).toBe(`error loading config file "/config": ${message}`);
});

test("a token's file is read at once, and has to hold one", async () => {
  expect(await load({ user: { tokenFile: "there", token: "old" } })).toMatchObject({ token: "old" });
  expect(await load({ user: { tokenFile: "there" } })).toMatchObject({ token: "CONTENT" });
  expect(await refusal({ user: { tokenFile: "gone" } })).toBe("open /gone: no such file or directory");
  expect(await refusal({ user: { tokenFile: "empty" } })).toBe('read empty token from file "/empty"');
});

test("what is only wrong in another context does not matter", async () => {
  const { context } = await load({
    top: {
      users: [{ name: "u" }, { name: "v", user: { "as-uid": "7" } }],
      clusters: [
        { name: "c", cluster: { server: "https://127.0.0.1" } },
        { name: "d", cluster: {} },
      ],
    },
  });
  expect(context).toBe("x");
});

test("a context without a user is anonymous, and null is the same as nothing", async () => {
  expect(await load({ context: { user: "" }, user: { token: "t" } })).not.toHaveProperty("token");
  expect((await load({ user: { token: null, exec: null, "as-groups": null } })).token).toBeUndefined();
});

test("credentials are left out over http, but for this machine; an impersonation never is", async () => {
  const user = { token: "t", as: "jo", "as-groups": ["a"] };
  const remote = await load({ cluster: { server: "http://10.0.0.1:8080" }, user });
  expect([remote.token, remote.impersonate]).toEqual([undefined, { user: "jo", groups: ["a"] }]);
  for (const server of ["http://127.0.0.1:8001", "http://localhost:8001", "http://[::1]:8001", "https://10.0.0.1"])
    expect(await load({ cluster: { server }, user })).toMatchObject({ token: "t", impersonate: { user: "jo" } });
});

test("another server than the cluster's is not known by the cluster's name", async () => {
  const cluster = { "tls-server-name": "kubernetes" };
  expect((await load({ cluster })).serverName).toBe("kubernetes");
  expect((await load({ cluster }, { server: "https://other" })).serverName).toBeUndefined();
});

test("a plugin with a relative path is not looked up in PATH, and gets the cluster if it requests it", async () => {
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "a" } }];
  const plugin = { apiVersion: V1BETA1, command: "./login", installHint: "get it", provideClusterInfo: true };
  const { exec, folder } = await load({ cluster: { extensions }, user: { exec: plugin } });
  expect(exec).toEqual({
    ...plugin,
    command: join(folder, "login"),
    args: [],
    env: [],
    interactiveMode: "IfAvailable",
    clusterConfig: { audience: "a" },
  });
});
