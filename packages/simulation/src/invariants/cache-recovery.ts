import type { Invariant, InvariantChecks } from "../invariant.js";
import type { World } from "../world.js";
import type { ScenarioEventEntry } from "../faults/registry.js";

/** Maximum time until a cache shows the stored state, once the difference can be detected. */
const HEALED_MS = 60_000;
/**
 * Watches are asked to end after at most 5 to 10 min, and time out 30 s later: until then a silent watch cannot be
 * distinguished from a quiet one.
 */
const PATIENCE_MS = 630_000;
/** User actions do not affect caches. */
const HARMLESS: ReadonlySet<string> = new Set(["patch", "suspend", "resume", "delete", "apply", "podEvicted"]);

/** Upstream: client-go tools/cache/reflector.go, its watch timeouts and what it lists after "too large resource version". */
export const cachesRecover: Invariant = {
  name: "L8 caches recover",
  sentence:
    "While the only faults are silent watches and stale lists, every cache shows the " +
    "stored state within 60 s, plus the time that it takes to detect a silent watch.",
  watch(world, violated): InvariantChecks {
    /** Permitted faults in progress: when each can be detected, by its index in the plan. */
    const permittedUntilMs = new Map<number, number>();
    const hindering = new Set<number>();
    let freeMs = -Infinity;
    return {
      onScenarioEvent({ index, kind, phase, atMs }) {
        if (HARMLESS.has(kind)) return;
        if (phase === "end") {
          if (hindering.delete(index) || permittedUntilMs.delete(index)) freeMs = atMs;
        } else if (kind === "watchSilent" || kind === "staleList") {
          permittedUntilMs.set(index, atMs + (kind === "watchSilent" ? PATIENCE_MS : 0));
        } else if (isOver(world, index)) freeMs = atMs;
        else hindering.add(index);
      },
      onTick() {
        if (permittedUntilMs.size === 0 || hindering.size > 0) return;
        if (world.nowMs < Math.max(freeMs, ...permittedUntilMs.values()) + 2 * HEALED_MS) return;
        for (const { component, resource, difference } of world.staleCaches(HEALED_MS))
          violated(`${component}'s ${resource}`, `has not been found out to be old: ${difference}`);
      },
    };
  },
};

/** Reports whether an event has no duration. */
function isOver({ plan }: World, index: number): boolean {
  const entry: ScenarioEventEntry | undefined = plan.events?.[index];
  return entry?.for === undefined;
}
