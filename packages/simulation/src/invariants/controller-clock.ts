import { parseDuration } from "@kubewright/clock";

import type { ReportedScenarioEvent, World } from "../world.js";

/** The errors of the controllers' clocks. */
export class ControllerClock {
  readonly #world: World;
  #jumpMs = 0;
  readonly #skewsMs = new Map<string, number>();
  /** The latest controller time before each change of a clock, oldest first. */
  readonly #before: { readonly atMs: number; readonly latestMs: number }[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  onScenarioEvent({ phase, index }: ReportedScenarioEvent): void {
    const { clockJump, clockSkew } = this.#world.plan.events?.[index] ?? {};
    if (clockJump !== undefined || clockSkew !== undefined)
      this.#before.push({ atMs: this.#world.nowMs, latestMs: this.latestMs });
    if (clockJump !== undefined && phase === "begin") this.#jumpMs += signedMs(clockJump);
    if (clockSkew === undefined) return;
    const { controllerManager, by } = clockSkew;
    const beforeMs = this.#skewsMs.get(controllerManager) ?? 0;
    this.#skewsMs.set(controllerManager, beforeMs + (phase === "begin" ? signedMs(by) : -signedMs(by)));
  }

  /** The latest time that any controller may see now. */
  get latestMs(): number {
    return this.#world.nowMs + this.#jumpMs + Math.max(0, ...this.#skewsMs.values());
  }

  /** Returns the latest time that any controller may have seen since then: a clock may have been set back meanwhile. */
  latestSince(sinceMs: number): number {
    const since = this.#before.filter(({ atMs }) => atMs >= sinceMs).map(({ latestMs }) => latestMs);
    return Math.max(this.latestMs, ...since);
  }
}

/** Parses `+1h` or `-90s`; without a sign, forward. */
function signedMs(text: string): number {
  const durationMs = parseDuration(text.replace(/^[+-]/, "")) ?? 0;
  return text.startsWith("-") ? -durationMs : durationMs;
}
