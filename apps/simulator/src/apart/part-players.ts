import { PlayedPart, type PartEnd, type PartWishes } from "./played-part.js";
import type { PartChunk } from "./part-chunk.js";
import type { Part } from "./split.js";

/** Plays some of the parts, in turn, in one thread. */
export interface PartPlayer {
  /** Plays all of them on until then, in milliseconds since the start. Answers in the order in which it is asked. */
  play(untilMs: number): Promise<readonly PartChunk[]>;
  /** Ends all of them where they are. */
  end(): Promise<readonly PartEnd[]>;
}

/** Threads that play parts. */
export interface PartPlayers {
  readonly players: readonly PartPlayer[];
  /** Ends them, also in the middle of their work. */
  close(): Promise<void>;
}

/** @param shares - The parts of each player. */
export type StartPartPlayers = (shares: readonly (readonly Part[])[], wishes: PartWishes) => PartPlayers;

/** The player of this thread. */
export class ThreadPartPlayer implements PartPlayer {
  readonly #parts: readonly PlayedPart[];
  readonly #onPart: (place: number) => void;
  /** What was asked last: the next waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param onPart - Told the place of each part before it is played on. */
  constructor(parts: readonly Part[], wishes: PartWishes, onPart: (place: number) => void = () => {}) {
    this.#parts = parts.map((part) => new PlayedPart(part, wishes));
    this.#onPart = onPart;
  }

  play(untilMs: number): Promise<readonly PartChunk[]> {
    return this.#each((part) => part.play(untilMs));
  }

  end(): Promise<readonly PartEnd[]> {
    return this.#each((part) => part.end());
  }

  #each<T>(ask: (part: PlayedPart) => Promise<T>): Promise<T[]> {
    const asked = this.#last.then(async () => {
      const answers: T[] = [];
      for (const [place, part] of this.#parts.entries()) {
        this.#onPart(place);
        answers.push(await ask(part));
      }
      return answers;
    });
    this.#last = asked.catch(() => {});
    return asked;
  }
}

/** All of them in this thread, one after the other: it can hold the clusters of all, but plays one at a time. */
export const partsInThisThread: StartPartPlayers = (shares, wishes) => {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(ask: () => Promise<T>): Promise<T> => {
    const asked = last.then(ask);
    last = asked.catch(() => {});
    return asked;
  };
  const players = shares.map((parts) => {
    const player = new ThreadPartPlayer(parts, wishes);
    return { play: (untilMs: number) => inTurn(() => player.play(untilMs)), end: () => inTurn(() => player.end()) };
  });
  return { players, close: async () => {} };
};
