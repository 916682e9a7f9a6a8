import { Client, errorMessage, isForbidden } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import {
  type ConnectionOptions,
  type Environment,
  createHttpTransport,
  inClusterConfig,
  loadClientConfig,
} from "@kubewright/transport-http";

import type { ManagerMetrics } from "../metrics/manager-metrics.js";
import type { AuthenticationOptions, AuthorizationOptions } from "../options/delegated-auth-options.js";
import { type ClientAuthorities, RequestAuthenticator } from "./authenticator.js";
import { RequestAuthorizer } from "./authorizer.js";
import { lowerCased, readClusterAuthorities } from "./cluster-authorities.js";
import type { ReloadSource } from "./poll-for-changes.js";
import { ReviewClient } from "./review-client.js";
import type { ServingIo } from "./serving-io.js";
import { TokenAuthenticator } from "./token-authenticator.js";

export interface DelegatedAccessDeps {
  readonly options: AuthenticationOptions & AuthorizationOptions;
  readonly io: Pick<ServingIo, "readFile" | "hash">;
  readonly env: Environment;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Pick<ManagerMetrics, "serving" | "common"> | undefined;
}

/** Authentication and authorization that are delegated to the API server. */
export interface DelegatedAccess {
  readonly authenticator: RequestAuthenticator;
  readonly authorizer: RequestAuthorizer;
  /** Current authorities of client certificates, in PEM. */
  readonly authorities: () => readonly string[];
  /** Files and objects whose changes affect the above. `onChange` is called after each change. */
  readonly reloadSources: (onChange: () => void) => readonly ReloadSource[];
  readonly close: () => Promise<void>;
}

/**
 * Limits of the clients for reviews. They must not wait for requests of controllers, and a caller must not wait without
 * limit.
 */
const REVIEW_CLIENT = { rateLimit: { qps: 200, burst: 400 }, timeoutMs: 10_000 };
const FILE_INTERVAL_MS = 10_000;
const CONFIG_MAP_INTERVAL_MS = 60_000;
const CONFIG_MAP = "configmap/extension-apiserver-authentication in kube-system";

/** Whether client certificates may authenticate: the server requests them only then. */
export async function acceptsClientCertificates({
  options,
  env,
}: Pick<DelegatedAccessDeps, "options" | "env">): Promise<boolean> {
  if (options.clientCaFile !== "" || options.requestheaderClientCaFile !== "") return true;
  return (
    !options.authenticationSkipLookup && (await connectionFor(options.authenticationKubeconfig, env)) !== undefined
  );
}

/**
 * Sets up delegated authentication and authorization. May send requests to the API server.
 *
 * @throws Error when a file cannot be read, or the cluster's authorities cannot be read and that is not tolerated.
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/server/options/authentication.go ApplyTo
 */
export async function delegatedAccess(deps: DelegatedAccessDeps): Promise<DelegatedAccess> {
  const { options, io, clock, random, logger, metrics } = deps;
  const closing: (() => Promise<void>)[] = [];
  const clientFor = async (kubeconfig: string): Promise<Client | undefined> => {
    const connection = await connectionFor(kubeconfig, deps.env);
    if (connection === undefined) return undefined;
    const { transport, close } = createHttpTransport({
      ...connection,
      clock,
      warn: (message) => logger.warn({}, message),
    });
    closing.push(close);
    const measured = metrics?.common.restClient(new URL(connection.server).host);
    return new Client({ transport, clock, userAgent: deps.userAgent, metrics: measured, ...REVIEW_CLIENT });
  };
  const authenticating = await clientFor(options.authenticationKubeconfig);
  const authorizing = await clientFor(options.authorizationKubeconfig);
  const reviewsBy = (client: Client | undefined, name: string): ReviewClient | undefined =>
    client && new ReviewClient({ client, clock, random: random.fork(name), metrics: metrics?.serving });

  const files = await authoritiesInFiles(options, io);
  let cluster: ClientAuthorities = { clientCA: undefined, requestHeader: undefined };
  const needsClusterAuthorities =
    !options.authenticationSkipLookup && (options.clientCaFile === "" || options.requestheaderClientCaFile === "");
  const pollsClusterAuthorities = needsClusterAuthorities && authenticating !== undefined;
  if (pollsClusterAuthorities) cluster = await lookUp(authenticating, options, logger);
  else if (needsClusterAuthorities) warnAboutMissingClient(options, logger);
  if (authorizing === undefined)
    logger.warn({}, "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work.");

  const authorities = (): ClientAuthorities => ({
    clientCA: files.clientCA ?? cluster.clientCA,
    requestHeader: files.requestHeader ?? cluster.requestHeader,
  });
  const tokenReviews = reviewsBy(authenticating, "token reviews");
  return {
    authenticator: new RequestAuthenticator({
      authorities,
      tokens:
        tokenReviews &&
        new TokenAuthenticator({
          reviews: tokenReviews,
          clock,
          cacheTtlMs: options.authenticationTokenWebhookCacheTtlMs,
          hash: io.hash,
        }),
      clock,
      metrics: metrics?.serving,
    }),
    authorizer: new RequestAuthorizer({
      alwaysAllowPaths: options.authorizationAlwaysAllowPaths,
      reviews: reviewsBy(authorizing, "access reviews"),
      clock,
      authorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtlMs,
      unauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtlMs,
      metrics: metrics?.serving,
    }),
    authorities: () => {
      const { clientCA, requestHeader } = authorities();
      return [clientCA, requestHeader?.authorities].filter((pem) => pem !== undefined);
    },
    reloadSources: (onChange) => [
      ...files.reloadSources(onChange),
      ...(pollsClusterAuthorities
        ? [
            {
              name: CONFIG_MAP,
              read: async () => JSON.stringify(await readClusterAuthorities(authenticating)),
              initial: JSON.stringify(cluster),
              intervalMs: CONFIG_MAP_INTERVAL_MS,
              apply: (text: string) => {
                const before = cluster;
                cluster = JSON.parse(text) as ClientAuthorities;
                undoOnError(onChange, () => (cluster = before));
              },
            },
          ]
        : []),
    ],
    close: async () => void (await Promise.all(closing.map((close) => close()))),
  };
}

