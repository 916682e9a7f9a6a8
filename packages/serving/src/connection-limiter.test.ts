import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, type Socket, connect } from "node:net";
import { connect as connectTls } from "node:tls";

import { type TestContext, describe, expect, test } from "vitest";

import { makeAuthority, sign } from "../test/certificates.js";
import { ConnectionLimiter } from "./connection-limiter.js";

const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/** Starts a server that is limited to three connections and answers on demand. */
async function serve(scope: TestContext, { tls }: { tls: boolean }) {
  const waiting: ServerResponse[] = [];
  const handle = (_request: IncomingMessage, response: ServerResponse): void => void waiting.push(response);
  const server = tls ? createTlsServer(await sign(await makeAuthority("ca"), "server"), handle) : createServer(handle);
  const connections = new ConnectionLimiter(server, 3);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  scope.onTestFinished(() => {
    connections.closeAll();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Resolves when the server has the connection. */
  const come = async (text = "", handshake = tls): Promise<Client> => {
    const known = once(server, handshake ? "secureConnection" : "connection");
    const socket = handshake
      ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
      : connect(port, "127.0.0.1");
    const client = new Client(socket);
    await known;
    if (text !== "") await client.send(text);
    return client;
  };
  return {
    server,
    connections,
    come,
    /** Resolves when the server has the request. */
    ask: async (client: Client): Promise<ServerResponse> => {
      const asked = once(server, "request");
      await client.send(GET);
      return ((await asked) as [unknown, ServerResponse])[1];
    },
  };
}

class Client {
  readonly closed: Promise<unknown>;
  isClosed = false;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => undefined);
    socket.resume();
    this.closed = new Promise((resolve) => socket.once("close", () => resolve((this.isClosed = true))));
  }

  send(text: string): Promise<void> {
    return new Promise((resolve) => this.#socket.write(text, () => resolve()));
  }
}

async function answer(response: ServerResponse): Promise<void> {
  const closed = once(response, "close");
  response.end("ok");
  await closed;
}

describe.each([{ tls: false }, { tls: true }])("with TLS: $tls", ({ tls }) => {
  test.for([
    { what: "nothing", text: "" },
    { what: "half a header", text: GET.slice(0, -2) },
  ])("who sends $what makes room for who comes, the first one first", async ({ text }, scope) => {
    const { come, ask } = await serve(scope, { tls });
    const crowd = [await come(text), await come(text), await come(text)];
    const health = await come();
    await crowd[0]!.closed;
    await answer(await ask(health));
    await come(text);
    await crowd[1]!.closed;
    expect([crowd[2]!.isClosed, health.isClosed]).toEqual([false, false]);
  });

  test("who asked longest ago goes first; who waits for an answer stays", async (scope) => {
    const { come, ask } = await serve(scope, { tls });
    const [first, second, third] = [await come(), await come(), await come()];
    const pending = await ask(first);
    await answer(await ask(second));
    await come();
    await third.closed;
    await come();
    await second.closed;
    await answer(pending);
    expect(first.isClosed).toBe(false);
  });

  test("when all wait for answers, the one that waits for longest goes", async (scope) => {
    const { come, ask } = await serve(scope, { tls });
    const crowd = [await come(), await come(), await come()];
    for (const client of crowd.toReversed()) await ask(client);
    const health = await come();
    await crowd[2]!.closed;
    await answer(await ask(health));
    expect(crowd.map(({ isClosed }) => isClosed)).toEqual([false, false, true]);
    // A closed connection no longer counts.
    await come();
    await health.closed;
  });

  test("who leaves makes room, too", async (scope) => {
    const { come, server } = await serve(scope, { tls });
    const crowd = [await come(), await come(), await come()];
    for (let times = 0; times < 10; times++) {
      const gone = once(server, "connection").then(([socket]) => once(socket as Socket, "close"));
      const guest = connect((server.address() as AddressInfo).port, "127.0.0.1");
      await once(guest, "connect");
      guest.destroy();
      await gone;
    }
    // Only the first connection was closed, for the first new one; the closed connections freed the other places.
    await crowd[0]!.closed;
    await come();
    expect(crowd.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
  });

  test("all end at once", async (scope) => {
    const { come, ask, connections, server } = await serve(scope, { tls });
    const crowd = [await come("", false), await come(), await come()];
    await ask(crowd[2]!);
    server.close();
    connections.closeAll();
    await Promise.all([once(server, "close"), ...crowd.map(({ closed }) => closed)]);
    expect(server.listening).toBe(false);
  });
});
