import { Agent, type IncomingMessage, type ServerResponse, createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";

import { type KubernetesObject } from "@kubewright/api";
import { type Assignment, bucketName, bucketOf, parseAssignment } from "@kubewright/sharding";

import type { Scope } from "./scope.js";

interface Write {
  readonly identity: string;
  readonly what: string;
  readonly bucket: number;
  /**
   * The newest resourceVersion when the write was forwarded. A write without effect returns a version that is not
   * newer.
   */
  readonly sinceVersion: number;
  readonly resourceVersion: number;
}

/**
 * Writes of the controllers of a namespace. Deletions by the owner of the cluster's bucket are not writes of a
 * namespace.
 */
const WRITE = /\/namespaces\/([^/]+)\/(pods|jobs|cronjobs)(\/|\?|$)/;

/**
 * A proxy between sharded replicas and an API server. It records each write with its writer, and the owner of the
 * bucket at that time, both ordered by the server's resourceVersions. Closed at the end of the test.
 */
export class ShardAudit {
  /** Bytes of watches, by the identity of the reader. */
  readonly watchedBytes = new Map<string, number>();
  readonly #writes: Write[] = [];
  readonly #assignments: { readonly resourceVersion: number; readonly assignment: Assignment }[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #eventLoopDelay = monitorEventLoopDelay();
  readonly #target: string;
  readonly #boundMs: number;
  url = "";

  private constructor(target: string, boundMs: number) {
    this.#target = target;
    this.#boundMs = boundMs;
  }

  /** @param boundMs - Maximum delay of a write that the replicas' lease durations permit. */
  static async start(scope: Scope, target: string, boundMs: number): Promise<ShardAudit> {
    const audit = new ShardAudit(target, boundMs);
    audit.#eventLoopDelay.enable();
    const server = createServer((incoming, outgoing) => void audit.#proxy(incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    scope.onTestFinished(() => {
      server.closeAllConnections();
      server.close();
      audit.#agent.destroy();
      audit.#eventLoopDelay.disable();
    });
    audit.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return audit;
  }

  /** Writes that took longer than the bound: the machine is too busy for the durations of the test. */
  readonly slowWrites: string[] = [];
  #newestVersion = 0;

  /** Number of writes to namespaced objects. */
  get writes(): number {
    return this.#writes.length;
  }

  /** Number of times that a bucket changed to another owner. */
  get takeovers(): number {
    let takeovers = 0;
    for (const [index, { assignment }] of this.#inOrder().entries()) {
      const before = this.#inOrder()[index - 1]?.assignment;
      for (const [bucket, { owner, epoch }] of assignment.entries.entries())
        if (owner !== "" && before?.entries[bucket]?.epoch !== epoch) takeovers++;
    }
    return takeovers;
  }

  /** Number of buckets by current owner. */
  get bucketsByOwner(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { owner } of this.#inOrder().at(-1)?.assignment.entries ?? []) counts[owner] = (counts[owner] ?? 0) + 1;
    return counts;
  }

  /** Returns the writes to buckets that the writer did not own. */
  violations(): string[] {
    const wrong: string[] = [];
    const assignments = this.#inOrder();
    for (const { identity, what, bucket, sinceVersion, resourceVersion } of this.#writes) {
      if (resourceVersion <= sinceVersion) continue;
      const at = assignments.findLast((each) => each.resourceVersion < resourceVersion);
      const owner = at?.assignment.entries[bucket]?.owner;
      if (owner !== identity)
        wrong.push(`${identity} wrote ${what} at ${resourceVersion}: bucket ${bucketName(bucket)} is ${owner}'s`);
    }
    return wrong;
  }

  /** Returns the owners of a namespace's bucket and the writes in the namespace, in order. */
  history(namespace: string): string[] {
    const bucket = bucketOf(namespace);
    const owners = this.#inOrder().map(({ resourceVersion, assignment }) => {
      const { owner, epoch } = assignment.entries[bucket]!;
      return { resourceVersion, text: `bucket ${bucketName(bucket)} is ${owner || "nobody"}'s, epoch ${epoch}` };
    });
    const moves = owners.filter(({ text }, index) => text !== owners[index - 1]?.text);
    const writes = this.#writes
      .filter(({ what }) => what.includes(` ${namespace}/`))
      .map(({ identity, what, resourceVersion }) => ({ resourceVersion, text: `${identity} ${what}` }));
    const all = [...moves, ...writes].sort((a, b) => a.resourceVersion - b.resourceVersion);
    return all.map(({ resourceVersion, text }) => `${resourceVersion} ${text}`);
  }

  #inOrder(): readonly { readonly resourceVersion: number; readonly assignment: Assignment }[] {
    return this.#assignments.sort((a, b) => a.resourceVersion - b.resourceVersion);
  }

  async #proxy(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = incoming;
    const identity = /\(([^()]*)\)$/.exec(headers["user-agent"] ?? "")?.[1] ?? "";
    const isWrite = method !== "GET";
    // Subtracts the event loop delay: a blocked process processes earlier requests late.
    const startMs = performance.now() - this.#eventLoopDelay.max / 1e6;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
    } catch {
      // The client has disconnected while sending.
      return;
    }
    const sinceVersion = this.#newestVersion;
    const forwarded = send(this.#target + url, { method, headers, agent: this.#agent }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.flushHeaders();
      const answered: Buffer[] = [];
      const isWatch = url.includes("watch=");
      answer.on("data", (chunk: Buffer) => {
        if (isWrite) answered.push(chunk);
        if (isWatch) this.watchedBytes.set(identity, (this.watchedBytes.get(identity) ?? 0) + chunk.length);
      });
      answer.on("end", () => {
        const durationMs = performance.now() - startMs;
        if (isWrite && durationMs > this.#boundMs)
          this.slowWrites.push(`${method} ${url} took ${durationMs.toFixed(0)} ms`);
        if (isWrite && answer.statusCode! < 300)
          this.#record({ identity, method, url, sinceVersion }, Buffer.concat(answered).toString());
      });
      answer.pipe(outgoing);
    });
    // A write is completed even if its client has disconnected.
    if (!isWrite) outgoing.on("close", () => forwarded.destroy());
    forwarded.on("error", () => outgoing.destroy());
    forwarded.end(Buffer.concat(chunks));
  }

  #record(
    { identity, method, url, sinceVersion }: Pick<Write, "identity" | "sinceVersion"> & { method: string; url: string },
    body: string,
  ): void {
    const { kind, metadata, ...object } = JSON.parse(body) as Partial<KubernetesObject> & {
      data?: Record<string, string>;
    };
    const resourceVersion = Number(metadata?.resourceVersion);
    this.#newestVersion = Math.max(this.#newestVersion, resourceVersion || 0);
    if (kind === "ConfigMap" && metadata?.name?.endsWith("-assignment") === true) {
      this.#assignments.push({ resourceVersion, assignment: parseAssignment(object.data!["assignment"]!) });
      return;
    }
    const namespace = WRITE.exec(url)?.[1];
    if (namespace === undefined || method === "DELETE") return;
    const what = `${method} ${kind} ${namespace}/${metadata?.name}`;
    this.#writes.push({ identity, what, bucket: bucketOf(namespace), sinceVersion, resourceVersion });
  }
}
