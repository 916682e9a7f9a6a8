/** A recurring task that may start at another minute of the hour. */
export interface SpreadTask {
  /** Starts of the runs: minutes since the start of the window, ascending. */
  readonly starts: readonly number[];
  /** Ends of the runs: minutes since the start of the window. */
  readonly ends: readonly number[];
  /** Pods per run. */
  readonly pods: number;
  /** First minute of the hour at which it starts. */
  readonly minute: number;
  /** Range of that minute. A task with both equal to `minute` cannot move. */
  readonly earliest: number;
  readonly latest: number;
  /** Returns whether it runs as often in every hour if its first minute is the given one. */
  readonly runsInSameHours: (minute: number) => boolean;
}

/** One task starts at least `gap` minutes before another. Tasks are indexes. */
export interface Precedence {
  readonly before: number;
  readonly after: number;
  readonly gap: number;
}

export interface SpreadPlan {
  /** First minute of each task. */
  readonly minutes: readonly number[];
  /** Maximum number of pods in a minute, with the current minutes and with the proposed ones. */
  readonly peakBefore: number;
  readonly peak: number;
}

/** Thrown when no order of the tasks satisfies all precedences. Names one that cannot be satisfied. */
export class PrecedenceError extends Error {
  override readonly name = "PrecedenceError";

  constructor(readonly precedence: Precedence) {
    super("no minute is left");
  }
}

/** Maximum number of passes over all tasks for one target. */
const PASSES = 6;
/** The excess over the target must shrink to this fraction in each pass; otherwise the search stops. */
const MIN_PROGRESS = 0.8;
/** Fraction of the peak at which the search ends. Below a peak of 200 the search is exact. */
const SEARCH_TOLERANCE = 1 / 200;

/**
 * Proposes first minutes for tasks, with few changes, so that no minute of the window has more than `target` pods.
 * Without a reachable target it proposes the lowest peak that it finds. The same tasks give the same plan. Takes time
 * proportional to the run minutes times the logarithm of the peak.
 *
 * @param windowMinutes - Length of the window.
 * @throws PrecedenceError when the precedences cannot be satisfied.
 */
export function proposeMinutes(
  tasks: readonly SpreadTask[],
  precedences: readonly Precedence[],
  { windowMinutes, target }: { readonly windowMinutes: number; readonly target?: number },
): SpreadPlan {
  const placement = new Placement(tasks, precedences, windowMinutes);
  const peakBefore = placement.peak;
  placement.enforcePrecedences();
  const ordered = placement.minutes;
  if (target !== undefined && placement.reducePeak(target)) {
    placement.undoUnneededMoves(target);
    return { minutes: placement.minutes, peakBefore, peak: placement.peak };
  }
  const lowest = Math.max(lowestPeak(placement), target ?? 0);
  const lowestMinutes = placement.minutes;
  // Starts again from the current minutes with the lowest peak as the target, so that fewer tasks move.
  placement.restore(ordered);
  if (!placement.reducePeak(lowest)) placement.restore(lowestMinutes);
  placement.undoUnneededMoves(lowest);
  return { minutes: placement.minutes, peakBefore, peak: placement.peak };
}

/** Searches the lowest peak, and leaves the placement there. */
function lowestPeak(placement: Placement): number {
  placement.placeAll();
  let best = placement.minutes;
  let high = placement.peak;
  let low = placement.minPeak;
  while (high - low > high * SEARCH_TOLERANCE) {
    const middle = Math.floor((low + high) / 2);
    if (placement.reducePeak(middle)) {
      high = placement.peak;
      best = placement.minutes;
    } else {
      low = middle + 1;
      placement.restore(best);
    }
  }
  return high;
}

interface Costs {
  /** Increase of the sum of squares of the excess over the target. */
  readonly excess: number;
  /** Pods of other tasks, summed over the task's minutes. */
  readonly occupancy: number;
}

class Placement {
  readonly #tasks: readonly SpreadTask[];
  readonly #predecessors: readonly (readonly Precedence[])[];
  readonly #successors: readonly (readonly Precedence[])[];
  readonly #load: Int32Array;
  readonly #minutes: number[];

  constructor(tasks: readonly SpreadTask[], precedences: readonly Precedence[], windowMinutes: number) {
    this.#tasks = tasks;
    this.#predecessors = groupBy(precedences, tasks.length, ({ after }) => after);
    this.#successors = groupBy(precedences, tasks.length, ({ before }) => before);
    this.#load = new Int32Array(windowMinutes);
    this.#minutes = tasks.map(({ minute }) => minute);
    for (const index of tasks.keys()) this.#add(index, 1);
  }