/** The given kubeconfig, else the in-cluster configuration, else `undefined`. */
async function connectionFor(kubeconfig: string, env: Environment): Promise<ConnectionOptions | undefined> {
  if (kubeconfig !== "") return loadClientConfig({ kubeconfig, master: "", env });
  try {
    return await inClusterConfig({ env });
  } catch {
    return undefined;
  }
}

async function lookUp(
  client: Client,
  { authenticationTolerateLookupFailure: tolerate }: AuthenticationOptions,
  logger: Logger,
): Promise<ClientAuthorities> {
  try {
    return await readClusterAuthorities(client);
  } catch (error) {
    if (isForbidden(error)) {
      logger.warn(
        {},
        `Unable to get ${CONFIG_MAP}.  Usually fixed by 'kubectl create rolebinding -n kube-system ROLEBINDING_NAME --role=extension-apiserver-authentication-reader --serviceaccount=YOUR_NS:YOUR_SA'`,
      );
    }
    if (!tolerate) throw new Error("unable to load configmap based request-header-client-ca-file", { cause: error });
    logger.warn({}, `Error looking up in-cluster authentication configuration: ${errorMessage(error)}`);
    logger.warn(
      {},
      "Continuing without authentication configuration. This may treat all requests as anonymous. To require authentication configuration lookup to succeed, set --authentication-tolerate-lookup-failure=false",
    );
    return { clientCA: undefined, requestHeader: undefined };
  }
}

function warnAboutMissingClient(
  { clientCaFile, requestheaderClientCaFile }: AuthenticationOptions,
  logger: Logger,
): void {
  const warn = (what: string, effect: string): void =>
    logger.warn(
      {},
      `No authentication-kubeconfig provided in order to lookup ${what} in configmap/extension-apiserver-authentication in kube-system, so ${effect} won't work.`,
    );
  if (clientCaFile === "") warn("client-ca-file", "client certificate authentication");
  if (requestheaderClientCaFile === "")
    warn("requestheader-client-ca-file", "request-header client certificate authentication");
}

interface FileAuthorities extends ClientAuthorities {
  readonly reloadSources: (onChange: () => void) => readonly ReloadSource[];
}

async function authoritiesInFiles(
  options: AuthenticationOptions,
  io: Pick<ServingIo, "readFile">,
): Promise<FileAuthorities> {
  const { clientCaFile, requestheaderClientCaFile } = options;
  const read = async (file: string): Promise<string | undefined> => {
    if (file === "") return undefined;
    const text = await io.readFile(file);
    if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`${file} holds no certificate in PEM`);
    return text;
  };
  let clientCA = await read(clientCaFile);
  let proxyCA = await read(requestheaderClientCaFile);
  const reloadSourcesOf = (
    file: string,
    initial: string | undefined,
    apply: (text: string) => void,
  ): readonly ReloadSource[] =>
    initial === undefined
      ? []
      : [
          {
            name: file,
            read: async () => (await read(file))!,
            initial,
            intervalMs: FILE_INTERVAL_MS,
            apply,
          },
        ];
  return {
    get clientCA() {
      return clientCA;
    },
    get requestHeader() {
      if (proxyCA === undefined) return undefined;
      return {
        authorities: proxyCA,
        usernameHeaders: lowerCased(options.requestheaderUsernameHeaders),
        uidHeaders: lowerCased(options.requestheaderUidHeaders),
        groupHeaders: lowerCased(options.requestheaderGroupHeaders),
        extraHeaderPrefixes: lowerCased(options.requestheaderExtraHeadersPrefix),
        allowedNames: options.requestheaderAllowedNames,
      };
    },
    reloadSources: (onChange) => [
      ...reloadSourcesOf(clientCaFile, clientCA, (text) => {
        const before = clientCA;
        clientCA = text;
        undoOnError(onChange, () => (clientCA = before));
      }),
      ...reloadSourcesOf(requestheaderClientCaFile, proxyCA, (text) => {
        const before = proxyCA;
        proxyCA = text;
        undoOnError(onChange, () => (proxyCA = before));
      }),
    ],
  };
}

/** Calls `attempt`, and reverts a change that cannot be applied. */
function undoOnError(attempt: () => void, undo: () => void): void {
  try {
    attempt();
  } catch (error) {
    undo();
    throw error;
  }
}
