import type { ConnectionOptions } from "./connection-options.js";

/**
 * Returns the URL of an API server. An address without a scheme, such as `localhost:8001`, is `https` if the connection
 * has TLS options, else `http` (client-go `rest.DefaultServerURL`).
 *
 * @throws Error if the address is not an http or https URL.
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