  get minutes(): number[] {
    return [...this.#minutes];
  }

  get peak(): number {
    return this.#load.reduce((max, pods) => Math.max(max, pods), 0);
  }

  /** Lower bound of the peak of any plan: the peak of the immovable tasks, and of every single run. */
  get minPeak(): number {
    const movable = [...this.#tasks.keys()].filter((index) => this.#isMovable(index));
    for (const index of movable) this.#add(index, -1);
    const fixedPeak = this.peak;
    for (const index of movable) this.#add(index, 1);
    return movable.reduce((max, index) => {
      const { pods, starts } = this.#tasks[index]!;
      return starts.length > 0 ? Math.max(max, pods) : max;
    }, fixedPeak);
  }

  restore(minutes: readonly number[]): void {
    for (const [index, minute] of minutes.entries()) if (this.#minutes[index] !== minute) this.#move(index, minute);
  }

  /** Moves the tasks that violate the order, no further than needed. @throws PrecedenceError */
  enforcePrecedences(): void {
    const order = this.#topologicalOrder();
    const latest = this.#tasks.map((task) => task.latest);
    for (const index of [...order].reverse())
      for (const { after, gap } of this.#successors[index]!)
        latest[index] = Math.min(latest[index]!, latest[after]! - gap);
    for (const index of order) {
      const { earliest, runsInSameHours } = this.#tasks[index]!;
      const predecessors = this.#predecessors[index]!;
      const from = predecessors.reduce((max, { before, gap }) => Math.max(max, this.#minutes[before]! + gap), earliest);
      const to = latest[index]!;
      const current = this.#minutes[index]!;
      if (current >= from && current <= to) continue;
      const candidates = current < from ? integersFrom(from, to) : integersFrom(from, to).reverse();
      const minute = candidates.find(runsInSameHours);
      const violated = predecessors[0] ?? this.#successors[index]![0];
      if (minute === undefined && violated !== undefined) throw new PrecedenceError(violated);
      if (minute !== undefined) this.#move(index, minute);
    }
  }

  /** Places all movable tasks from scratch, the largest first, each where the load is lowest. */
  placeAll(): void {
    const size = ({ pods, starts, ends }: SpreadTask): number =>
      pods * starts.reduce((sum, start, run) => sum + ends[run]! - start, 0);
    const sizes = this.#tasks.map(size);
    const order = [...this.#tasks.keys()]
      .filter((index) => this.#isMovable(index))
      .sort((a, b) => sizes[b]! - sizes[a]! || a - b);
    for (const index of order) this.#add(index, -1);
    for (const index of order) {
      this.#minutes[index] = this.#bestMinute(index, 0) ?? this.#minutes[index]!;
      this.#add(index, 1);
    }
  }

  /**
   * Moves tasks out of minutes with more than `target` pods, those with the most such pods first. @returns Whether no
   * such minute is left.
   */
  reducePeak(target: number): boolean {
    let excess = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < PASSES; pass++) {
      const podMinutes = this.#podMinutesAbove(target);
      const order = [...this.#tasks.keys()]
        .filter((index) => podMinutes[index]! > 0 && this.#isMovable(index))
        .sort((a, b) => podMinutes[b]! - podMinutes[a]! || a - b);
      let hasMoved = false;
      for (const index of order) {
        if (!this.#exceeds(index, target)) continue;
        this.#add(index, -1);
        const current = this.#minutes[index]!;
        // The first pass moves only tasks that fit completely, so that none must be moved again.
        const minute = this.#bestMinute(index, target, { mustFit: pass === 0 });
        if (minute !== undefined && minute !== current) {
          this.#minutes[index] = minute;
          hasMoved = true;
        }
        this.#add(index, 1);
      }
      const remaining = this.#load.reduce((sum, pods) => sum + Math.max(0, pods - target), 0);
      if (remaining === 0) return true;
      if (pass > 0 && (!hasMoved || remaining > excess * MIN_PROGRESS)) return false;
      excess = remaining;
    }
    return false;
  }

  /** Restores the original minute of each task where the target permits it. */
  undoUnneededMoves(target: number): void {
    for (const [index, { minute }] of this.#tasks.entries()) {
      const current = this.#minutes[index]!;
      const [from, to] = this.#range(index);
      if (current === minute || minute < from || minute > to) continue;
      this.#move(index, minute);
      if (this.#exceeds(index, target)) this.#move(index, current);
    }
  }

  /** Returns the cheapest minute of a task that is not in the load; of equals, the one nearest to the original. */
  #bestMinute(index: number, target: number, { mustFit = false } = {}): number | undefined {
    const { minute: original, runsInSameHours } = this.#tasks[index]!;
    const current = this.#minutes[index]!;
    const [from, to] = this.#range(index);
    if (from > to) return undefined;
    const costs = this.#costs(index, { from, to, target });
    const currentCosts = current >= from && current <= to ? costs[current - from] : undefined;
    const candidates = integersFrom(from, to).sort((a, b) => {
      const [costsA, costsB] = [costs[a - from]!, costs[b - from]!];
      return (
        costsA.excess - costsB.excess ||
        costsA.occupancy - costsB.occupancy ||
        Math.abs(a - original) - Math.abs(b - original) ||
        a - b
      );
    });
    for (const minute of candidates) {
      const { excess } = costs[minute - from]!;
      if (mustFit && excess > 0) return undefined;
      if (target > 0 && currentCosts !== undefined && excess >= currentCosts.excess) return undefined;
      if (minute === current || runsInSameHours(minute)) return minute;
    }
    return undefined;
  }

  /**
   * Returns the costs of each start minute. From one to the next, every run gains a minute at its end and loses its
   * first.
   */
  #costs(
    index: number,
    { from, to, target }: { readonly from: number; readonly to: number; readonly target: number },
  ): Costs[] {
    const { starts, ends, pods, minute } = this.#tasks[index]!;
    const load = this.#load;
    const costs: Costs[] = [];
    let excess = 0;
    let occupancy = 0;
    const count = (at: number, sign: 1 | -1): void => {
      const podsAt = load[at];
      if (podsAt === undefined) return;
      const excessBefore = Math.max(0, podsAt - target);
      const excessAfter = Math.max(0, podsAt + pods - target);
      excess += sign * (excessAfter * excessAfter - excessBefore * excessBefore);
      occupancy += sign * podsAt;
    };
    for (let at = from; at <= to; at++) {
      const shift = at - minute;
      for (let run = 0; run < starts.length; run++) {
        const start = starts[run]! + shift;
        const end = ends[run]! + shift;
        if (at > from) {
          count(start - 1, -1);
          count(end - 1, 1);
        } else for (let each = start; each < end; each++) count(each, 1);
      }
      costs.push({ excess, occupancy });
    }
    return costs;
  }

  /** Returns the range of start minutes that the precedences permit, with the other tasks where they are. */
  #range(index: number): readonly [number, number] {
    const { earliest, latest } = this.#tasks[index]!;
    return [
      this.#predecessors[index]!.reduce(
        (max, { before, gap }) => Math.max(max, this.#minutes[before]! + gap),
        earliest,
      ),
      this.#successors[index]!.reduce((min, { after, gap }) => Math.min(min, this.#minutes[after]! - gap), latest),
    ];
  }

  #isMovable(index: number): boolean {
    const { earliest, latest } = this.#tasks[index]!;
    return earliest < latest;
  }

  /** Returns for each task its pods in minutes with more than `target`. */
  #podMinutesAbove(target: number): number[] {
    const above = new Int32Array(this.#load.length + 1);
    for (const [minute, pods] of this.#load.entries()) above[minute + 1] = above[minute]! + (pods > target ? 1 : 0);
    const minutesAboveUntil = (minute: number): number => above[Math.min(this.#load.length, Math.max(0, minute))]!;
    return this.#tasks.map(({ starts, ends, minute, pods }, index) => {
      const shift = this.#minutes[index]! - minute;
      return (
        pods *
        starts.reduce(
          (sum, start, run) => sum + minutesAboveUntil(ends[run]! + shift) - minutesAboveUntil(start + shift),
          0,
        )
      );
    });
  }

  /** Returns whether a minute of a task has more than `target` pods. */
  #exceeds(index: number, target: number): boolean {
    const { starts, ends, minute } = this.#tasks[index]!;
    const shift = this.#minutes[index]! - minute;
    for (let run = 0; run < starts.length; run++)
      for (let at = starts[run]! + shift; at < ends[run]! + shift; at++)
        if ((this.#load[at] ?? 0) > target) return true;
    return false;
  }

  #move(index: number, minute: number): void {
    this.#add(index, -1);
    this.#minutes[index] = minute;
    this.#add(index, 1);
  }

  #add(index: number, sign: 1 | -1): void {
    const { starts, ends, pods, minute } = this.#tasks[index]!;
    const shift = this.#minutes[index]! - minute;
    const load = this.#load;
    for (let run = 0; run < starts.length; run++) {
      const end = Math.min(load.length, ends[run]! + shift);
      for (let at = Math.max(0, starts[run]! + shift); at < end; at++) load[at]! += sign * pods;
    }
  }

  /** Returns the tasks in topological order. @throws PrecedenceError for a cycle. */
  #topologicalOrder(): number[] {
    const openPredecessors = this.#predecessors.map((list) => list.length);
    const order = [...openPredecessors.keys()].filter((index) => openPredecessors[index] === 0);
    for (const index of order)
      for (const { after } of this.#successors[index]!) if (--openPredecessors[after]! === 0) order.push(after);
    const inCycle = openPredecessors.findIndex((count) => count > 0);
    if (inCycle >= 0) throw new PrecedenceError(this.#predecessors[inCycle]![0]!);
    return order;
  }
}

function groupBy(
  precedences: readonly Precedence[],
  count: number,
  by: (precedence: Precedence) => number,
): readonly (readonly Precedence[])[] {
  const groups: Precedence[][] = Array.from({ length: count }, () => []);
  for (const precedence of precedences) groups[by(precedence)]!.push(precedence);
  return groups;
}

function integersFrom(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
