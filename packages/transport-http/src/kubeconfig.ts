import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";

import type { ConnectionOptions, ExecPlugin, Impersonation } from "./connection-options.js";
import { isLoopback } from "./environment-proxy.js";
import type { Environment } from "./environment.js";
import { fileError } from "./file-error.js";
import {
  type ClusterEntry,
  type ExecEntry,
  type KubeConfigFile,
  type UserEntry,
  mergeKubeConfigFiles,
  readKubeConfigFile,
} from "./kubeconfig-file.js";
import { chooseContext, validateChosenContext } from "./kubeconfig-validation.js";
import { serverUrl } from "./server-url.js";

export interface KubeConfigOptions {
  /** Default: the files of `KUBECONFIG`, or `$HOME/.kube/config`. Only an explicit path must exist. */
  readonly path?: string | undefined;
  /** Default: `current-context`. */
  readonly context?: string | undefined;
  /** Replaces the cluster's URL. The cluster's `tls-server-name` then does not apply. */
  readonly server?: string | undefined;
  readonly env?: Environment;
}

/** The connection of a kubeconfig context. */
export interface KubeConfigConnection extends ConnectionOptions {
  /** Name of the selected context. */
  readonly context: string;
  /** The context's namespace, if it has one. */
  readonly namespace?: string | undefined;
}

/**
 * Reads a kubeconfig and the files it names.
 *
 * As in client-go, credentials are sent only over https. Over http they are omitted, except to the local machine, where
 * `kubewright serve` listens. An impersonation is always sent: without it the client would have more permissions than
 * intended.
 *
 * @throws Error with upstream's text (client-go `tools/clientcmd`): for a file that is missing or invalid; for all
 * problems of the context, its cluster and its user together; and for an `auth-provider`, which credential plugins
 * replace.
 */
export async function loadKubeConfig({
  path,
  context,
  server,
  env = {},
}: KubeConfigOptions = {}): Promise<KubeConfigConnection> {
  const files = path ? [await readKubeConfigFile(path)] : await readDefaultFiles(env);
  const chosen = chooseContext(mergeKubeConfigFiles(files), context, server);
  const contents = await readFiles([
    chosen.cluster.certificateAuthority,
    chosen.user?.clientCertificate,
    chosen.user?.clientKey,
    chosen.user?.tokenFile,
  ]);
  validateChosenContext(chosen, (file) => {
    const content = contents.get(file);
    return content instanceof Error ? fileError(content) : undefined;
  });
  const { user } = chosen;
  if (user?.authProvider !== undefined) {
    const subject = `user ${JSON.stringify(chosen.context.user)}: auth-provider ${JSON.stringify(user.authProvider.name)}`;
    throw new Error(`${subject} is not supported, use an exec plugin`);
  }
  const clusterConnection = clusterOptions(chosen.cluster, contents);
  return {
    context: chosen.name,
    namespace: chosen.context.namespace || undefined,
    ...clusterConnection,
    ...(user !== undefined && isConfidential(clusterConnection) ? userOptions(user, chosen.cluster, contents) : {}),
    impersonate: user === undefined ? undefined : impersonation(user),
  };
}

async function readDefaultFiles(env: Environment): Promise<KubeConfigFile[]> {
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  const paths = listed.length > 0 ? [...new Set(listed)] : env.HOME ? [join(env.HOME, ".kube", "config")] : [];
  const files: KubeConfigFile[] = [];
  for (const path of paths) {
    const file = await readKubeConfigFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (file !== undefined) files.push(file);
  }
  return files;
}

/** The contents of files, or the errors of reading them. */
type FileContents = ReadonlyMap<string, string | Error>;

async function readFiles(paths: readonly (string | undefined)[]): Promise<FileContents> {
  const read = async (path: string): Promise<[string, string | Error]> => [
    path,
    await readFile(path, "utf8").catch((error: Error) => error),
  ];
  const named = paths.filter((path): path is string => path !== undefined && path !== "");
  return new Map(await Promise.all(named.map(read)));
}

/** Upstream: `restclient.IsConfigTransportTLS`. */
function isConfidential(options: ConnectionOptions): boolean {
  const url = serverUrl(options);
  return url.protocol === "https:" || isLoopback(url);
}

function clusterOptions(cluster: ClusterEntry, contents: FileContents): ConnectionOptions {
  return {
    server: cluster.server.replace(/\/$/, ""),
    ca: dataOrFile(cluster.certificateAuthorityData, cluster.certificateAuthority, contents),
    serverName: cluster.tlsServerName || undefined,
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
    proxyUrl: cluster.proxyUrl || undefined,
  };
}

function userOptions(
  user: UserEntry,
  cluster: ClusterEntry,
  contents: FileContents,
): Omit<ConnectionOptions, "server" | "impersonate"> {
  const { clientCertificate, clientCertificateData, clientKey, clientKeyData, tokenFile, exec } = user;
  // Upstream ignores a key without a certificate.
  const hasCertificate = clientCertificate !== "" || clientCertificateData !== "";
  return {
    ...(hasCertificate
      ? {
          cert: dataOrFile(clientCertificateData, clientCertificate, contents),
          key: dataOrFile(clientKeyData, clientKey, contents),
          certFile: clientCertificate || undefined,
          keyFile: clientKey || undefined,
        }
      : {}),
    token: user.token || (tokenFile === "" ? undefined : firstToken(tokenFile, contents)),
    tokenFile: tokenFile || undefined,
    username: user.username || undefined,
    password: user.password || undefined,
    exec: exec === undefined ? undefined : execPlugin(exec, cluster),
  };
}

/** Only one of the two is given; validation has rejected both. */
function dataOrFile(data: string, file: string, contents: FileContents): string | undefined {
  if (data !== "") return data;
  return file === "" ? undefined : (contents.get(file) as string);
}

function firstToken(file: string, contents: FileContents): string {
  const content = contents.get(file);
  if (content instanceof Error) throw new Error(`open ${file}: ${fileError(content)}`);
  const token = (content ?? "").trim();
  if (token === "") throw new Error(`read empty token from file ${JSON.stringify(file)}`);
  return token;
}

function execPlugin({ installHint, ...exec }: ExecEntry, { execConfig }: ClusterEntry): ExecPlugin {
  return {
    ...exec,
    interactiveMode: exec.interactiveMode as ExecPlugin["interactiveMode"],
    installHint: installHint || undefined,
    clusterConfig: execConfig,
  };
}

function impersonation({ as: user, asUid, asGroups, asUserExtra }: UserEntry): Impersonation | undefined {
  if (user === "") return undefined;
  return {
    user,
    uid: asUid || undefined,
    groups: asGroups.length === 0 ? undefined : asGroups,
    extra: Object.keys(asUserExtra).length === 0 ? undefined : asUserExtra,
  };
}
