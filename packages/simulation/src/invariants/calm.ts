import type { CacheEvent, ToldHappening, World } from "../world.js";
import { lifeOf } from "./stored-objects.js";

/** What happens and is over. All else lasts. */
const AT_ONCE: ReadonlySet<string> = new Set(["apply", "clockJump", "delete", "patch", "podEvicted", "resume"]);

/** Longer than it takes to find out that a watch says nothing any more. */
const SILENCE_MS = 630_000;

/** Since when nothing of the plan has happened, nor has a controller been started anew. */
export class Calm {
  readonly #world: World;
  readonly #component: string;
  readonly #harmless: readonly string[];
  readonly #underWay = new Set<number>();
  readonly #lives = new Set<string>();
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

  onHappening({ atMs, index, kind, phase }: ToldHappening): void {
    if (this.#harmless.includes(kind)) return;
    this.#disturbedMs = atMs;
    if (kind === "watchSilent") this.#silentUntilMs = atMs + SILENCE_MS;
    const lasts = this.#world.plan.happenings?.[index]?.for !== undefined || !AT_ONCE.has(kind);
    if (phase === "begin" && lasts) this.#underWay.add(index);
    else this.#underWay.delete(index);
  }

  onCacheEvent(event: CacheEvent): void {
    if (event.component !== this.#component || this.#lives.has(lifeOf(event))) return;
    this.#lives.add(lifeOf(event));
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
  get sinceMs(): number {
    return this.isDisturbed ? Infinity : Math.max(this.#disturbedMs, this.#silentUntilMs);
  }
}
