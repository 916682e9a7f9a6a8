import { realClock } from "@kubewright/clock";

import { type ManagerProcess, startManager } from "./manager-process.js";
import type { Scope } from "./scope.js";

const LEADS = "Successfully acquired lease";
const STANDS_BY = "Attempting to acquire leader lease";
const POLL_MS = 10;

export interface Takeover {
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly durationMs: number;
}

interface Replica {
  readonly process: ManagerProcess;
  ended: boolean;
}

/** Two managers, each restarted when it exits. Stopped at the end of the test. */
export class Replicas {
  readonly #scope: Scope;
  readonly #args: readonly string[];
  readonly #slots: Replica[];
  readonly #all: Replica[] = [];
  #over = false;

  constructor(scope: Scope, args: readonly string[]) {
    this.#scope = scope;
    this.#args = args;
    this.#slots = [this.#start(0), this.#start(1)];
    scope.onTestFinished(() => void (this.#over = true));
  }

  /** Ends the leader, and resolves when another process leads. */
  async endLeader(signal: Takeover["signal"]): Promise<Takeover> {
    const leader = await this.#leader();
    // The other replica must be ready, or the measurement would include its start.
    await this.#find((replica) => replica !== leader && replica.process.stderr.includes(STANDS_BY));
    const begin = realClock.monotonic();
    leader.process.kill(signal);
    await this.#find((replica) => replica !== leader && leads(replica));
    return { signal, durationMs: realClock.monotonic() - begin };
  }

  /** The logs of all processes. */
  get logs(): string {
    return this.#all.map(({ process }) => process.stderr).join("");
  }

  /** Number of processes started so far. */
  get started(): number {
    return this.#all.length;
  }

  #leader(): Promise<Replica> {
    return this.#find(leads);
  }

  async #find(fits: (replica: Replica) => boolean): Promise<Replica> {
    for (;;) {
      const found = this.#slots.find((replica) => !replica.ended && fits(replica));
      if (found !== undefined) return found;
      if (this.#over) throw new Error("the test is over");
      await realClock.sleep(POLL_MS);
    }
  }

  #start(slot: number): Replica {
    const replica: Replica = { process: startManager(this.#scope, this.#args), ended: false };
    this.#all.push(replica);
    void replica.process.exit.then(() => {
      replica.ended = true;
      if (!this.#over) this.#slots[slot] = this.#start(slot);
    });
    return replica;
  }
}

function leads({ process }: Replica): boolean {
  return process.stderr.includes(LEADS);
}
