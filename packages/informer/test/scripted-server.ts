import {
  type KubernetesObject,
  type Pod,
  type Status,
  type StatusReason,
  type WatchEvent,
  deepFreeze,
} from "@kubewright/api";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

/** One request as received by the server, e.g. `list limit=500&resourceVersion=0`. */
export interface SeenRequest {
  readonly verb: "list" | "watch";
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
}

type Answer = (request: ApiRequest) => Promise<ApiResponse>;

/**
 * A transport with responses scripted by the test. A request beyond the script waits until a response is added, or its
 * signal aborts.
 */
export class ScriptedServer {
  readonly requests: SeenRequest[] = [];
  readonly #answers: Answer[] = [];
  readonly #waiting: ((answer: Answer) => void)[] = [];

  readonly transport: Transport = async (request) => {
    const [path = "", search = ""] = request.path.split("?");
    const { watch, ...query } = Object.fromEntries(new URLSearchParams(search));
    this.requests.push({ verb: watch === "true" ? "watch" : "list", query, path });
    const answer = this.#answers.shift() ?? (await this.#nextAnswer(request.signal));
    return answer(request);
  };

  /** Returns the requests since the last call. */
  takeRequests(): SeenRequest[] {
    return this.requests.splice(0);
  }

  list(resourceVersion: string, items: readonly KubernetesObject[], metadata: { continue?: string } = {}): void {
    this.#add(async () =>
      decoded(200, { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion, ...metadata }, items }),
    );
  }

  /** Responds with any value and status 200. */
  answer(value: unknown): void {
    this.#add(async () => decoded(200, value));
  }

  refuse(code: number, reason: StatusReason, details: Partial<Status> = {}): void {
    this.#add(async () => decoded(code, failure(code, reason, details)));
  }

  fail(error: Error): void {
    this.#add(async () => {
      throw error;
    });
  }

  watch(...events: readonly WatchEvent<KubernetesObject>[]): ScriptedWatch {
    const stream = new ScriptedWatch();
    for (const event of events) stream.send(event);
    this.#add(async (request) => ({
      status: 200,
      headers: {},
      body: { type: "events", events: stream.open(request.signal) },
    }));
    return stream;
  }

  /** Responds with a watch that sends these bytes and closes. */
  watchBytes(text: string): void {
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(text);
    };
    this.#add(async () => ({ status: 200, headers: {}, body: { type: "bytes", chunks: chunks() } }));
  }

  #add(answer: Answer): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#answers.push(answer);
    else waiting(answer);
  }

  #nextAnswer(signal: AbortSignal | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      this.#waiting.push(resolve);
      signal?.addEventListener("abort", () => {
        this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
        reject(signal.reason as Error);
      });
    });
  }
}

/** The server side of a watch. */
export class ScriptedWatch {
  readonly #queue: (WatchEvent<KubernetesObject> | "end" | Error)[] = [];
  #wake: (() => void) | undefined;
  /** Whether the client has closed the watch, or its signal has aborted. */
  closed = false;

  send(event: WatchEvent<KubernetesObject>): void {
    this.#push(deepFreeze(event));
  }

  /** Ends the watch, like an expired time-out. */
  end(): void {
    this.#push("end");
  }

  /** Breaks the connection. */
  cut(error: Error = new Error("read ECONNRESET")): void {
    this.#push(error);
  }

  async *open(signal: AbortSignal | undefined): AsyncGenerator<WatchEvent<KubernetesObject>> {
    signal?.addEventListener("abort", () => {
      this.closed = true;
      this.#wake?.();
    });
    try {
      while (!this.closed) {
        const next = this.#queue.shift();
        if (next === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (next === "end") return;
        else if (next instanceof Error) throw next;
        else yield next;
      }
    } finally {
      this.closed = true;
    }
  }

  #push(item: WatchEvent<KubernetesObject> | "end" | Error): void {
    this.#queue.push(item);
    this.#wake?.();
  }
}

export function pod(name: string, resourceVersion: string, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return deepFreeze({
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion, ...metadata },
  });
}

export const added = (object: KubernetesObject): WatchEvent<KubernetesObject> => ({ type: "ADDED", object });
export const modified = (object: KubernetesObject): WatchEvent<KubernetesObject> => ({ type: "MODIFIED", object });
export const deleted = (object: KubernetesObject): WatchEvent<KubernetesObject> => ({ type: "DELETED", object });

export function bookmark(
  resourceVersion: string,
  options: { initialEventsEnd?: boolean } = {},
): WatchEvent<KubernetesObject> {
  const annotations = options.initialEventsEnd === true ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  return { type: "BOOKMARK", object: { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion, ...annotations } } };
}

export function errorEvent(code: number, reason: StatusReason): WatchEvent<KubernetesObject> {
  return { type: "ERROR", object: failure(code, reason, {}) };
}

export function connectionRefused(): Error {
  const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:6443"), { code: "ECONNREFUSED" });
  return new TypeError("fetch failed", { cause });
}

function failure(code: number, reason: StatusReason, details: Partial<Status>): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `scripted ${reason}`,
    reason,
    code,
    ...details,
  };
}

function decoded(status: number, value: unknown): ApiResponse {
  return { status, headers: {}, body: { type: "decoded", value: deepFreeze(value) } };
}
