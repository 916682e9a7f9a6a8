import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { Fields } from "./fields.js";
import { fileError } from "./file-error.js";

/** A cluster entry of a kubeconfig. Absent texts are `""`, as in client-go. */
export interface ClusterEntry {
  readonly server: string;
  readonly tlsServerName: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly certificateAuthority: string;
  readonly certificateAuthorityData: string;
  readonly proxyUrl: string;
  readonly disableCompression: boolean;
  /** The extension `client.authentication.k8s.io/exec`: the cluster configuration for credential plugins. */
  readonly execConfig: unknown;
}

/** A user entry of a kubeconfig. */
export interface UserEntry {
  readonly clientCertificate: string;
  readonly clientCertificateData: string;
  readonly clientKey: string;
  readonly clientKeyData: string;
  readonly token: string;
  readonly tokenFile: string;
  readonly as: string;
  readonly asUid: string;
  readonly asGroups: readonly string[];
  readonly asUserExtra: Readonly<Record<string, readonly string[]>>;
  readonly username: string;
  readonly password: string;
  readonly authProvider: { readonly name: string } | undefined;
  readonly exec: ExecEntry | undefined;
}

export interface ExecEntry {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: string;
}

export interface ContextEntry {
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string;
}

/** A kubeconfig, or several merged ones. Paths are absolute; the contents of `-data` fields are decoded. */
export interface KubeConfigFile {
  readonly currentContext: string;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
}

/**
 * Reads one file as strictly as client-go. A field of the wrong type is an error and never ignored: without the
 * intended user or authority, the client would use another identity or trust another server.
 *
 * @throws Error naming the file, with the problem in one line and the `code` of a file system error.
 * @see client-go tools/clientcmd/loader.go and tools/clientcmd/api/v1
 */
export async function readKubeConfigFile(path: string): Promise<KubeConfigFile> {
  try {
    const { parse } = await import("yaml");
    return decode(parse(await readFile(path, "utf8")), dirname(resolve(path)));
  } catch (error) {
    // Without `cause`, because code that prints causes would print the text twice.
    const explained = new Error(`error loading config file ${JSON.stringify(path)}: ${firstLine(error as Error)}`);
    throw Object.assign(explained, { code: (error as NodeJS.ErrnoException).code });
  }
}

/** Merges files. For each entry, the first file that has it wins. */
export function mergeKubeConfigFiles(files: readonly KubeConfigFile[]): KubeConfigFile {
  // A Map keeps the last of two entries with the same name.
  const merge = <T>(kind: (file: KubeConfigFile) => ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map(files.toReversed().flatMap((file) => [...kind(file)]));
  return {
    currentContext: files.find(({ currentContext }) => currentContext !== "")?.currentContext ?? "",
    contexts: merge(({ contexts }) => contexts),
    clusters: merge(({ clusters }) => clusters),
    users: merge(({ users }) => users),
  };
}

function decode(document: unknown, folder: string): KubeConfigFile {
  if (typeof document === "string" || Array.isArray(document))
    throw new Error("it is not a kubeconfig: no mapping at the top");
  const top = new Fields(document ?? {}, "");
  const kind = top.text("kind") || "Config";
  const version = top.text("apiVersion") || "v1";
  if (kind !== "Config" || version !== "v1")
    throw new Error(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`);
  return {
    currentContext: top.text("current-context"),
    contexts: namedEntries(top, "contexts", "context", contextEntry),
    clusters: namedEntries(top, "clusters", "cluster", (fields) => clusterEntry(fields, folder)),
    users: namedEntries(top, "users", "user", (fields) => userEntry(fields, folder)),
  };
}

function namedEntries<T>(
  top: Fields,
  list: string,
  member: string,
  entry: (fields: Fields) => T,
): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  for (const [index, item] of top.list(list).entries()) {
    const name = item.text("name");
    if (name === "") throw new Error(`${list}[${index}].name is missing`);
    if (entries.has(name)) throw new Error(`duplicate name ${JSON.stringify(name)} in list of ${list}`);
    entries.set(name, entry(item.fields(member, `${member} ${JSON.stringify(name)}: `)));
  }
  return entries;
}

function contextEntry(fields: Fields): ContextEntry {
  return { cluster: fields.text("cluster"), user: fields.text("user"), namespace: fields.text("namespace") };
}

const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

function clusterEntry(fields: Fields, folder: string): ClusterEntry {
  const extension = fields.list("extensions").find((item) => item.text("name") === EXEC_EXTENSION);
  return {
    server: fields.text("server"),
    tlsServerName: fields.text("tls-server-name"),
    insecureSkipTlsVerify: fields.flag("insecure-skip-tls-verify"),
    certificateAuthority: absolutePath(fields, "certificate-authority", folder),
    certificateAuthorityData: fields.base64("certificate-authority-data"),
    proxyUrl: fields.text("proxy-url"),
    disableCompression: fields.flag("disable-compression"),
    execConfig: extension?.any("extension"),
  };
}

function userEntry(fields: Fields, folder: string): UserEntry {
  return {
    clientCertificate: absolutePath(fields, "client-certificate", folder),
    clientCertificateData: fields.base64("client-certificate-data"),
    clientKey: absolutePath(fields, "client-key", folder),
    clientKeyData: fields.base64("client-key-data"),
    token: fields.text("token"),
    tokenFile: absolutePath(fields, "tokenFile", folder),
    as: fields.text("as"),
    asUid: fields.text("as-uid"),
    asGroups: fields.texts("as-groups"),
    asUserExtra: fields.textsByName("as-user-extra"),
    username: fields.text("username"),
    password: fields.text("password"),
    authProvider: fields.has("auth-provider") ? { name: fields.fields("auth-provider").text("name") } : undefined,
    exec: fields.has("exec") ? execEntry(fields.fields("exec"), folder) : undefined,
  };
}

function execEntry(fields: Fields, folder: string): ExecEntry {
  const command = fields.text("command");
  const apiVersion = fields.text("apiVersion");
  return {
    apiVersion,
    // A command without a slash is looked up in PATH.
    command: command.includes("/") ? resolve(folder, command) : command,
    args: fields.texts("args"),
    env: fields.list("env").map((item) => ({ name: item.text("name"), value: item.text("value") })),
    installHint: fields.text("installHint"),
    provideClusterInfo: fields.flag("provideClusterInfo"),
    interactiveMode:
      fields.text("interactiveMode") || (VERSIONS_WITH_OPTIONAL_MODE.has(apiVersion) ? "IfAvailable" : ""),
  };
}

/** Upstream: clientcmd/api/v1/defaults.go. */
const VERSIONS_WITH_OPTIONAL_MODE: ReadonlySet<string> = new Set([
  "client.authentication.k8s.io/v1alpha1",
  "client.authentication.k8s.io/v1beta1",
]);

function absolutePath(fields: Fields, name: string, folder: string): string {
  const text = fields.text(name);
  return text === "" ? "" : resolve(folder, text);
}

/**
 * Returns the first line of an error: YAML errors continue with an excerpt of the file, and Node's errors begin with a
 * code.
 */
function firstLine(error: Error): string {
  return fileError(error).split("\n", 1)[0]!.replace(/:$/, "");
}
