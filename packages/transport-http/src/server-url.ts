import type { ConnectionOptions } from "./connection-options.js";

/**
 * The address of an API server. One without a scheme, such as `localhost:8001`, is `https` when the connection has anything
 * to do with TLS, else `http` (client-go `rest.DefaultServerURL`).
 *
 * @throws Error for what is no http or https URL.
 */
export function serverUrl({ server, ca, cert, insecureSkipTlsVerify }: ConnectionOptions): URL {
  const scheme = ca !== undefined || cert || insecureSkipTlsVerify ? "https" : "http";
  const text = server.includes("://") ? server : `${scheme}://${server}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:") || url.host === "") {
    throw new Error(`server ${JSON.stringify(server)} is not an http or https URL`);
  }
  return url;
}
