import type { Clock } from "@kubewright/clock";
import type { Cluster, Decision, PathResponse } from "@kubewright/cluster";
import { type ApiRequest, parseQuery, parseRequestUrl } from "@kubewright/transport";
import { Recorder, type TraceRecord, traceLine } from "@kubewright/analysis/trace";

import { type LiveStatus, TRACE_PATH, TRACE_POLL_MS } from "./live-status.js";

/** Maximum number of stored records, for pages that connect late or reconnect. The latest ones are stored. */
export const LIVE_RECORDS = 50_000;
/** Maximum number of characters of all stored records, because the message of an event may have any length. */
const LIVE_CHARACTERS = 64 * 1024 * 1024;
/** Maximum number of records in one response, and the number of characters after which a response ends. */
const RECORDS_PER_ANSWER = 5_000;
const CHARACTERS_PER_ANSWER = 4 * 1024 * 1024;

export interface LiveTraceOptions {
  /** The cluster's time. */
  readonly clock: Clock;
  /** The clock for the timeout of requests. */
  readonly real: Clock;
  readonly speed: LiveStatus["speed"];
  /** Identifies the cluster's life; another one after each restart or reset of the server. */
  readonly life: string;
  /** Default {@link LIVE_RECORDS}. */
  readonly maxRecords?: number;
  /** Default 64 Mi. */
  readonly maxCharacters?: number;
}

/**
 * The trace of a live cluster as JSON lines, under {@link TRACE_PATH}. `?after=N` requests the records from number N
 * on, and waits a while when there are none yet. A page that polls therefore misses no record, also after a lost
 * connection.
 *
 * The recording starts with the first request, so a cluster without a page has no cost. Objects that exist at that time
 * come first.
 */
export class LiveTrace {
  readonly #options: LiveTraceOptions;
  /** The serialized records. */
  readonly #lines: string[] = [];
  #characters = 0;
  /** Number of the first stored record. */
  #first = 0;
  #recorder: Recorder | undefined;
  #since = "";
  #wake: (() => void)[] = [];

  constructor(options: LiveTraceOptions) {
    this.#options = options;
  }

  decision(decision: Decision): void {
    this.#recorder?.decision(decision);
  }

  /** Answers a request to {@link TRACE_PATH}. */
  async serve({ path, method, signal }: ApiRequest, cluster: Pick<Cluster, "informers">): Promise<PathResponse> {
    if (method !== "GET") return { status: 405, contentType: "text/plain; charset=utf-8", text: `GET ${TRACE_PATH}\n` };
    this.#startRecording(cluster);
    const query = parseQuery(parseRequestUrl(path)?.query ?? "");
    const after = Number(query.get("after") ?? 0);
    // Numbers of another life are ignored.
    const requested = query.get("life") === this.#options.life && Number.isSafeInteger(after) ? after : 0;
    if (requested >= this.#end && query.has("life")) await this.#waitForRecords(signal);
    const from = Math.min(this.#end, Math.max(this.#first, requested));
    const status: LiveStatus = {
      type: "status",
      life: this.#options.life,
      first: from,
      now: new Date(this.#options.clock.now()).toISOString(),
      since: this.#since,
      speed: this.#options.speed,
    };
    return {
      status: 200,
      contentType: "application/x-ndjson",
      text: `${JSON.stringify(status)}\n${this.#textFrom(from - this.#first)}`,
    };
  }

  #textFrom(start: number): string {
    let text = "";
    for (let index = start; index < Math.min(this.#lines.length, start + RECORDS_PER_ANSWER); index++) {
      text += this.#lines[index]!;
      if (text.length > CHARACTERS_PER_ANSWER) break;
    }
    return text;
  }

  get #end(): number {
    return this.#first + this.#lines.length;
  }

  #startRecording({ informers }: Pick<Cluster, "informers">): void {
    if (this.#recorder !== undefined) return;
    const { clock } = this.#options;
    this.#since = new Date(clock.now()).toISOString();
    this.#recorder = new Recorder({ clock, emit: (record) => this.#add(record) });
    this.#recorder.follow(informers);
  }

  #add(record: TraceRecord): void {
    const line = traceLine(record);
    this.#lines.push(line);
    this.#characters += line.length;
    const { maxRecords = LIVE_RECORDS, maxCharacters = LIVE_CHARACTERS } = this.#options;
    // Drops records in batches, because each removal moves all others.
    if (this.#lines.length >= maxRecords * 1.1 || this.#characters >= maxCharacters * 1.1)
      this.#dropOldest(maxRecords, maxCharacters);
    if (this.#wake.length === 0) return;
    for (const wake of this.#wake.splice(0)) wake();
  }

  #dropOldest(maxRecords: number, maxCharacters: number): void {
    let surplus = 0;
    while (this.#lines.length - surplus > maxRecords || this.#characters > maxCharacters)
      this.#characters -= this.#lines[surplus++]!.length;
    this.#lines.splice(0, surplus);
    this.#first += surplus;
  }

  /** Resolves at the next record, after the timeout, or when the client disconnects. */
  async #waitForRecords(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.real.setTimer(TRACE_POLL_MS, resolve, { background: true });
    signal?.addEventListener("abort", () => resolve(), { once: true });
    this.#wake.push(resolve);
    await promise;
    timer.cancel();
    this.#wake = this.#wake.filter((wake) => wake !== resolve);
  }
}
