import type { CacheEvent, ReportedScenarioEvent, World } from "../world.js";
import { incarnationKeyOf } from "./stored-objects.js";

/** What happens and is over. All else lasts. */
const INSTANT_EVENTS: ReadonlySet<string> = new Set(["apply", "clockJump", "delete", "patch", "podEvicted", "resume"]);

/** Longer than it takes to find out that a watch says nothing any more. */
const SILENCE_MS = 630_000;

/** Since when nothing of the plan has happened, nor has a controller been started anew. */
export class DisturbanceTracker {
  readonly #world: World;
  readonly #component: string;
  readonly #harmless: readonly string[];
  readonly #underWay = new Set<number>();
  readonly #incarnations = new Set<string>();
  #disturbedMs: number;
  #silentUntilMs = -Infinity;

  /**
   * @param component - Whose lives count.
   * @param harmless - Kinds of happenings that do not.
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

  /** When something last began, or ended. */
  get disturbedMs(): number {
    return this.#disturbedMs;
  }

  /** Whether something is going on that lasts, or those who share work may be about to hand it over. */
  get isDisturbed(): boolean {
    return this.#underWay.size > 0 || this.#world.plan.controllers?.sharding === true;
  }

  /** Since when, if it is calm now; otherwise Infinity. */
  get quietSinceMs(): number {
    return this.isDisturbed ? Infinity : Math.max(this.#disturbedMs, this.#silentUntilMs);
  }
}
