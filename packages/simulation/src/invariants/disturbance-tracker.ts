import type { CacheEvent, ReportedScenarioEvent, World } from "../world.js";
import { incarnationKeyOf } from "./stored-objects.js";

/** Kinds of events without a duration. All others last. */
const INSTANT_EVENTS: ReadonlySet<string> = new Set(["apply", "clockJump", "delete", "patch", "podEvicted", "resume"]);

/** Longer than it takes to detect a silent watch. */
const SILENCE_MS = 630_000;

/** Tracks since when there has been no event of the plan and no restart of a component. */
export class DisturbanceTracker {
  readonly #world: World;
  readonly #component: string;
  readonly #harmless: readonly string[];
  readonly #underWay = new Set<number>();
  readonly #incarnations = new Set<string>();
  #disturbedMs: number;
  #silentUntilMs = -Infinity;

  /**
   * @param component - Component whose restarts count.
   * @param harmless - Kinds of events that do not count.
   */
  constructor(world: World, component: string, harmless: readonly string[] = []) {
    this.#world = world;
    this.#component = component;
    this.#harmless = harmless;
    this.#disturbedMs = world.nowMs;
  }

  onScenarioEvent({ atMs, index, kind, phase }: ReportedScenarioEvent): void {
    if (this.#harmless.includes(kind)) return;
    this.#disturbedMs = atMs;
    if (kind === "watchSilent") this.#silentUntilMs = atMs + SILENCE_MS;
    const lasts = this.#world.plan.events?.[index]?.for !== undefined || !INSTANT_EVENTS.has(kind);
    if (phase === "begin" && lasts) this.#underWay.add(index);
    else this.#underWay.delete(index);
  }

  onCacheEvent(event: CacheEvent): void {
    if (event.component !== this.#component || this.#incarnations.has(incarnationKeyOf(event))) return;
    this.#incarnations.add(incarnationKeyOf(event));
    this.#disturbedMs = event.atMs;
  }

  /** When the last event began or ended, or the component last restarted. */
  get disturbedMs(): number {
    return this.#disturbedMs;
  }

  /** Whether an event is in progress, or managers that share work may be about to hand over buckets. */
  get isDisturbed(): boolean {
    return this.#underWay.size > 0 || this.#world.plan.controllers?.sharding === true;
  }

  /** Start of the current undisturbed time; Infinity while there is a disturbance. */
  get quietSinceMs(): number {
    return this.isDisturbed ? Infinity : Math.max(this.#disturbedMs, this.#silentUntilMs);
  }
}
