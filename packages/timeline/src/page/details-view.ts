import { isWithoutPods } from "../data/rows.js";
import type { DecisionNote, EventNote, ReportedObject } from "../data/report-data.js";
import { button, h, addListener } from "./dom.js";
import { focusedBeside } from "./page-environment.js";
import { durationText } from "./duration-text.js";
import { highlights } from "./highlights.js";
import { type Item, type Look, groupId } from "./item.js";
import { itemOutcome, latenessMs } from "./item-text.js";
import type { PageContext } from "./page-context.js";
import { type SceneRow, isFiltering } from "./scene.js";
import { yamlText } from "./yaml-text.js";

const MAX_NOTES = 60;
const MAX_PODS = 24;
const MAX_HIGHLIGHTS = 12;
/** CronJobs and Jobs listed per highlight. */
const MAX_PARTS = 3;
const MAX_BANDS = 5;

/** All details of the selection: outcome, times, the controllers' decisions, events, and the object. */
export class DetailsView {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  /** Draws the details of the current selection and moves the focus to them. */
  readonly #open: () => void;
  readonly #back: () => void;
  #shown = "";
  #selected: string | undefined;
  /** Cached per selection, so that it stays open. */
  #yaml: HTMLElement | undefined;

  constructor(context: PageContext, open: () => void, back: () => void) {
    this.#context = context;
    this.#open = open;
    this.#back = back;
    this.element = addListener(h("section", { class: "details", "aria-label": "Details" }), {
      onkeydown: (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        this.#back();
      },
    });
  }

