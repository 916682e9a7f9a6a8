import { type ManagerProcess, startManager } from "./manager-process.js";
import type { Scope } from "./scope.js";

export interface Replica {
  readonly process: ManagerProcess;
  isPaused: boolean;
  hasEnded: boolean;
}

/** Any number of sharded managers. Stopped at the end of the test. */
export class ShardedReplicas {
  readonly #scope: Scope;
  readonly #args: readonly string[];
  readonly all: Replica[] = [];

  constructor(scope: Scope, args: readonly string[]) {
    this.#scope = scope;
    this.#args = args;
  }

  /** Managers that are running and not paused. */
  get working(): readonly Replica[] {
    return this.all.filter(({ hasEnded, isPaused }) => !hasEnded && !isPaused);
  }

  /** The logs of all processes. */
  get logs(): string {
    return this.all.map(({ process }) => process.stderr).join("");
  }

  add(): Replica {
    const process = startManager(this.#scope, ["--sharding=namespaces", "--take-over", ...this.#args]);
    const replica: Replica = { process, isPaused: false, hasEnded: false };
    this.all.push(replica);
    void process.exit.then(() => (replica.hasEnded = true));
    return replica;
  }

  async kill({ process }: Replica): Promise<void> {
    process.kill("SIGKILL");
    await process.exit;
  }

  async stop({ process }: Replica): Promise<void> {
    process.kill("SIGTERM");
    await process.exit;
  }

  pause(replica: Replica): void {
    replica.isPaused = true;
    replica.process.kill("SIGSTOP");
  }

  wake(replica: Replica): void {
    replica.isPaused = false;
    replica.process.kill("SIGCONT");
  }

  /** Returns how many times the replicas logged a message. */
  count(message: string): number {
    return this.logs.split(message).length - 1;
  }
}
