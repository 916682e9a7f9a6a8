import { type PodBar, rowTime, type RunRow, type TimelineGroup, type TimelineRow } from "@kubewright/timeline/data";

export interface TimelineLimits {
  /** Rows kept per group. Default 200: enough for a terminal, and a stated bound for a year of runs. */
  readonly maxRows?: number;
  /** Pods kept per row. Default 50. */
  readonly maxPods?: number;
  /** Rows and pods kept of all groups together. Default: no further bound. */
  readonly maxBars?: number;
  /** Is told of every row, also of those that are not kept. Default: nobody is. */
  readonly listener?: TimelineListener;
}

/** Hears of rows one by one. They stay the timeline's: until a run is settled its row changes. */
export interface TimelineListener {
  groupAdded(group: TimelineGroup): void;
  rowAdded(group: TimelineGroup, row: TimelineRow): void;
  /** The run's Job was deleted before its end. It is settled once it is known why. */
  runDeleted?(group: TimelineGroup): void;
  /** The run is over, by its own end or by that of the window. Comes once for every row. */
  rowSettled(group: TimelineGroup, row: TimelineRow): void;
}

/** Takes groups, rows and pods as they come, keeps as many as there may be, and tells a listener of all of them. */
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
