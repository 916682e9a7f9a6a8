import type { ConnectionOptions, ExecPlugin } from "./connection-options.js";
import { Fields } from "./fields.js";
import { checkKeyPair } from "./tls-options.js";

/** The credential of a plugin: a token, a client certificate with its key (PEM), or both. */
export interface ExecCredential {
  readonly token: string;
  readonly cert: string;
  readonly key: string;
  /** Epoch milliseconds; `Infinity` if it does not expire. */
  readonly expiresMs: number;
}

const GROUP = "client.authentication.k8s.io";
const API_VERSIONS: readonly string[] = [`${GROUP}/v1`, `${GROUP}/v1beta1`];

/** @throws Error for an unsupported version. Kubernetes 1.24 removed v1alpha1. */
export function checkApiVersion({ apiVersion }: ExecPlugin): void {
  if (!API_VERSIONS.includes(apiVersion))
    throw new Error(`exec plugin: invalid apiVersion ${JSON.stringify(apiVersion)}`);
}

/**
 * Returns the value of `KUBERNETES_EXEC_INFO` for a plugin.
 *
 * @see client-go rest/exec.go ConfigToExecCluster
 */
export function execInfo(
  { apiVersion, provideClusterInfo = false, clusterConfig }: ExecPlugin,
  { server, serverName, insecureSkipTlsVerify, ca, proxyUrl }: ConnectionOptions,
): string {
  const cluster = {
    server,
    ...(serverName ? { "tls-server-name": serverName } : {}),
    ...(insecureSkipTlsVerify ? { "insecure-skip-tls-verify": true } : {}),
    ...(ca ? { "certificate-authority-data": Buffer.from(ca).toString("base64") } : {}),
    ...(proxyUrl ? { "proxy-url": proxyUrl } : {}),
    config: clusterConfig ?? null,
  };
  const spec = { ...(provideClusterInfo ? { cluster } : {}), interactive: false };
  return JSON.stringify({ kind: "ExecCredential", apiVersion, spec });
}

/**
 * Decodes a plugin's output, JSON or YAML.
 *
 * @param apiVersion - The configured version.
 * @throws Error with upstream's message. No message contains the output, because it may be a secret.
 */
export async function decodeExecCredential(output: string, apiVersion: string): Promise<ExecCredential> {
  const document = await parseDocument(output);
  const top = withDecodingErrors(() => new Fields(document, ""));
  const kind = withDecodingErrors(() => top.text("kind"));
  const version = withDecodingErrors(() => top.text("apiVersion"));
  if (kind === "") throw new Error("decoding stdout: Object 'Kind' is missing");
  if (kind !== "ExecCredential" || !version.startsWith(`${GROUP}/`))
    throw new Error(
      `decoding stdout: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`,
    );
  if (version !== apiVersion)
    throw new Error(`exec plugin is configured to use API version ${apiVersion}, plugin returned version ${version}`);
  if (!top.has("status")) throw new Error("exec plugin didn't return a status field");
  const credential = withDecodingErrors(() => credentialOf(top.fields("status")));
  const { token, cert, key } = credential;
  if (token === "" && cert === "" && key === "") throw new Error("exec plugin didn't return a token or cert/key pair");
  if ((cert === "") !== (key === "")) throw new Error("exec plugin returned only certificate or key, not both");
  try {
    checkKeyPair(cert, key);
  } catch (error) {
    throw new Error(`failed parsing client key/certificate: ${(error as Error).message}`, { cause: error });
  }
  return credential;
}

async function parseDocument(output: string): Promise<unknown> {
  try {
    return JSON.parse(output) as unknown;
  } catch {
    const { parse } = await import("yaml");
    return withDecodingErrors(() => {
      try {
        return parse(output) as unknown;
      } catch {
        throw new Error(`neither JSON nor YAML, ${output.length} characters`);
      }
    });
  }
}

function credentialOf(status: Fields): ExecCredential {
  const expiration = status.text("expirationTimestamp");
  const expiresMs = expiration === "" ? Infinity : Date.parse(expiration);
  if (!/^(?:\d{4}-\d\d-\d\dT.+)?$/.test(expiration) || Number.isNaN(expiresMs))
    throw new Error(`expirationTimestamp ${JSON.stringify(expiration.slice(0, 50))} is not an RFC 3339 time`);
  return {
    token: status.text("token"),
    cert: status.text("clientCertificateData"),
    key: status.text("clientKeyData"),
    expiresMs,
  };
}

function withDecodingErrors<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new Error(`decoding stdout: ${(error as Error).message}`, { cause: error });
  }
}
