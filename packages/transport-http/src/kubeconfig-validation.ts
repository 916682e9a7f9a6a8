import type { ClusterEntry, ContextEntry, ExecEntry, KubeConfigFile, UserEntry } from "./kubeconfig-file.js";

/** Returns the reason why a file cannot be read; `undefined` if it can. */
export type ReadErrorOf = (path: string) => string | undefined;

/** A context with its cluster and user. Without a user the connection is anonymous. */
export interface ChosenContext {
  readonly name: string;
  readonly context: ContextEntry;
  readonly cluster: ClusterEntry;
  readonly user: UserEntry | undefined;
}

const NO_CONFIGURATION = "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

/**
 * Returns the context to use.
 *
 * Stricter than `DirectClientConfig`, which ignores references of a context to missing entries. The client would then
 * be anonymous, or trust every authority. A context that names no user is anonymous, as for kubectl.
 *
 * @param requestedName - The context's name. Default: `current-context`.
 * @param server - Replaces the cluster's server, which is then optional. The cluster's `tls-server-name` does not apply
 * to it.
 * @throws Error with the messages of client-go's tools/clientcmd.
 */
export function chooseContext(
  config: KubeConfigFile,
  requestedName: string | undefined,
  server: string | undefined,
): ChosenContext {
  const { contexts, clusters, users, currentContext } = config;
  if (requestedName && !contexts.has(requestedName))
    throw new Error(`context ${JSON.stringify(requestedName)} does not exist`);
  const name = requestedName || currentContext;
  if (name === "") {
    const isEmpty = contexts.size + clusters.size + users.size === 0;
    throw invalid([isEmpty ? NO_CONFIGURATION : "no context chosen: it has no current-context"]);
  }
  const context = contexts.get(name);
  if (context === undefined) throw invalid([`context was not found for specified context: ${name}`]);
  const cluster = clusters.get(context.cluster);
  const user = users.get(context.user);
  const errors = contextErrors(name, context, { cluster, user });
  if (cluster === undefined || errors.length > 0) throw invalid(errors);
  return { name, context, cluster: server ? { ...cluster, server, tlsServerName: "" } : cluster, user };
}

/** @throws Error with all problems of a context's cluster and user. */
export function validateChosenContext({ context, cluster, user }: ChosenContext, readErrorOf: ReadErrorOf): void {
  const errors = [
    ...(user === undefined ? [] : userErrors(context.user, user, readErrorOf)),
    ...clusterErrors(context.cluster, cluster, readErrorOf),
  ];
  if (errors.length > 0) throw invalid(errors);
}

/** Upstream: apimachinery util/errors. */
function invalid(errors: readonly string[]): Error {
  const distinct = [...new Set(errors)];
  return new Error(`invalid configuration: ${distinct.length === 1 ? distinct[0] : `[${distinct.join(", ")}]`}`);
}

/** Upstream: validateContext. */
function contextErrors(
  name: string,
  { cluster, user, namespace }: ContextEntry,
  found: { readonly cluster: ClusterEntry | undefined; readonly user: UserEntry | undefined },
): string[] {
  const errors: string[] = [];
  const context = JSON.stringify(name);
  if (user !== "" && found.user === undefined)
    errors.push(`user ${JSON.stringify(user)} was not found for context ${context}`);
  if (cluster === "") errors.push(`cluster was not specified for context ${context}`);
  else if (found.cluster === undefined)
    errors.push(`cluster ${JSON.stringify(cluster)} was not found for context ${context}`);
  if (namespace !== "" && !/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
    errors.push(
      `namespace ${JSON.stringify(namespace)} for context ${context} does not conform to the kubernetes DNS_LABEL rules`,
    );
  return errors;
}

/** Upstream: validateClusterInfo. */
function clusterErrors(name: string, cluster: ClusterEntry, readErrorOf: ReadErrorOf): string[] {
  const { server, proxyUrl, certificateAuthority: file, certificateAuthorityData: data } = cluster;
  if (Object.values(cluster).every((value) => !value)) return ["cluster has no server defined"];
  const errors: string[] = [];
  if (server === "") errors.push(`no server found for cluster ${JSON.stringify(name)}`);
  const proxy = proxyUrl === "" ? undefined : proxyError(proxyUrl);
  if (proxy !== undefined)
    errors.push(`invalid 'proxy-url' ${JSON.stringify(proxyUrl)} for cluster ${JSON.stringify(name)}: ${proxy}`);
  if (file !== "" && data !== "")
    errors.push(
      `certificate-authority-data and certificate-authority are both specified for ${name}. certificate-authority-data will override.`,
    );
  return [...errors, ...fileErrors("certificate-authority", file, name, readErrorOf)];
}

function proxyError(proxyUrl: string): string | undefined {
  const scheme = /^([a-z][-+.a-z0-9]*):/i.exec(proxyUrl)?.[1]?.toLowerCase() ?? "";
  if (!["http", "https", "socks5"].includes(scheme))
    return `unsupported scheme ${JSON.stringify(scheme)}, must be http, https, or socks5`;
  return URL.canParse(proxyUrl) && new URL(proxyUrl).hostname !== "" ? undefined : `could not parse: ${proxyUrl}`;
}

/** Upstream: validateAuthInfo. */
function userErrors(name: string, user: UserEntry, readErrorOf: ReadErrorOf): string[] {
  const { clientCertificate, clientCertificateData, clientKey, clientKeyData, exec } = user;
  const errors: string[] = [];
  if (clientCertificate !== "" || clientCertificateData !== "") {
    if (clientCertificate !== "" && clientCertificateData !== "")
      errors.push(`client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`);
    if (clientKey !== "" && clientKeyData !== "")
      errors.push(`client-key-data and client-key are both specified for ${name}; client-key-data will override`);
    if (clientKey === "" && clientKeyData === "")
      errors.push(
        `client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`,
      );
    errors.push(...fileErrors("client-cert", clientCertificate, name, readErrorOf));
    errors.push(...fileErrors("client-key", clientKey, name, readErrorOf));
  }
  if (exec !== undefined) {
    if (user.authProvider !== undefined)
      errors.push(`authProvider cannot be provided in combination with an exec plugin for ${name}`);
    errors.push(...execErrors(name, exec));
  }
  if (user.token !== "" && (user.username !== "" || user.password !== ""))
    errors.push(`more than one authentication method found for ${name}; found [token basicAuth], only one is allowed`);
  const hasImpersonationDetails =
    user.asUid !== "" || user.asGroups.length > 0 || Object.keys(user.asUserExtra).length > 0;
  if (hasImpersonationDetails && user.as === "")
    errors.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`);
  return errors;
}

function execErrors(name: string, { command, apiVersion, env, interactiveMode: mode }: ExecEntry): string[] {
  const errors: string[] = [];
  const missing = (what: string): void =>
    void errors.push(`${what} must be specified for ${name} to use exec authentication plugin`);
  if (command === "") missing("command");
  if (apiVersion === "") missing("apiVersion");
  if (env.some((variable) => variable.name === "")) missing("env variable name");
  if (mode === "") missing("interactiveMode");
  else if (!["Never", "IfAvailable", "Always"].includes(mode))
    errors.push(`invalid interactiveMode for ${name}: ${JSON.stringify(mode)}`);
  return errors;
}

function fileErrors(what: string, path: string, name: string, readErrorOf: ReadErrorOf): string[] {
  const reason = path === "" ? undefined : readErrorOf(path);
  return reason === undefined ? [] : [`unable to read ${what} ${path} for ${name} due to open ${path}: ${reason}`];
}
