import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { configMaps } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realClock, realRandom } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";
import { createHttpTransport } from "@kubewright/transport-http";
import { expect, test } from "vitest";

import { SeverableNetwork } from "../test/severable-network.js";
import { SharedInformer } from "./shared-informer.js";

/** Waits 45 seconds for the kernel, so it is a heavy test. */
const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
if (!HEAVY) console.log("SKIPPED: the silent connection, which takes 43 s: npm run test:heavy");
const LIMIT_MS = 45_000;

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../transport-http/fixtures/${name}`, import.meta.url));

test.skipIf(!HEAVY)(
  "a connection that dies without a word is noticed within 45 s, and the informer watches again",
  { timeout: 300_000 },
  async (context) => {
    const network = await SeverableNetwork.create().catch((error: Error) => {
      console.warn(`SKIPPED, no dead connection was tested: ${error.message}`);
      return context.skip();
    });
    const ends: Awaited<ReturnType<typeof connect>>[] = [];
    try {
      const server = fileURLToPath(new URL("../test/severed-server.ts", import.meta.url));
      const files = [fixture("server.key"), fixture("server.crt")];
      const ports = JSON.parse(await network.run(process.execPath, server, network.address, ...files)) as {
        http: number;
        https: number;
      };
      ends.push(await connect({ server: `http://${network.address}:${ports.http}` }));
      ends.push(
        await connect({
          server: `https://${network.address}:${ports.https}`,
          ca: readFileSync(fixture("ca.crt"), "utf8"),
          serverName: "kubernetes.default",
        }),
      );
      await network.sever();
      const noticed = await Promise.all(ends.map((end) => end.noticed()));
      console.log(`noticed after ms: ${JSON.stringify(noticed)}`);
      const expected = { watch: "ETIMEDOUT", get: HEADERS, post: HEADERS, opening: HEADERS };
      for (const ofOne of noticed) {
        expect(Object.fromEntries(Object.entries(ofOne).map(([what, { code }]) => [what, code]))).toEqual(expected);
        for (const { ms } of Object.values(ofOne)) expect(ms).toBeLessThan(LIMIT_MS);
      }
      await network.restore();
      for (const { informer } of ends)
        await expect
          .poll(() => informer.store.list().map(({ metadata }) => metadata.name), { timeout: 120_000 })
          .toEqual(["first", "second"]);
    } finally {
      await Promise.all(ends.map((end) => end.close()));
      await network.close();
    }
  },
);

const HEADERS = "UND_ERR_HEADERS_TIMEOUT";

interface Failure {
  readonly code: string | undefined;
  readonly ms: number;
}

/** Returns an informer with an open watch, and idle pooled connections of both kinds. */
async function connect(options: Parameters<typeof createHttpTransport>[0]) {
  const { transport, close } = createHttpTransport(options);
  const broke = Promise.withResolvers<string | undefined>();
  const watching = Promise.withResolvers<void>();
  const observed: Transport = async (request) => {
    const response = await transport(request);
    if (!request.path.includes("watch=true") || response.body.type !== "bytes") return response;
    watching.resolve();
    return { ...response, body: { type: "bytes", chunks: observe(response.body.chunks, broke.resolve) } };
  };
  const informer = new SharedInformer({
    client: new Client({ transport: observed, clock: realClock }).resource(configMaps),
    clock: realClock,
    random: realRandom,
    watchList: false,
  });
  const stop = new AbortController();
  const stopped = informer.run(stop.signal);
  await informer.waitForSync();
  await watching.promise;
  const request = (method: ApiRequest["method"], path: string): Promise<unknown> =>
    transport({ method, path, headers: {} }).then(consume);
  await Promise.all([request("GET", "/idle"), request("POST", "/idle"), request("GET", "/idle?watch=true")]);

  return {
    informer,
    /** Resolves when every dead connection has failed: the watch, and requests on the idle connections. */
    async noticed(): Promise<Record<"watch" | "get" | "post" | "opening", Failure>> {
      const startMs = realClock.monotonic();
      const failure = async (failed: Promise<unknown>): Promise<Failure> => {
        const code = await failed.then(
          () => "none",
          (error: { code?: string }) => error.code,
        );
        return { code, ms: Math.round(realClock.monotonic() - startMs) };
      };
      const [watch, get, post, opening] = await Promise.all([
        failure(broke.promise.then((code) => Promise.reject({ code }))),
        failure(request("GET", "/sent")),
        failure(request("POST", "/sent")),
        failure(request("GET", "/sent?watch=true")),
      ]);
      return { watch, get, post, opening };
    },
    async close(): Promise<void> {
      stop.abort();
      await stopped;
      await close();
    },
  };
}

async function* observe(
  chunks: AsyncIterable<Uint8Array>,
  broke: (code: string | undefined) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
    broke("end");
  } catch (error) {
    broke((error as { code?: string }).code);
    throw error;
  }
}

async function consume({ body }: ApiResponse): Promise<void> {
  if (body.type === "bytes") for await (const _chunk of body.chunks);
}
