import { Client } from "@kubewright/client";
import { SimulatedClock, realClock } from "@kubewright/clock";
import { Network } from "@kubewright/cluster";
import { createHttpTransport } from "@kubewright/transport-http";
import type { Transport } from "@kubewright/transport";

import { Activity } from "./activity.js";
import type { Backend } from "./backend.js";
import { serveOverHttps } from "./served-webhooks.js";

const ADVANCE_PATH = "/_kubewright/clock/advance";
const RESET_PATH = "/_kubewright/reset";
/** Maximum step of one request: 366 days. */
const MAX_ADVANCE_MS = 366 * 86_400_000;

export interface ServeOptions {
  /** URL of a `kubewright serve --speed manual`. */
  readonly url: string;
  /** Whether to reset the server to its initial state. Default false. */
  readonly reset?: boolean;
  /** Returns how the process ended. Default: not known. */
  readonly ended?: () => string | undefined;
  /** Stops the server. */
  readonly end: () => Promise<void>;
}

/**
 * Connects to a `kubewright serve --speed manual` in another process, and synchronizes a local clock with the server's
 * clock. The time advances to the next due work of either process, or to the first write on the server. Local
 * controllers must observe that write at its time.
 *
 * Over sockets no component knows when all due work is done. It counts as done after an idle moment.
 */
export async function startServe({ url, reset = false, ended = () => undefined, end }: ServeOptions): Promise<Backend> {
  const http = createHttpTransport({ server: url });
  const activity = new Activity(realClock);
  const transport = activity.watching(http.transport);
  const server = new ServeControls(http.transport, ended);
  if (reset) await server.reset();
  let serverMs = await server.advance(0);
  const clock = new SimulatedClock(serverMs);
  const settle = async (): Promise<void> => {
    await activity.quiet(() => clock.settle());
    await clock.advance(0);
    await activity.quiet(() => clock.settle());
  };
  const step = async (limitMs: number): Promise<void> => {
    const dueMs = Math.min(limitMs, MAX_ADVANCE_MS, Math.ceil(clock.nextTimerInMs ?? limitMs));
    if (dueMs > 0) {
      const nowMs = await server.advance(dueMs);
      await clock.advance(Math.max(0, nowMs - serverMs));
      serverMs = nowMs;
    }
    await settle();
  };
  await settle();
  return {
    against: "serve",
    clock,
    network: new Network({ transport, clock }),
    transport,
    serveWebhooks: serveOverHttps,
    step,
    settle,
    advance: async (durationMs) => {
      await settle();
      const endMs = clock.monotonic() + durationMs;
      for (let leftMs = durationMs; leftMs > 0; leftMs = endMs - clock.monotonic()) await step(leftMs);
    },
    check: () => {},
    stop: async () => {
      await http.close();
      await end();
    },
  };
}

/** Client of the control endpoints of `serve`. */
class ServeControls {
  readonly #transport: Transport;
  readonly #ended: () => string | undefined;

  constructor(transport: Transport, ended: () => string | undefined) {
    this.#transport = transport;
    this.#ended = ended;
  }

  /**
   * Advances the server's clock by at most `limitMs`, until the next write. Returns the server's time in epoch
   * milliseconds.
   */
  async advance(limitMs: number): Promise<number> {
    const { now } = await this.#post<{ now: string }>(ADVANCE_PATH, { seconds: limitMs / 1000, untilWrite: true });
    return Date.parse(now);
  }

  async reset(): Promise<void> {
    await this.#post(RESET_PATH, {});
  }

  async #post<T>(path: string, body: object): Promise<T> {
    const posting: Transport = (request) =>
      this.#transport({ ...request, method: "POST", body: { type: "decoded", value: body } });
    const client = new Client({ transport: posting, clock: realClock, userAgent: "test-kit" });
    try {
      return (await client.getRaw(path)) as T;
    } catch (error) {
      const ended = this.#ended();
      throw ended === undefined ? error : new Error(ended, { cause: error });
    }
  }
}
