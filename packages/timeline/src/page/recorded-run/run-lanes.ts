import type { RecordedRun, Step } from "../../data/recorded-run.js";

/** One row of the timeline. */
export interface RunLane {
  readonly label: string;
  readonly kind: "events" | "changes" | "stored" | "cache" | "decisions" | "writes";
  readonly actor?: number;
  /** Title of the group that begins with this row. */
  readonly begins?: string;
}

export interface RunScope {
  /** Whether unrelated objects are displayed too. */
  readonly allObjects: boolean;
  /** Whether controllers that neither decide nor write are displayed too. */
  readonly allControllers: boolean;
}

/** Returns the non-empty rows and their steps. */
export function lanesOf(
  run: RecordedRun,
  scope: RunScope,
): { readonly lanes: readonly RunLane[]; readonly steps: readonly number[] } {
  const { actors, objects, steps } = run;
  const isShown = ({ object }: Step): boolean =>
    object !== undefined && (scope.allObjects || objects[object]!.isConcerned);
  const writers = new Set<number>();
  const decidingActors = new Set<number>();
  const cacheOwners = new Set<number>();
  for (const step of steps) {
    const { kind, actor } = step;
    if (actor === undefined || !isShown(step)) continue;
    if (kind === "answer") writers.add(actor);
    else if (kind === "decision") decidingActors.add(actor);
    else if (kind === "cache") cacheOwners.add(actor);
  }
  const places = actors.map((_, place) => place);
  const controllers = places
    .filter((place) => actors[place]!.isController && (scope.allControllers || actors[place]!.isInvolved))
    .sort((a, b) => rank(run, a) - rank(run, b));
  const lanes: RunLane[] = [
    ...(run.scenarioEvents.length > 0 ? [{ label: "events", kind: "events" as const, begins: "What goes wrong" }] : []),
    { label: "stored changes", kind: "changes", begins: "API server" },
    { label: "what is stored", kind: "stored" },
    ...places
      .filter((place) => !actors[place]!.isController && writers.has(place))
      .map((actor, index): RunLane => ({
        label: `${actors[actor]!.name}: writes`,
        kind: "writes",
        actor,
        ...(index === 0 ? { begins: "Others" } : {}),
      })),
    ...controllers.flatMap((actor) => {
      const own: RunLane[] = [
        ...(cacheOwners.has(actor) ? [{ label: "cache", kind: "cache" as const, actor }] : []),
        ...(decidingActors.has(actor) ? [{ label: "syncs", kind: "decisions" as const, actor }] : []),
        ...(writers.has(actor) ? [{ label: "requests", kind: "writes" as const, actor }] : []),
      ];
      return own.map((lane, index) => (index === 0 ? { ...lane, begins: actors[actor]!.name } : lane));
    }),
  ];
  const on = new Set(lanes.map(({ kind, actor }) => `${kind} ${actor ?? ""}`));
  return {
    lanes,
    steps: steps.flatMap((step, index) => (isGeneral(step) || (isShown(step) && on.has(laneOf(step))) ? index : [])),
  };
}

/** Returns the key of a step's row. */
export function laneOf({ kind, actor }: Step): string {
  switch (kind) {
    case "scenarioEvent":
    case "note":
      return "events ";
    case "change":
      return "changes ";
    case "cache":
      return `cache ${actor ?? ""}`;
    case "decision":
      return `decisions ${actor ?? ""}`;
    case "answer":
    case "error":
      return `writes ${actor ?? ""}`;
    case "violation":
      return "";
    default:
      return kind satisfies never;
  }
}

function isGeneral({ kind }: Step): boolean {
  return kind === "scenarioEvent" || kind === "note" || kind === "violation" || kind === "error";
}

/** Ranks actors: those with the latest decision or write before the violation come first. */
function rank({ steps, violations }: RecordedRun, actor: number): number {
  const moment = violations[0]?.step ?? steps.length;
  for (let index = Math.min(moment, steps.length - 1); index >= 0; index--) {
    const step = steps[index]!;
    if (step.actor === actor && step.kind !== "cache") return moment - index;
  }
  return Infinity;
}
