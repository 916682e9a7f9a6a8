import type { Item } from "./item.js";
import { itemSummary } from "./item-text.js";
import { lowerBound } from "./lane.js";
import type { PageContext } from "./page-context.js";
import type { SceneRow } from "./scene.js";

/** Description of the keys of {@link RowKeys.press}, for screen readers. */
export const KEYS =
  "Left and right arrow: previous and next run. Up and down: other rows. Enter: details. Plus and minus: zoom. 0: everything. Shift with left and right: move the window.";

/** Moves the selection between bars with the keyboard. */
export class RowKeys {
  readonly #context: PageContext;
  readonly #topRow: () => SceneRow | undefined;
  readonly #openDetails: () => void;
  /** The row of the last selection: an item may be in several rows. */
  #latestRow: string | undefined;

  /** @param topRow - The first visible row, where keyboard navigation starts. */
  constructor(context: PageContext, topRow: () => SceneRow | undefined, openDetails: () => void) {
    this.#context = context;
    this.#topRow = topRow;
    this.#openDetails = openDetails;
  }

  select(item: Item, row: SceneRow): void {
    this.#latestRow = row.id;
    // Lanes of slots contain copies without a duration.
    this.#context.select(this.#context.scene.items.get(item.id) ?? item);
    this.#context.announce(itemSummary(item, this.#context.zone), { isVisible: false });
  }

  rowOf(item: Item): SceneRow | undefined {
    const { rows } = this.#context.scene;
    const holds = (row: SceneRow): boolean => row.lanes.some((lane) => lane.find(item) !== undefined);
    const known = rows.find((row) => row.id === this.#latestRow);
    return known !== undefined && holds(known) ? known : rows.find((row) => row.group === item.group && holds(row));
  }

  press(event: KeyboardEvent): void {
    const { scene, state } = this.#context;
    const selected = state.selected === undefined ? undefined : scene.items.get(state.selected);
    const row = (selected === undefined ? undefined : this.rowOf(selected)) ?? this.#topRow() ?? scene.rows[0];
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight": {
        const step = event.key === "ArrowRight" ? 1 : -1;
        if (event.shiftKey) this.#context.panBy(step / 5);
        else if (row !== undefined) this.#step(row, selected, step);
        break;
      }
      case "ArrowUp":
      case "ArrowDown":
        if (row !== undefined) this.#changeRow(row, selected, event.key === "ArrowDown" ? 1 : -1);
        break;
      case "Home":
      case "End": {
        const item = row === undefined ? undefined : inOrder(row).at(event.key === "Home" ? 0 : -1);
        if (row !== undefined && item !== undefined) this.select(item, row);
        break;
      }
      case "Enter":
        if (selected !== undefined) this.#openDetails();
        break;
      case "Escape":
        this.#context.select(undefined);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #step(row: SceneRow, selected: Item | undefined, step: 1 | -1): void {
    const items = inOrder(row);
    const { cursorMs, fromMs } = this.#context.state;
    const index = selected === undefined ? -1 : items.findIndex(({ id }) => id === selected.id);
    const next =
      index >= 0
        ? items[index + step]
        : items[
            lowerBound(
              items.map(({ startMs }) => startMs),
              cursorMs ?? fromMs,
            ) - (step === 1 ? 0 : 1)
          ];
    if (next === undefined) this.#context.announce(step === 1 ? "Last run of this row" : "First run of this row");
    else this.select(next, row);
  }

  #changeRow(row: SceneRow, selected: Item | undefined, step: 1 | -1): void {
    const { rows } = this.#context.scene;
    const atMs = selected?.startMs ?? this.#context.state.cursorMs ?? this.#context.state.fromMs;
    for (let index = rows.indexOf(row) + step; index >= 0 && index < rows.length; index += step) {
      const items = inOrder(rows[index]!);
      if (items.length === 0) continue;
      const after = lowerBound(
        items.map(({ startMs }) => startMs),
        atMs,
      );
      const [before, next] = [items[after - 1], items[after]];
      const nearest =
        next === undefined || (before !== undefined && atMs - before.startMs < next.startMs - atMs) ? before : next;
      this.select(nearest!, rows[index]!);
      return;
    }
  }
}

/** Returns all bars of a row, sorted by start. */
function inOrder({ lanes }: SceneRow): readonly Item[] {
  if (lanes.length === 1) return lanes[0]!.items;
  return lanes.flatMap(({ items }) => items).sort((a, b) => a.startMs - b.startMs);
}
