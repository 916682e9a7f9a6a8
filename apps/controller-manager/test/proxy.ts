import { type IncomingMessage, createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

import type { Scope } from "./scope.js";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly userAgent: string;
  readonly body: string;
}

export interface ProxyHooks {
  /** Called before the request is forwarded to the API server. `false` drops the request. */
  readonly before?: (request: SeenRequest) => boolean | void;
  /** Called after the API server has responded, before the response is forwarded. */
  readonly after?: (request: SeenRequest, status: number) => void;
}

/**
 * Starts a proxy between the manager and an API server, so that a test can choose the instant of a crash. Closed at the
 * end of the test.
 */
export async function startProxy(scope: Scope, target: string, hooks: ProxyHooks): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    void readBody(incoming).then((body) => {
      const { method = "", url: path = "", headers } = incoming;
      const seen: SeenRequest = { method, path, userAgent: headers["user-agent"] ?? "", body: body.toString() };
      if (hooks.before?.(seen) === false) return;
      const forwarded = send(target + path, { method, headers }, (answer) => {
        hooks.after?.(seen, answer.statusCode!);
        outgoing.writeHead(answer.statusCode!, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      });
      outgoing.on("close", () => forwarded.destroy());
      forwarded.on("error", () => outgoing.destroy());
      forwarded.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scope.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
