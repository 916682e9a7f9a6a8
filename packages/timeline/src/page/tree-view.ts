import { h, icon, addListener } from "./dom.js";
import type { PageContext } from "./page-context.js";
import type { SceneRow } from "./scene.js";

const TWISTY = "M6 4l4 4-4 4";

/** The tree beside the lanes: CronJobs, their Jobs, their pods. Only visible rows are in the document. */
export class TreeView {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #rows = new Map<string, HTMLElement>();
  /** The single row in the tab order. */
  #active: string | undefined;

  constructor(context: PageContext) {
    this.#context = context;
    this.element = h("div", { class: "tree", role: "tree", "aria-label": "CronJobs, Jobs and pods" });
  }

  render(scrollTop: number, height: number): void {
    const { rows, height: total } = this.#context.scene;
    this.element.style.height = `${total}px`;
    const visible = rows.filter(
      (row) => row.top + row.height > scrollTop - OVERSCAN && row.top < scrollTop + height + OVERSCAN,
    );
    const ids = new Set(visible.map(({ id }) => id));
    for (const [id, element] of this.#rows) {
      if (ids.has(id)) continue;
      element.remove();
      this.#rows.delete(id);
    }
    if (this.#active === undefined || !rows.some(({ id }) => id === this.#active)) this.#active = rows[0]?.id;
    for (const row of visible) this.#renderRow(row);
  }

  focusRow(id: string): void {
    this.#active = id;
    for (const [other, element] of this.#rows) element.tabIndex = other === id ? 0 : -1;
    this.#rows.get(id)?.focus();
  }

  #renderRow(row: SceneRow): void {
    let element = this.#rows.get(row.id);
    if (element === undefined) {
      element = h("div", { class: `row level-${row.level}`, role: "treeitem", "aria-level": row.level });
      addListener(element, {
        onclick: (event) => this.#clicked(row.id, event),
        onkeydown: (event) => this.#pressed(row.id, event),
        onfocus: () => (this.#active = row.id),
      });
      this.#rows.set(row.id, element);
      this.element.append(element);
    }
    element.style.top = `${row.top}px`;
    element.style.height = `${row.height}px`;
    element.classList.toggle("centered", row.lanes.length < 2);
    element.classList.toggle("tall", row.height >= TALL_PX);
    element.tabIndex = row.id === this.#active ? 0 : -1;
    element.setAttribute("aria-selected", String(this.#context.state.selected === row.id));
    if (row.expanded === undefined) element.removeAttribute("aria-expanded");
    else element.setAttribute("aria-expanded", String(row.expanded));
    const text = `${row.label}\n${row.note}\n${row.expanded === undefined}`;
    if (element.dataset["text"] === text) return;
    element.dataset["text"] = text;
    element.title = row.level === 1 ? rowTitle(row) : "";
    element.replaceChildren(
      h("span", { class: "twisty" }, row.expanded === undefined ? undefined : icon(TWISTY, 14)),
      row.level === 1
        ? h(
            "span",
            { class: "names" },
            h("span", { class: "name" }, row.label),
            h("span", { class: "note" }, row.note === "" ? `${row.group.kind} in ${row.group.namespace}` : row.note),
          )
        : h("span", { class: "names line" }, h("span", {}, row.label), h("span", { class: "note" }, row.note)),
    );
  }

  #row(id: string): { row: SceneRow; index: number } | undefined {
    const index = this.#context.scene.rows.findIndex((row) => row.id === id);
    const row = this.#context.scene.rows[index];
    return row === undefined ? undefined : { row, index };
  }

  #clicked(id: string, event: MouseEvent): void {
    const found = this.#row(id);
    if (found === undefined) return;
    const onTwisty = (event.target as Element).closest(".twisty") !== null;
    if (found.row.expanded !== undefined && (onTwisty || found.row.level > 1)) this.#toggle(found.row);
    else if (found.row.level === 1) this.#context.update({ selected: id });
  }

  #pressed(id: string, event: KeyboardEvent): void {
    const found = this.#row(id);
    if (found === undefined) return;
    const { row, index } = found;
    const { rows } = this.#context.scene;
    const go = (target: SceneRow | undefined): void => {
      if (target !== undefined) this.focusRow(target.id);
    };
    switch (event.key) {
      case "ArrowDown":
        go(rows[index + 1]);
        break;
      case "ArrowUp":
        go(rows[index - 1]);
        break;
      case "Home":
        go(rows[0]);
        break;
      case "End":
        go(rows.at(-1));
        break;
      case "ArrowRight":
        if (row.expanded === false) this.#toggle(row);
        else if (row.expanded) go(rows[index + 1]);
        break;
      case "ArrowLeft":
        if (row.expanded) this.#toggle(row);
        else go(rows.slice(0, index).findLast(({ level }) => level < row.level));
        break;
      case "Enter":
      case " ":
        if (row.level === 1) this.#context.update({ selected: id });
        else if (row.expanded !== undefined) this.#toggle(row);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #toggle({ id }: SceneRow): void {
    const collapsed = new Set(this.#context.state.collapsed);
    if (!collapsed.delete(id)) collapsed.add(id);
    this.#context.update({ collapsed });
  }
}

/** The names, and the schedule as it is written. */
function rowTitle({ group: { kind, namespace, name, cronJob, scheduleText }, note }: SceneRow): string {
  const schedule = cronJob === undefined ? "" : `\n${cronJob.schedule}${scheduleText === undefined ? "" : `\n${note}`}`;
  return `${kind} ${namespace}/${name}${schedule}`;
}

/** A row of this height has room for several lines of text. */
const TALL_PX = 56;
const OVERSCAN = 300;
