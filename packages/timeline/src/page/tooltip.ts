import { binText } from "./calendar-bins.js";
import { h } from "./dom.js";
import { durationText } from "./duration-text.js";
import { type Item, LOOKS, LOOK_NAMES, hindrance } from "./item.js";
import { itemOutcome, itemTitle, latenessMs } from "./item-text.js";
import type { LaneBin } from "./lane-bins.js";
import type { PageContext } from "./page-context.js";

/** Describes the bar under the pointer, beside the pointer and within the parent element. */
export class Tooltip {
  readonly element = h("div", { class: "tooltip", "aria-hidden": "true" });

  hide(): void {
    this.element.classList.remove("shown");
  }

  /** @param hovered - The item under the pointer, or `undefined`. */
  show(hovered: Item | undefined, event: PointerEvent, context: PageContext): void {
    // Lanes of slots contain copies without a duration.
    const item = hovered === undefined ? undefined : (context.scene.items.get(hovered.id) ?? hovered);
    this.element.classList.toggle("shown", item !== undefined);
    if (item === undefined) return;
    const { zone } = context;
    const late = latenessMs(item);
    const lines =
      item.type === "ghost"
        ? [`due ${zone.minute(item.startMs)}`, item.row.reason]
        : [
            `${zone.second(item.startMs)}, ${durationText(item.endMs - item.startMs)}`,
            late > 0 ? `started ${durationText(late)} after its slot` : "",
            item.type === "run" ? [item.row.reason, item.row.message].filter(Boolean).join(": ") : podLine(item.pod),
            item.type === "run" ? (hindrance(item.row) ?? "") : (item.pod.unschedulable ?? ""),
          ];
    this.element.replaceChildren(
      h("div", { class: `badge ${item.look}` }, itemOutcome(item)),
      h("strong", {}, itemTitle(item)),
      ...lines.filter((line) => line !== "").map((line) => h("div", {}, line)),
    );
    this.#place(event);
  }

  /**
   * @param bin - Items that are too dense to be distinguished.
   * @param unit - Unit of the calendar: `day`.
   */
  showBin({ fromMs, toMs, total, counts }: LaneBin, unit: string, event: PointerEvent, { zone }: PageContext): void {
    const shares = LOOKS.toReversed().flatMap((look) => {
      const count = counts.get(look);
      return count === undefined
        ? []
        : [h("div", { class: `look ${look}` }, `${count.toLocaleString("en")} ${LOOK_NAMES[look].toLowerCase()}`)];
    });
    this.element.classList.add("shown");
    this.element.replaceChildren(
      h("strong", {}, `${total.toLocaleString("en")} in this ${unit}`),
      h("div", {}, binText(fromMs, toMs, unit, zone)),
      ...shares,
      h("div", { class: "muted" }, "Click to come closer"),
    );
    this.#place(event);
  }

  #place(event: PointerEvent): void {
    const box = this.element.parentElement!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const left = Math.max(4, Math.min(x + 14, box.width - this.element.offsetWidth - 8));
    const below = y + 18 + this.element.offsetHeight < box.height;
    this.element.style.transform = `translate(${left}px, ${below ? y + 18 : y - this.element.offsetHeight - 12}px)`;
  }
}

function podLine({ exitCode, node, reason }: { exitCode?: number; node?: string; reason?: string }): string {
  return [exitCode === undefined ? "" : `exit code ${exitCode}`, reason ?? "", node === undefined ? "" : `on ${node}`]
    .filter(Boolean)
    .join(", ");
}
