import type { ReportData } from "@kubewright/timeline/data";
import type { LiveRun } from "@kubewright/timeline/page";

import { withClockGaps, ReportBuilder } from "@kubewright/analysis/reports";
import type { TraceRecord } from "@kubewright/analysis/trace";
import { type LiveStatus, TRACE_POLL_MS } from "../serve/live-status.js";

/** Follows the trace of a live cluster, and continues after a lost connection. */
export class LiveSource implements LiveRun {
  #builder = new ReportBuilder();
  #status: LiveStatus | undefined;
  #statusAt = 0;
  #next = 0;
  connection: LiveRun["connection"] = "connecting";
  /** Number of records that the server dropped before they were fetched. */
  missed = 0;
  readonly #onChange: () => void;

  /** @param onChange - Called when the data or the connection has changed. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get data(): ReportData {
    const data = this.#builder.data({ endMs: this.nowMs });
    return withClockGaps({
      ...data,
      startMs: this.#status === undefined ? this.nowMs : Date.parse(this.#status.since),
    });
  }

  get status(): LiveStatus | undefined {
    return this.#status;
  }

  /** The cluster's time: the last reported time plus the time elapsed since. */
  get nowMs(): number {
    if (this.#status === undefined) return Date.now();
    const { now, speed } = this.#status;
    const elapsedMs = speed === "manual" ? 0 : (performance.now() - this.#statusAt) * speed;
    return Date.parse(now) + elapsedMs;
  }

  /** Polls the server forever. */
  async run(): Promise<never> {
    for (let failures = 0; ;) {
      try {
        const isNew = await this.#poll();
        failures = 0;
        if (isNew || this.connection !== "connected") {
          this.connection = "connected";
          this.#onChange();
        }
        // Limits the polls to the rate at which the page can draw.
        await sleep(MIN_PAUSE_MS);
      } catch {
        this.connection = "lost";
        this.#onChange();
        await sleep(Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** failures++));
      }
    }
  }

  /**
   * Advances a manual clock.
   *
   * @throws Error with the server's message.
   */
  async advance(seconds: number): Promise<void> {
    const answer = await fetch("../_kubewright/clock/advance", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ seconds }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    const { now } = (await answer.json()) as { now: string };
    if (this.#status !== undefined) this.#setStatus({ ...this.#status, now });
    this.#onChange();
  }

  /** @throws Error when the object does not exist. */
  async object(kind: string, namespace: string, name: string): Promise<unknown> {
    const [root, resource] =
      kind === "Pod" ? ["api/v1", "pods"] : ["apis/batch/v1", kind === "Job" ? "jobs" : "cronjobs"];
    const path = `../${root}/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`;
    const answer = await fetch(path, { headers: { accept: "application/json" } });
    const object = (await answer.json()) as { message?: string; metadata?: Record<string, unknown> };
    if (!answer.ok) throw new Error(object.message ?? answer.statusText);
    delete object.metadata?.["managedFields"];
    return object;
  }

  async #poll(): Promise<boolean> {
    const life = this.#status === undefined ? "" : `&life=${encodeURIComponent(this.#status.life)}`;
    // The timeout detects a server that does not answer.
    const signal = AbortSignal.timeout(TRACE_POLL_MS * 2);
    const answer = await fetch(`../_kubewright/trace?after=${this.#next}${life}`, { signal });
    if (!answer.ok) throw new Error(answer.statusText);
    const [head, ...lines] = (await answer.text()).trimEnd().split("\n");
    const status = JSON.parse(head!) as LiveStatus;
    if (this.#status !== undefined && this.#status.life !== status.life) {
      this.#builder = new ReportBuilder();
      this.missed = 0;
      this.#next = 0;
    }
    if (status.first > this.#next) this.missed += status.first - this.#next;
    this.#next = status.first + lines.length;
    const isNew = lines.length > 0 || this.#status === undefined || status.now !== this.#status.now;
    this.#setStatus(status);
    for (const line of lines) this.#builder.add(JSON.parse(line) as TraceRecord);
    return isNew;
  }

  #setStatus(status: LiveStatus): void {
    this.#status = status;
    this.#statusAt = performance.now();
  }
}

const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
