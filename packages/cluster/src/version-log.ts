import type { ApiServer } from "@kubewright/apiserver";
import type { Clock } from "@kubewright/clock";

/** Records the latest version of the store at each time. */
export class VersionLog {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #timesMs: number[] = [];
  readonly #versions: number[] = [];

  constructor(apiServer: Pick<ApiServer, "follow" | "resourceVersion">, clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#note(Number(apiServer.resourceVersion));
    apiServer.follow(({ resourceVersion }) => this.#note(resourceVersion));
  }

  /** Returns the version the given milliseconds ago, or the first one recorded. */
  versionBefore(agoMs: number): number {
    const thenMs = this.#clock.monotonic() - agoMs;
    let low = 0;
    let high = this.#timesMs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#timesMs[middle]! <= thenMs) low = middle + 1;
      else high = middle;
    }
    return this.#versions[Math.max(0, low - 1)]!;
  }

  #note(version: number): void {
    const nowMs = this.#clock.monotonic();
    const last = this.#timesMs.length - 1;
    if (last >= 0 && this.#timesMs[last] === nowMs) this.#versions[last] = version;
    else {
      this.#timesMs.push(nowMs);
      this.#versions.push(version);
    }
  }
}
