import { readFile } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";

import type { Cluster, Context, User } from "@kubernetes/client-node/dist/config_types.js";

import type { ConnectionOptions, ExecPlugin, Impersonation } from "./connection-options.js";
import type { Environment } from "./environment.js";

export interface KubeConfigOptions {
  /** Default: the files of `KUBECONFIG`, or `$HOME/.kube/config`. Only an explicit path has to exist. */
  readonly path?: string | undefined;
  /** Default: `current-context`. */
  readonly context?: string | undefined;
  /** Replaces the cluster's URL. */
  readonly server?: string | undefined;
  readonly env?: Environment;
}

/** A connection as a kubeconfig describes it. */
export interface KubeConfigConnection extends ConnectionOptions {
  /** Name of the context that was used. */
  readonly context: string;
  /** The context's namespace, if it has one. */
  readonly namespace?: string | undefined;
}

/**
 * Reads a kubeconfig and the files it names.
 *
 * Entries are parsed by @kubernetes/client-node, but not by its `KubeConfig` class: that imports every generated API
 * class, about 85 MiB of memory, where the parser alone costs nothing to speak of.
 *
 * @throws Error with upstream's text (client-go `tools/clientcmd`) for a file that is missing or not understood, a
 *   context, cluster or user that is not there, certificates that cannot be read, or an `auth-provider`, which we leave
 *   to credential plugins.
 */
export async function loadKubeConfig({
  path,
  context,
  server,
  env = {},
}: KubeConfigOptions = {}): Promise<KubeConfigConnection> {
  const files = path ? [await readConfig(path)] : await readDefaults(env);
  const merged: KubeConfigFile = {
    currentContext: files.find(({ currentContext }) => currentContext)?.currentContext,
    contexts: files.flatMap(({ contexts }) => contexts),
    clusters: files.flatMap(({ clusters }) => clusters),
    users: files.flatMap(({ users }) => users),
  };
  return resolve(merged, context, server);
}

interface KubeConfigFile {
  readonly currentContext: string | undefined;
  readonly contexts: readonly Context[];
  readonly clusters: readonly Located<Cluster>[];
  readonly users: readonly Located<User>[];
}

/** An entry with what client-node leaves out of it, and the folder its relative paths start from. */
type Located<T> = T & { readonly raw: Record<string, unknown>; readonly folder: string };

const NO_CONFIGURATION = "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

