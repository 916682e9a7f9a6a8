import { type PodBar, rowTime, type RunRow, type TimelineGroup, type TimelineRow } from "@kubewright/timeline/data";

export interface TimelineLimits {
  /**
   * Maximum number of rows stored per group. Default 200: enough for a terminal, and a documented bound for a year of
   * runs.
   */
  readonly maxRows?: number;
  /** Maximum number of pods stored per row. Default 50. */
  readonly maxPods?: number;
  /** Maximum number of rows and pods stored in all groups together. Default: unlimited. */
  readonly maxBars?: number;
  /** Receives every row, including rows that are not stored. Default: none. */
  readonly listener?: TimelineListener;
}

/** Receives rows one by one. The timeline owns them, and changes a run's row until the run is settled. */
export interface TimelineListener {
  groupAdded(group: TimelineGroup): void;
  rowAdded(group: TimelineGroup, row: TimelineRow): void;
  /** Called when the run's Job was deleted before its end. The row is settled once the reason is known. */
  runDeleted?(group: TimelineGroup): void;
  /** Called once for every row, when the run has ended or the window ends. */
  rowSettled(group: TimelineGroup, row: TimelineRow): void;
}

/** Stores groups, rows and pods up to the limits, and notifies a listener of all of them. */
export class BoundedRows {
  readonly groups: TimelineGroup[] = [];
  readonly #maxRows: number;
  readonly #maxPods: number;
  readonly #listener: TimelineListener | undefined;
  #barsLeft: number;

  constructor({ maxRows = 200, maxPods = 50, maxBars = Infinity, listener }: TimelineLimits) {
    this.#maxRows = maxRows;
    this.#maxPods = maxPods;
    this.#barsLeft = maxBars;
    this.#listener = listener;
  }

  addGroup(facts: Pick<TimelineGroup, "kind" | "uid" | "namespace" | "name">): TimelineGroup {
    const { kind, uid, namespace, name } = facts;
    const group: TimelineGroup = { kind, uid, namespace, name, rows: [], hiddenRows: 0 };
    this.groups.push(group);
    this.#listener?.groupAdded(group);
    return group;
  }

  addRow(group: TimelineGroup, row: TimelineRow): void {
    this.#listener?.rowAdded(group, row);
    if (group.rows.length >= this.#maxRows || this.#barsLeft === 0) {
      group.hiddenRows++;
      return;
    }
    this.#barsLeft--;
    const time = rowTime(row);
    let index = group.rows.length;
    while (index > 0 && rowTime(group.rows[index - 1]!) > time) index--;
    group.rows.splice(index, 0, row);
  }

  addPod(run: RunRow, bar: PodBar): void {
    if (run.pods.length < this.#maxPods && this.#barsLeft > 0) {
      this.#barsLeft--;
      run.pods.push(bar);
    } else run.hiddenPods++;
  }

  runDeleted(group: TimelineGroup): void {
    this.#listener?.runDeleted?.(group);
  }

  settle(group: TimelineGroup, row: TimelineRow): void {
    this.#listener?.rowSettled(group, row);
  }
}
