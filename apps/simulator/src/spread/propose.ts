/** Something that runs again and again, and may begin at another minute of the hour. */
export interface SpreadTask {
  /** When each run begins: minutes since the window began, ascending. */
  readonly starts: readonly number[];
  /** When each is over: minutes since the window began. */
  readonly ends: readonly number[];
  /** Pods of a run. */
  readonly pods: number;
  /** The first minute of the hour at which it begins. */
  readonly minute: number;
  /** What that may be instead. Both `minute`: it stays where it is. */
  readonly earliest: number;
  readonly latest: number;
  /** Whether it runs as often in every hour when it first begins at that minute. */
  readonly keepsHours: (minute: number) => boolean;
}

/** One task begins so many minutes before another, or more. Tasks by their index. */
export interface Precedence {
  readonly before: number;
  readonly after: number;
  readonly gap: number;
}

export interface SpreadPlan {
  /** The first minute of each task. */
  readonly minutes: readonly number[];
  /** The most pods in any minute, with the minutes as they are and as proposed. */
  readonly peakBefore: number;
  readonly peak: number;
}

/** No order of the tasks is possible: these two are what it came up with. */
export class PrecedenceError extends Error {
  override readonly name = "PrecedenceError";

  constructor(readonly precedence: Precedence) {
    super("no minute is left");
  }
}

/** How often all tasks are gone through for one target. */
const PASSES = 6;
/** What is above the target has to shrink so much from one time to the next: else it never will be nothing. */
const LEAST_PROGRESS = 0.8;
/** A share of the peak that is not worth a further search: of a peak below 200, nothing. */
const NEAR_ENOUGH = 1 / 200;

/**
 * New first minutes for tasks, of which few change, so that no minute of the window has more than `target` pods; without
 * a target, or when that is too low, as few as are found. The same tasks give the same plan. Takes time in proportion to the
 * runs and their minutes together, times the logarithm of the peak.
 *
 * @param windowMinutes - Length of the window.
 * @throws PrecedenceError when tasks cannot come in the order that is asked for.
 */
export function propose(
  tasks: readonly SpreadTask[],
  precedences: readonly Precedence[],
  { windowMinutes, target }: { readonly windowMinutes: number; readonly target?: number },
): SpreadPlan {
  const board = new Board(tasks, precedences, windowMinutes);
  const peakBefore = board.peak;
  board.bringIntoOrder();
  const ordered = board.minutes;
  if (target !== undefined && board.settle(target)) {
    board.takeBack(target);
    return { minutes: board.minutes, peakBefore, peak: board.peak };
  }
  const lowest = Math.max(lowestPeak(board), target ?? 0);
  const fresh = board.minutes;
  // From how things are to the same peak: what need not move has not been moved.
  board.restore(ordered);
  if (!board.settle(lowest)) board.restore(fresh);
  board.takeBack(lowest);
  return { minutes: board.minutes, peakBefore, peak: board.peak };
}

/** Leaves the board at the lowest peak that was found. */
function lowestPeak(board: Board): number {
  board.placeAnew();
  let best = board.minutes;
  let high = board.peak;
  let low = board.leastPeak;
  while (high - low > high * NEAR_ENOUGH) {
    const middle = Math.floor((low + high) / 2);
    if (board.settle(middle)) {
      high = board.peak;
      best = board.minutes;
    } else {
      low = middle + 1;
      board.restore(best);
    }
  }
  return high;
}

interface Costs {
  /** Added to the squares of what is above the target. */
  readonly excess: number;
  /** Pods that are there already, summed over its minutes. */
  readonly company: number;
}

class Board {
  readonly #tasks: readonly SpreadTask[];
  readonly #predecessors: readonly (readonly Precedence[])[];
  readonly #successors: readonly (readonly Precedence[])[];
  readonly #load: Int32Array;
  readonly #minutes: number[];

  constructor(tasks: readonly SpreadTask[], precedences: readonly Precedence[], windowMinutes: number) {
    this.#tasks = tasks;
    this.#predecessors = grouped(precedences, tasks.length, ({ after }) => after);
    this.#successors = grouped(precedences, tasks.length, ({ before }) => before);
    this.#load = new Int32Array(windowMinutes);
    this.#minutes = tasks.map(({ minute }) => minute);
    for (const index of tasks.keys()) this.#add(index, 1);
  }