  /** @param version - Changes when the data changes. */
  render(version: number): void {
    const { state, scene, zone } = this.#context;
    const shown = `${state.selected} ${version} ${zone.zone} ${state.selected === undefined ? Object.values(scene.totals).join() : ""}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const item = state.selected === undefined ? undefined : scene.items.get(state.selected);
    const row = item === undefined ? scene.rows.find(({ id }) => id === state.selected) : undefined;
    const focused = focusedBeside(this.element) as HTMLElement | null;
    const hadFocus = this.element.contains(focused);
    const { scrollTop } = this.element;
    const isSame = state.selected === this.#selected;
    this.#selected = state.selected;
    if (!isSame) this.#yaml = undefined;
    this.element.replaceChildren(
      ...(item !== undefined ? this.#item(item) : row !== undefined ? this.#group(row) : this.#overview()),
    );
    // New data about the same selection must not move the scroll position.
    this.element.scrollTop = isSame ? scrollTop : 0;
    if (!hadFocus) return;
    if (this.element.contains(focused)) focused?.focus({ preventScroll: true });
    else this.focus();
  }

  focus(): void {
    this.element.querySelector<HTMLElement>("h2")?.focus();
  }

  #heading(title: string, kind: string, look: Look | undefined, outcome: string): HTMLElement {
    return h(
      "header",
      {},
      h("div", { class: "kind" }, kind),
      h("h2", { tabindex: -1 }, title),
      look === undefined ? undefined : h("div", { class: `badge ${look}` }, outcome),
      button("✕", "Close the details (Escape)", this.#back, "button quiet close"),
    );
  }

  #item(item: Item): HTMLElement[] {
    const { zone, notes, scene } = this.#context;
    const { group } = item;
    const at = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : zone.second(ms));
    const facts: [string, string | HTMLElement | undefined][] = [];
    const parts: (HTMLElement | undefined)[] = [];
    const { namespace } = group;
    const belongsTo = (label: string): void => {
      if (group.kind === "CronJob") facts.push([label, this.#link(group.name, groupId(group))]);
    };
    switch (item.type) {
      case "ghost": {
        belongsTo("CronJob");
        facts.push(
          ["Was due", at(item.row.slotMs)],
          ["Reason", item.row.reason],
          ["Refused by", item.row.refusal?.object],
        );
        parts.push(this.#heading(group.name, "Skipped run", item.look, "Skipped"), this.#facts(facts));
        break;
      }
      case "run": {
        const { row } = item;
        const late = latenessMs(item);
        belongsTo("CronJob");
        facts.push(
          ["Was due", at(row.slotMs)],
          ["Created", at(row.createdMs)],
          ["Started late by", late > 0 ? durationText(late) : undefined],
          ["Ended", at(row.endMs)],
          [row.endMs === undefined ? "So far" : "Took", durationText(item.endMs - item.startMs)],
          ["Pods", podCounts(row)],
          ["Failed indexes", row.failedIndexes],
          ["Reason", row.reason],
          ["Message", row.message],
          ["Refused by", row.refusal?.object],
          [isWithoutPods(row) ? "No pod created" : "Pods refused", row.refusal?.text],
          ["No node", row.unschedulable],
        );
        parts.push(this.#heading(row.name, "Job", item.look, itemOutcome(item)), this.#facts(facts));
        break;
      }
      case "pod": {
        const { pod, row } = item;
        facts.push(
          ["Job", this.#link(row.name, row.uid)],
          ["Index", pod.index?.toString()],
          ["Node", pod.node],
          ["Created", at(pod.createdMs)],
          ["Waited", pod.startMs === undefined ? undefined : durationText(Math.max(0, pod.startMs - pod.createdMs))],
          ["Started", at(pod.startMs)],
          ["Ended", at(pod.endMs)],
          ["Ran", durationText(item.endMs - (pod.startMs ?? item.startMs))],
          ["Exit code", pod.exitCode?.toString()],
          ["Reason", pod.reason],
        );
        parts.push(this.#heading(pod.name, "Pod", item.look, itemOutcome(item)), this.#facts(facts));
        break;
      }
      default:
        item satisfies never;
    }
    parts.push(this.#decisions(notes.decisionsAbout(item)));
    if (item.type === "run" && item.row.pods.length > 0) {
      const pods = item.row.pods.slice(0, MAX_PODS).map((pod) => {
        const look = scene.items.get(pod.uid)?.look;
        return h("li", { class: look === undefined ? "" : `look ${look}` }, this.#link(pod.name, pod.uid));
      });
      const more = item.row.pods.length + item.row.hiddenPods - pods.length;
      if (more > 0) pods.push(h("li", { class: "muted" }, `and ${more} more`));
      parts.push(section("Pods", h("ul", { class: "pods" }, ...pods)));
    }
    const object =
      item.type === "ghost"
        ? { kind: "CronJob", namespace, name: group.name }
        : item.type === "run"
          ? { kind: "Job", namespace, name: item.row.name }
          : { kind: "Pod", namespace, name: item.pod.name };
    if (item.type !== "ghost") parts.push(this.#events(notes.eventsOf(object)), this.#object(object, item.id));
    return parts.filter((part) => part !== undefined);
  }

  #group({ group }: SceneRow): HTMLElement[] {
    const { notes } = this.#context;
    const { kind, namespace, name, cronJob } = group;
    const facts: [string, string | undefined][] = [["Namespace", namespace]];
    if (cronJob !== undefined) {
      facts.push(
        ["Schedule", cronJob.schedule],
        ["In words", group.scheduleText],
        ["Time zone", cronJob.timeZone ?? "UTC"],
        ["Concurrency", cronJob.concurrencyPolicy ?? "Allow"],
        ["Suspended", cronJob.suspend ? "yes" : undefined],
      );
    }
    const runs = group.rows.filter(({ type }) => type === "run").length;
    const ghosts = group.rows.length - runs;
    facts.push(
      ["Runs", group.hiddenRows === 0 ? String(runs) : `${runs}, and ${group.hiddenRows} more that are not drawn`],
      ["Skipped", ghosts === 0 ? undefined : String(ghosts)],
    );
    const object = { kind, namespace, name };
    return [
      this.#heading(name, kind, undefined, ""),
      this.#facts(facts),
      this.#decisions(notes.decisionsOf(object)),
      this.#events(notes.eventsOf(object)),
      this.#object(object, group.uid),
    ].filter((part) => part !== undefined);
  }

  #overview(): HTMLElement[] {
    const { data, scene, state } = this.#context;
    const isFiltered = isFiltering(state);
    const totals = isFiltered ? scene.totals : data.totals;
    const kept = [
      scene.hiddenRuns > 0 ? `${count(scene.hiddenRuns)} runs more than this page draws` : "",
      data.dropped.events > 0 ? `${count(data.dropped.events)} later events` : "",
      data.dropped.decisions > 0 ? `${count(data.dropped.decisions)} later decisions` : "",
    ].filter(Boolean);
    const fact = (look: Look, one: string, many: string, value: number): HTMLElement | undefined =>
      value === 0 && look !== "complete"
        ? undefined
        : h("li", { class: `look ${look}` }, h("strong", {}, count(value)), ` ${value === 1 ? one : many}`);
    const notEnded = Math.max(0, totals.jobs - totals.jobsComplete - totals.jobsFailed - totals.jobsDeleted);
    const pods = [
      `${count(totals.pods)} ${totals.pods === 1 ? "pod" : "pods"}`,
      totals.podsFailed > 0 ? `${count(totals.podsFailed)} failed` : "",
      totals.podsStopped > 0 ? `${count(totals.podsStopped)} stopped` : "",
    ].filter(Boolean);
    return [
      h("header", {}, h("h2", { tabindex: -1 }, "What happened")),
      ...(data.description === undefined ? [] : [h("p", { class: "description" }, data.description)]),
      ...(isFiltered ? [h("p", { class: "muted filtered" }, "Of what the filter shows:")] : []),
      h(
        "ul",
        { class: "totals" },
        fact("complete", "Job complete", "Jobs complete", totals.jobsComplete),
        fact("failed", "Job failed", "Jobs failed", totals.jobsFailed),
        fact("skipped", "run skipped", "runs skipped", totals.runsSkipped),
        fact("stopped", "Job replaced or deleted", "Jobs replaced or deleted", totals.jobsDeleted),
        fact("running", "Job not ended", "Jobs not ended", notEnded),
        h("li", { class: "muted" }, pods.join(", ")),
      ),
      ...this.#highlights(),
      ...(data.assumption === undefined ? [] : [h("p", { class: "hint" }, data.assumption)]),
      ...(kept.length === 0
        ? []
        : [h("p", { class: "hint" }, `Not on this page: ${kept.join(", ")}. The JSON trace has them all.`)]),
      h(
        "p",
        { class: "hint" },
        "Select a run, a ghost or a pod to see why it did what it did. Drag to move through time, scroll on the axis to zoom.",
      ),
    ];
  }

  /** Lists the highlights of the run. */
  #highlights(): HTMLElement[] {
    const { data, scene, state, bands, zone } = this.#context;
    const entries: HTMLElement[] = [];
    const link = (label: string, go: () => void): HTMLElement =>
      addListener(h("button", { type: "button", class: "link" }, label), { onclick: go });
    for (const { look, title, reason, parts } of highlights(scene, data).slice(0, MAX_HIGHLIGHTS)) {
      const shown = parts.slice(0, MAX_PARTS).map(({ name, count: times, first }) => {
        const go = (): void => {
          this.#context.select(first);
          this.#open();
        };
        const when = zone.minute(first.startMs);
        return h("li", {}, link(name, go), ` ${times > 1 ? `${count(times)}, first` : ""} ${when}`);
      });
      const more = parts.length - shown.length;
      if (more > 0) shown.push(h("li", {}, `and ${count(more)} more`));
      const heading = h("strong", {}, title);
      entries.push(
        h(
          "li",
          { class: `look ${look}` },
          heading,
          reason !== "" && h("div", { class: "muted" }, reason),
          h("ul", { class: "muted" }, ...shown),
        ),
      );
    }
    const at = (label: string, note: string, cursorMs: number): void => {
      entries.push(
        h(
          "li",
          {},
          link(label, () => this.#context.update({ cursorMs })),
          h("div", { class: "muted" }, note),
        ),
      );
    };
    for (const { fromMs, label, detail } of bands.slice(0, MAX_BANDS)) at(label, detail, fromMs);
    const { atMs, pods } = data.concurrency;
    let peak = 0;
    for (const [index, level] of pods.peak.entries()) if (level > pods.peak[peak]!) peak = index;
    // The pod counts include all pods, also those that the filter excludes.
    if (!isFiltering(state) && (pods.peak[peak] ?? 0) > 1)
      at(`Peak of concurrent pods: ${count(pods.peak[peak]!)}`, zone.minute(atMs[peak]!), atMs[peak]!);
    return entries.length === 0 ? [] : [section("Highlights", h("ul", { class: "highlights" }, ...entries))];
  }

  #facts(facts: readonly (readonly [string, string | HTMLElement | undefined])[]): HTMLElement {
    const list = h("dl", {});
    for (const [name, value] of facts)
      if (value !== undefined && value !== "") list.append(h("dt", {}, name), h("dd", {}, value));
    return list;
  }

  #decisions(decisions: readonly DecisionNote[]): HTMLElement | undefined {
    if (decisions.length === 0) return undefined;
    const { zone } = this.#context;
    const shown = decisions.slice(-MAX_NOTES).map((note) =>
      h(
        "li",
        {},
        h(
          "div",
          { class: "when" },
          h("time", {}, zone.second(note.atMs)),
          ` ${note.controller}: `,
          h("b", {}, note.outcome),
        ),
        ...note.reasons.map((reason) => h("div", {}, reason)),
        ...(note.missed ?? []).map(({ reason, count: slots, slotsMs }) =>
          h(
            "div",
            { class: "muted" },
            `${slots} missed (${reason}): ${listed(
              slotsMs.map((slot) => zone.minute(slot)),
              slots,
            )}`,
          ),
        ),
      ),
    );
    const earlier = decisions.length - shown.length;
    return section(
      "Why: the controller's decisions",
      earlier > 0 && h("p", { class: "muted" }, `${earlier} earlier ones left out`),
      h("ol", { class: "notes" }, ...shown),
    );
  }

  #events(events: readonly EventNote[]): HTMLElement | undefined {
    if (events.length === 0) return undefined;
    const { zone } = this.#context;
    const shown = events
      .slice(-MAX_NOTES)
      .map((event) =>
        h(
          "li",
          { class: event.warning ? "warning" : "" },
          h(
            "div",
            { class: "when" },
            h("time", {}, zone.second(event.atMs)),
            ` ${event.warning ? "Warning: " : ""}`,
            h("b", {}, event.reason),
            event.count > 1 && ` ×${event.count}`,
          ),
          h("div", {}, event.message),
        ),
      );
    return section("Events", h("ol", { class: "notes" }, ...shown));
  }

  #object({ kind, namespace, name }: ReportedObject, uid: string | undefined): HTMLElement {
    if (this.#yaml !== undefined) return this.#yaml;
    const { data, fetchObject } = this.#context;
    const text = h("pre", { tabindex: 0, "aria-label": `${kind} ${name} as YAML` });
    const details = h("details", {}, h("summary", {}, `${kind} as YAML`), text);
    this.#yaml = details;
    const kept = uid === undefined ? undefined : data.objects[uid];
    addListener(details, {
      ontoggle: () => {
        if (!details.open) return;
        if (kept !== undefined) text.textContent = yamlText(kept).trim();
        else if (fetchObject === undefined)
          text.textContent = "Not kept: a report holds the manifests of the first 1,000 objects of each kind.";
        else {
          text.textContent = "…";
          fetchObject(kind, namespace, name).then(
            (object) => (text.textContent = yamlText(object).trim()),
            (error: unknown) => (text.textContent = `Not there any more: ${String(error)}`),
          );
        }
      },
    });
    return details;
  }

  #link(label: string, id: string): HTMLElement {
    const { scene } = this.#context;
    const item = scene.items.get(id);
    if (item === undefined && !scene.rows.some((row) => row.id === id)) return h("span", {}, label);
    return addListener(h("button", { type: "button", class: "link" }, label), {
      onclick: () => {
        if (item === undefined) this.#context.update({ selected: id });
        else this.#context.select(item);
        this.#open();
      },
    });
  }
}

function section(title: string, ...children: readonly (HTMLElement | false)[]): HTMLElement {
  return h("section", {}, h("h3", {}, title), ...children);
}

function podCounts({ succeeded, failed }: { succeeded: number; failed: number }): string | undefined {
  const parts = [succeeded > 0 ? `${succeeded} succeeded` : "", failed > 0 ? `${failed} failed` : ""].filter(Boolean);
  return parts.length === 0 ? undefined : parts.join(", ");
}

function listed(names: readonly string[], total: number): string {
  const shown = names.slice(0, 5).join(", ");
  return total > 5 ? `${shown} and ${total - 5} more` : shown;
}

function count(value: number): string {
  return value.toLocaleString("en");
}