async function readDefaults(env: Environment): Promise<KubeConfigFile[]> {
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  const paths = listed.length > 0 ? listed : env.HOME ? [join(env.HOME, ".kube", "config")] : [];
  const files: KubeConfigFile[] = [];
  for (const path of paths) {
    const file = await readConfig(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (file !== undefined) files.push(file);
  }
  return files;
}

async function readConfig(path: string): Promise<KubeConfigFile> {
  try {
    const { newClusters, newContexts, newUsers } = await import("@kubernetes/client-node/dist/config_types.js");
    const { parse } = await import("yaml");
    const value = (parse(await readFile(path, "utf8")) ?? {}) as Record<string, unknown>;
    if (typeof value !== "object" || Array.isArray(value))
      throw new Error("it is not a kubeconfig: no mapping at the top");
    const locate = <T>(entries: T[], list: unknown, member: string): Located<T>[] =>
      entries.map((entry, index) => ({
        ...entry,
        raw: (list as Record<string, Record<string, unknown>>[])[index]?.[member] ?? {},
        folder: dirname(path),
      }));
    return {
      currentContext: text(value["current-context"]),
      contexts: newContexts(value.contexts),
      clusters: locate(newClusters(value.clusters), value.clusters, "cluster"),
      users: locate(newUsers(value.users), value.users, "user"),
    };
  } catch (error) {
    // Not as the cause: whoever prints causes would print it all again.
    const explained = new Error(`error loading config file ${JSON.stringify(path)}: ${firstLine(error as Error)}`);
    throw Object.assign(explained, { code: (error as NodeJS.ErrnoException).code });
  }
}

/** One line for a person: YAML errors go on with a picture of the place, and Node's begin with a code. */
function firstLine(error: Error): string {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return "no such file or directory";
  return error.message.split("\n", 1)[0]!.replace(/:$/, "");
}

async function resolve(
  { currentContext, contexts, clusters, users }: KubeConfigFile,
  wanted: string | undefined,
  server: string | undefined,
): Promise<KubeConfigConnection> {
  const name = wanted || currentContext;
  if (!name) {
    const empty = contexts.length + clusters.length + users.length === 0;
    throw new Error(
      `invalid configuration: ${empty ? NO_CONFIGURATION : "no context chosen: it has no current-context"}`,
    );
  }
  const context = contexts.find((entry) => entry.name === name);
  if (context === undefined)
    throw new Error(`invalid configuration: context was not found for specified context: ${name}`);
  const cluster = clusters.find((entry) => entry.name === context.cluster);
  const user = users.find((entry) => entry.name === context.user);
  if (cluster === undefined) throw missing("cluster", context.cluster, name);
  if (user === undefined && context.user) throw missing("user", context.user, name);
  return {
    context: name,
    namespace: context.namespace,
    ...(await clusterOptions(cluster)),
    ...(user === undefined ? {} : await userOptions(user)),
    ...(server ? { server } : {}),
  };
}

function missing(what: string, name: string, context: string): Error {
  return new Error(
    `invalid configuration: ${what} ${JSON.stringify(name)} was not found for context ${JSON.stringify(context)}`,
  );
}

async function clusterOptions(cluster: Located<Cluster>): Promise<ConnectionOptions> {
  return {
    server: cluster.server,
    ca: await pem(cluster, "certificate-authority", cluster.caData, cluster.caFile),
    serverName: cluster.tlsServerName,
    insecureSkipTlsVerify: cluster.skipTLSVerify,
    proxyUrl: cluster.proxyUrl,
  };
}

async function userOptions(user: Located<User>): Promise<Omit<ConnectionOptions, "server">> {
  const { raw, folder } = user;
  if (user.authProvider) {
    const { name } = user.authProvider as { name?: string };
    throw new Error(
      `user ${JSON.stringify(user.name)}: auth-provider ${JSON.stringify(name)} is not supported, use an exec plugin`,
    );
  }
  const tokenFile = text(raw.tokenFile);
  return {
    cert: await pem(user, "client-cert", user.certData, user.certFile),
    key: await pem(user, "client-key", user.keyData, user.keyFile),
    certFile: watchedFile(user, user.certData, user.certFile),
    keyFile: watchedFile(user, user.keyData, user.keyFile),
    token: user.token || undefined,
    tokenFile: tokenFile === undefined ? undefined : absolute(folder, tokenFile),
    username: user.username || undefined,
    password: user.password || undefined,
    exec: user.exec ? execPlugin(user.exec as ExecPlugin, folder) : undefined,
    impersonate: impersonation(raw),
  };
}

/** A command with a slash in it is relative to the kubeconfig; one without is looked up in the path. */
function execPlugin(exec: ExecPlugin, folder: string): ExecPlugin {
  const { apiVersion, command, args, env } = exec;
  return {
    apiVersion,
    command: command.includes("/") ? absolute(folder, command) : command,
    args: args ?? [],
    env: env ?? [],
  };
}

function impersonation(raw: Record<string, unknown>): Impersonation | undefined {
  const user = text(raw.as);
  if (user === undefined) return undefined;
  return {
    user,
    uid: text(raw["as-uid"]),
    groups: raw["as-groups"] as string[] | undefined,
    extra: raw["as-user-extra"] as Record<string, string[]> | undefined,
  };
}

/** Inline data wins over a file. */
async function pem(
  entry: Located<{ name: string }>,
  what: string,
  data: string | undefined,
  file: string | undefined,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, "base64").toString("utf8");
  if (!file) return undefined;
  const path = absolute(entry.folder, file);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new Error(
      `invalid configuration: unable to read ${what} ${path} for ${entry.name} due to ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

function watchedFile(
  { folder }: Located<User>,
  data: string | undefined,
  file: string | undefined,
): string | undefined {
  return data || !file ? undefined : absolute(folder, file);
}

function absolute(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
