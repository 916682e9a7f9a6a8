import type { Clock, Random } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { Environment } from "@kubewright/transport-http";

import type { ManagerMetrics } from "../metrics/manager-metrics.js";
import type { AuthenticationOptions, AuthorizationOptions } from "../options/delegated-auth-options.js";
import type { ServingOptions } from "../options/serving-options.js";
import { delegatedAccess, acceptsClientCertificates } from "./delegated-access.js";
import { type ReloadSource, pollForChanges } from "./poll-for-changes.js";
import type { HttpHandler } from "./http-message.js";
import { secured } from "./secured.js";
import type { SecureListener, ServingIdentity } from "./secure-listener.js";
import { loadIdentity, loadNamedIdentities, readPair } from "./serving-identity.js";
import type { ServingIo } from "./serving-io.js";
import { insecureCipherSuites, openSslCiphers, openSslVersion } from "./tls-settings.js";

export interface SecureServingDeps {
  readonly options: ServingOptions & AuthenticationOptions & AuthorizationOptions;
  /** Answers authorized requests. */
  readonly handler: HttpHandler;
  readonly io: ServingIo;
  readonly env: Environment;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: ManagerMetrics | undefined;
}

export interface SecureServing {
  readonly port: number;
  /** Closes the port and all connections. */
  readonly close: () => Promise<void>;
}

const CERTIFICATE_INTERVAL_MS = 10_000;

/**
 * Serves over HTTPS. The port is opened before any request to the API server, and requests are answered once delegated
 * access is set up.
 *
 * @returns `undefined` when the secure port is 0.
 * @throws Error when the certificate cannot be used, the port cannot be opened, or access cannot be delegated.
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/server/secure_serving.go
 */
export async function startSecureServing(deps: SecureServingDeps): Promise<SecureServing | undefined> {
  const { options, io, logger } = deps;
  if (options.securePort === 0) return undefined;
  for (const name of insecureCipherSuites(options.tlsCipherSuites))
    logger.warn({}, `Use of insecure cipher '${name}' detected.`);
  const { identity, files } = await loadIdentity(options, deps);
  const named = await loadNamedIdentities(options.tlsSniCertKeys, io);
  const listener = await listen(deps, identity);
  try {
    listener.setNamedIdentities(named);
    const certificates =
      files === undefined ? [] : [certificateReloadSource(files, identity, io, (pair) => listener.setIdentity(pair))];
    const current = [...named];
    for (const [index, other] of named.entries()) {
      certificates.push(
        certificateReloadSource(other.files, other.identity, io, (pair) => {
          listener.setNamedIdentities(current.with(index, { ...current[index]!, identity: pair }));
          current[index] = { ...current[index]!, identity: pair };
        }),
      );
    }
    return await serve(deps, listener, certificates);
  } catch (error) {
    await listener.close();
    throw error;
  }
}

async function listen(deps: SecureServingDeps, identity: ServingIdentity): Promise<SecureListener> {
  const { options, io } = deps;
  return io.listen({
    address: options.bindAddress,
    port: options.securePort,
    identity,
    requestClientCertificates: await acceptsClientCertificates(deps),
    minVersion: openSslVersion(options.tlsMinVersion),
    ciphers: openSslCiphers(options.tlsCipherSuites),
  });
}

async function serve(
  deps: SecureServingDeps,
  listener: SecureListener,
  certificates: readonly ReloadSource[],
): Promise<SecureServing> {
  const { clock, logger } = deps;
  const access = await delegatedAccess(deps);
  const trust = (): void => listener.setClientAuthorities(access.authorities());
  try {
    trust();
  } catch (error) {
    throw new Error(
      "unable to use the client CAs (--client-ca-file, --requestheader-client-ca-file, or the cluster's)",
      {
        cause: error,
      },
    );
  }
  const stop = new AbortController();
  for (const source of [...certificates, ...access.reloadSources(trust)])
    void pollForChanges(source, { clock, logger }, stop.signal);
  listener.serve(secured(deps.handler, { ...access, clock, logger }));
  logger.info({}, `Serving securely on ${listener.address}`);
  return {
    port: listener.port,
    close: async () => {
      stop.abort();
      await listener.close();
      await access.close();
    },
  };
}

/**
 * A reload source for certificate and key together. When a poll happens between the two file writes, the pair does not
 * match, and the next poll reads it again.
 */
function certificateReloadSource(
  files: { readonly cert: string; readonly key: string },
  initial: ServingIdentity,
  io: Pick<ServingIo, "readFile" | "checkIdentity">,
  apply: (pair: ServingIdentity) => void,
): ReloadSource {
  return {
    name: files.cert,
    read: async () => JSON.stringify(await readPair(io, files)),
    initial: JSON.stringify(initial),
    intervalMs: CERTIFICATE_INTERVAL_MS,
    apply: (text) => apply(JSON.parse(text) as ServingIdentity),
  };
}