  get minutes(): number[] {
    return [...this.#minutes];
  }

  get peak(): number {
    return this.#load.reduce((most, pods) => Math.max(most, pods), 0);
  }

  /** No plan has a lower one: that of what stays, and of every run alone. */
  get leastPeak(): number {
    const movable = [...this.#tasks.keys()].filter((index) => this.#isMovable(index));
    for (const index of movable) this.#add(index, -1);
    const ofOthers = this.peak;
    for (const index of movable) this.#add(index, 1);
    return movable.reduce((most, index) => {
      const { pods, starts } = this.#tasks[index]!;
      return starts.length > 0 ? Math.max(most, pods) : most;
    }, ofOthers);
  }

  restore(minutes: readonly number[]): void {
    for (const [index, minute] of minutes.entries()) if (this.#minutes[index] !== minute) this.#move(index, minute);
  }

  /** Moves what has to be moved for the order's sake, no further than it must. @throws PrecedenceError */
  bringIntoOrder(): void {
    const order = this.#sorted();
    const latest = this.#tasks.map((task) => task.latest);
    for (const index of [...order].reverse())
      for (const { after, gap } of this.#successors[index]!)
        latest[index] = Math.min(latest[index]!, latest[after]! - gap);
    for (const index of order) {
      const { earliest, keepsHours } = this.#tasks[index]!;
      const predecessors = this.#predecessors[index]!;
      const from = predecessors.reduce(
        (most, { before, gap }) => Math.max(most, this.#minutes[before]! + gap),
        earliest,
      );
      const to = latest[index]!;
      const now = this.#minutes[index]!;
      if (now >= from && now <= to) continue;
      const candidates = now < from ? upwards(from, to) : upwards(from, to).reverse();
      const minute = candidates.find(keepsHours);
      const asked = predecessors[0] ?? this.#successors[index]![0];
      if (minute === undefined && asked !== undefined) throw new PrecedenceError(asked);
      if (minute !== undefined) this.#move(index, minute);
    }
  }

  /** Places everything that may move as if it were new, the largest first, where least goes on. */
  placeAnew(): void {
    const size = ({ pods, starts, ends }: SpreadTask): number =>
      pods * starts.reduce((sum, start, run) => sum + ends[run]! - start, 0);
    const sizes = this.#tasks.map(size);
    const order = [...this.#tasks.keys()]
      .filter((index) => this.#isMovable(index))
      .sort((a, b) => sizes[b]! - sizes[a]! || a - b);
    for (const index of order) this.#add(index, -1);
    for (const index of order) {
      this.#minutes[index] = this.#best(index, 0) ?? this.#minutes[index]!;
      this.#add(index, 1);
    }
  }

  /** Moves tasks out of minutes with more than `target` pods, first those that bring most. @returns Whether none is left. */
  settle(target: number): boolean {
    let excess = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < PASSES; pass++) {
      const relief = this.#reliefs(target);
      const order = [...this.#tasks.keys()]
        .filter((index) => relief[index]! > 0 && this.#isMovable(index))
        .sort((a, b) => relief[b]! - relief[a]! || a - b);
      let hasMoved = false;
      for (const index of order) {
        if (!this.#isAbove(index, target)) continue;
        this.#add(index, -1);
        const now = this.#minutes[index]!;
        // At first nothing is moved that would have to be moved again.
        const minute = this.#best(index, target, { mustFit: pass === 0 });
        if (minute !== undefined && minute !== now) {
          this.#minutes[index] = minute;
          hasMoved = true;
        }
        this.#add(index, 1);
      }
      const left = this.#load.reduce((sum, pods) => sum + Math.max(0, pods - target), 0);
      if (left === 0) return true;
      if (pass > 0 && (!hasMoved || left > excess * LEAST_PROGRESS)) return false;
      excess = left;
    }
    return false;
  }

  /** Puts back what the target does not need to be moved. */
  takeBack(target: number): void {
    for (const [index, { minute }] of this.#tasks.entries()) {
      const now = this.#minutes[index]!;
      const [from, to] = this.#range(index);
      if (now === minute || minute < from || minute > to) continue;
      this.#move(index, minute);
      if (this.#isAbove(index, target)) this.#move(index, now);
    }
  }

  /** Where a task, which is not on the board, costs least; of equals, nearest to where it was. */
  #best(index: number, target: number, { mustFit = false } = {}): number | undefined {
    const { minute: original, keepsHours } = this.#tasks[index]!;
    const now = this.#minutes[index]!;
    const [from, to] = this.#range(index);
    if (from > to) return undefined;
    const costs = this.#costs(index, { from, to, target });
    const before = now >= from && now <= to ? costs[now - from] : undefined;
    const candidates = upwards(from, to).sort((a, b) => {
      const [ofA, ofB] = [costs[a - from]!, costs[b - from]!];
      return (
        ofA.excess - ofB.excess || ofA.company - ofB.company || Math.abs(a - original) - Math.abs(b - original) || a - b
      );
    });
    for (const minute of candidates) {
      const { excess } = costs[minute - from]!;
      if (mustFit && excess > 0) return undefined;
      if (target > 0 && before !== undefined && excess >= before.excess) return undefined;
      if (minute === now || keepsHours(minute)) return minute;
    }
    return undefined;
  }

  /** What it would cost to begin at each minute. From one to the next every run gains a minute at its end and loses its first. */
  #costs(
    index: number,
    { from, to, target }: { readonly from: number; readonly to: number; readonly target: number },
  ): Costs[] {
    const { starts, ends, pods, minute } = this.#tasks[index]!;
    const load = this.#load;
    const costs: Costs[] = [];
    let excess = 0;
    let company = 0;
    const count = (at: number, sign: 1 | -1): void => {
      const there = load[at];
      if (there === undefined) return;
      const above = Math.max(0, there - target);
      const then = Math.max(0, there + pods - target);
      excess += sign * (then * then - above * above);
      company += sign * there;
    };
    for (let at = from; at <= to; at++) {
      const by = at - minute;
      for (let run = 0; run < starts.length; run++) {
        const start = starts[run]! + by;
        const end = ends[run]! + by;
        if (at > from) {
          count(start - 1, -1);
          count(end - 1, 1);
        } else for (let each = start; each < end; each++) count(each, 1);
      }
      costs.push({ excess, company });
    }
    return costs;
  }

  /** What the order leaves of the minutes at which a task may begin, the others being where they are. */
  #range(index: number): readonly [number, number] {
    const { earliest, latest } = this.#tasks[index]!;
    return [
      this.#predecessors[index]!.reduce(
        (most, { before, gap }) => Math.max(most, this.#minutes[before]! + gap),
        earliest,
      ),
      this.#successors[index]!.reduce((least, { after, gap }) => Math.min(least, this.#minutes[after]! - gap), latest),
    ];
  }

  #isMovable(index: number): boolean {
    const { earliest, latest } = this.#tasks[index]!;
    return earliest < latest;
  }

  /** Of each task: its pods, in minutes with more than `target`. */
  #reliefs(target: number): number[] {
    const above = new Int32Array(this.#load.length + 1);
    for (const [minute, pods] of this.#load.entries()) above[minute + 1] = above[minute]! + (pods > target ? 1 : 0);
    const until = (minute: number): number => above[Math.min(this.#load.length, Math.max(0, minute))]!;
    return this.#tasks.map(({ starts, ends, minute, pods }, index) => {
      const by = this.#minutes[index]! - minute;
      return pods * starts.reduce((sum, start, run) => sum + until(ends[run]! + by) - until(start + by), 0);
    });
  }

  /** Whether any minute of a task has more than `target` pods. */
  #isAbove(index: number, target: number): boolean {
    const { starts, ends, minute } = this.#tasks[index]!;
    const by = this.#minutes[index]! - minute;
    for (let run = 0; run < starts.length; run++)
      for (let at = starts[run]! + by; at < ends[run]! + by; at++) if ((this.#load[at] ?? 0) > target) return true;
    return false;
  }

  #move(index: number, minute: number): void {
    this.#add(index, -1);
    this.#minutes[index] = minute;
    this.#add(index, 1);
  }

  #add(index: number, sign: 1 | -1): void {
    const { starts, ends, pods, minute } = this.#tasks[index]!;
    const by = this.#minutes[index]! - minute;
    const load = this.#load;
    for (let run = 0; run < starts.length; run++) {
      const end = Math.min(load.length, ends[run]! + by);
      for (let at = Math.max(0, starts[run]! + by); at < end; at++) load[at]! += sign * pods;
    }
  }

  /** Every task after those that come before it. @throws PrecedenceError for a circle. */
  #sorted(): number[] {
    const open = this.#predecessors.map((list) => list.length);
    const order = [...open.keys()].filter((index) => open[index] === 0);
    for (const index of order)
      for (const { after } of this.#successors[index]!) if (--open[after]! === 0) order.push(after);
    const stuck = open.findIndex((count) => count > 0);
    if (stuck >= 0) throw new PrecedenceError(this.#predecessors[stuck]![0]!);
    return order;
  }
}

function grouped(
  precedences: readonly Precedence[],
  count: number,
  by: (precedence: Precedence) => number,
): readonly (readonly Precedence[])[] {
  const groups: Precedence[][] = Array.from({ length: count }, () => []);
  for (const precedence of precedences) groups[by(precedence)]!.push(precedence);
  return groups;
}

function upwards(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
