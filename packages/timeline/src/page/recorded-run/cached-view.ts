import { byWeight } from "../../data/change-text.js";
import type { RecordedRun } from "../../data/recorded-run.js";
import { h } from "../dom.js";
import { type CachedVersions, versionAt } from "./cached-versions.js";

/** Maximum number of displayed rows; longer tables are not readable. */
const MAX_ROWS = 60;

interface Column {
  readonly title: string;
  readonly version: number | undefined;
}

/** Renders an object at a step: the stored version beside the cached version of each actor, with differences marked. */
export function cachedViewTable(
  run: RecordedRun,
  cachedVersions: CachedVersions,
  { step, object, actors }: { readonly step: number; readonly object: number; readonly actors: readonly number[] },
): HTMLElement {
  const { name, resource, versions } = run.objects[object]!;
  const stored: Column = { title: "stored", version: versionAt(cachedVersions.stored(object), step) };
  const caches = actors
    .filter((actor) => cachedVersions.caches(actor, resource) && cachedVersions.startSteps(actor) <= step)
    .map((actor): Column => ({
      title: `cache of ${run.actors[actor]!.name}`,
      version: versionAt(cachedVersions.cached(actor, object), step),
    }));
  const columns = [stored, ...caches];
  const paths = byWeight([...new Set(versions.flatMap(({ fields }) => Object.keys(fields)))]);
  const valueOf = ({ version }: Column, path: string): string | undefined =>
    version === undefined ? undefined : versions[version]!.fields[path];
  const isDifferent = (path: string): boolean =>
    columns.some((column) => column.version !== undefined && valueOf(column, path) !== valueOf(stored, path));
  // Rows with differences come first.
  const ordered = [...paths.filter(isDifferent), ...paths.filter((path) => !isDifferent(path))].filter((path) =>
    columns.some((column) => valueOf(column, path) !== undefined),
  );
  const shown = ordered.slice(0, MAX_ROWS);
  const cell = (column: Column, text: string, differs: boolean): HTMLElement =>
    h(
      "td",
      { class: differs && "differs" },
      differs && h("span", { class: "sign", title: "differs from what is stored" }, "≠ "),
      text,
    );
  const versionText = ({ version }: Column): string =>
    version === undefined ? "not there" : `version ${versions[version]!.resourceVersion}`;
  return h(
    "div",
    { class: "wide cached-view", role: "region", "aria-label": `${name} at this step`, tabindex: 0 },
    h(
      "table",
      {},
      h("caption", {}, name, h("span", { class: "muted" }, " after this step; fields that change in this run")),
      h("thead", {}, h("tr", {}, h("td", {}), ...columns.map(({ title }) => h("th", { scope: "col" }, title)))),
      h(
        "tbody",
        {},
        h(
          "tr",
          { class: "versions" },
          h("th", { scope: "row" }, "version"),
          ...columns.map((column) => {
            const isStale = column !== stored && column.version !== stored.version;
            return cell(column, `${versionText(column)}${isStale ? ", stale" : ""}`, isStale);
          }),
        ),
        ...shown.map((path) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, path),
            ...columns.map((column) => {
              const value = valueOf(column, path);
              return cell(
                column,
                value ?? "–",
                column !== stored && column.version !== undefined && value !== valueOf(stored, path),
              );
            }),
          ),
        ),
      ),
    ),
    ordered.length > shown.length && h("p", { class: "muted" }, `and ${ordered.length - shown.length} more fields`),
  );
}
