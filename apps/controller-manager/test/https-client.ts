import { type RequestOptions, request as send } from "node:https";
import type { TLSSocket } from "node:tls";
import { gunzipSync } from "node:zlib";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Common name of the server's certificate. */
  readonly servedBy: string;
  /** Local port of the connection. */
  readonly localPort: number | undefined;
}

/** Sends one request over a new connection, and accepts any server certificate. */
export function sendRequest(
  port: number,
  path: string,
  options: RequestOptions & { body?: string } = {},
): Promise<Answer> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const outgoing = send(
      { host: "127.0.0.1", port, path, agent: false, rejectUnauthorized: false, ...rest },
      (incoming) => {
        const { localPort } = incoming.socket;
        const servedBy = String((incoming.socket as TLSSocket).getPeerCertificate().subject.CN);
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const bytes = Buffer.concat(chunks);
          const text = incoming.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
          resolve({
            status: incoming.statusCode!,
            headers: incoming.headers,
            body: text.toString("utf8"),
            servedBy,
            localPort,
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

export const bearer = (token: string): RequestOptions => ({ headers: { authorization: `Bearer ${token}` } });
