import { type ManagerProcess, startManager } from "./manager-process.js";
import type { Scope } from "./scope.js";

export interface Replica {
  readonly process: ManagerProcess;
  isPaused: boolean;
  hasEnded: boolean;
}

/** Managers that share work, as many as a test wants. Gone with the test. */
export class ShardedReplicas {
  readonly #scope: Scope;
  readonly #args: readonly string[];
  readonly all: Replica[] = [];

  constructor(scope: Scope, args: readonly string[]) {
    this.#scope = scope;
    this.#args = args;
  }

  /** Those that run, and are not paused. */
  get working(): readonly Replica[] {
    return this.all.filter(({ hasEnded, isPaused }) => !hasEnded && !isPaused);
  }

  /** Everything any of them logged. */
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

  /** How many times any of them logged a message. */
  count(message: string): number {
    return this.logs.split(message).length - 1;
  }
}
