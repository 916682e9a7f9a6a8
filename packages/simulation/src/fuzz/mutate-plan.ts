import { seededRandom } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import { type ScenarioEventEntry, definitionOf, effectsOf, kindOf } from "../faults/registry.js";
import { Draw } from "../generate/draw.js";
import { durationText, offsetText } from "../generate/duration-text.js";
import { endOfScenarioEvent, lastEndMs, lengthMs, sortByStart, startOfScenarioEvent } from "../generate/event-times.js";
import { missingReferences } from "../minimize/references.js";

/**
 * Returns a copy of a plan with one to three changes of its faults or settings and the same workload.
 *
 * @param number - Number of the mutation: equal numbers give equal plans.
 * @param donor - Another plan, from which faults may be copied.
 */
export function mutatePlan(plan: FaultPlan, number: number, donor: FaultPlan): FaultPlan {
  const draw = new Draw(seededRandom(number).fork("mutation"));
  let { controllers } = plan;
  let events = [...(plan.events ?? [])];
  let { seed } = plan;
  const times = draw.fork("times").integer(1, 3);
  for (let time = 0; time < times; time++) {
    const fork = draw.fork(`change ${time}`);
    const which = events.length === 0 ? -1 : fork.fork("which").integer(0, events.length - 1);
    const entry = events[which];
    const how = fork.fork("how").pick(entry === undefined ? ALWAYS : [...ALWAYS, ...WITH_EVENTS]);
    switch (how) {
      case "graft":
        events.push(...graft(fork, donor, plan));
        break;
      case "switch":
        controllers = { ...controllers, ...drawSwitch(fork) };
        break;
      case "reorder":
        seed = fork.integer(0, 2 ** 32 - 1);
        break;
      case "move":
        events[which] = moved(fork, entry!);
        break;
      case "aim":
        events[which] = retargeted(fork, entry!);
        break;
      case "drop":
        events = events.filter((_, index) => index !== which);
        break;
      case "repeat":
        events.push(moved(fork, entry!));
        break;
      default:
        how satisfies never;
    }
  }
  const settleMs = lengthMs(plan) - lastEndMs(plan);
  const mutated: FaultPlan = {
    ...plan,
    name: `${plan.name}+${number}`,
    seed,
    ...(controllers === undefined ? {} : { controllers }),
    for: durationText(Math.max(lengthMs(plan), lastEndMs({ events }) + settleMs)),
    events: sortByStart(events),
  };
  // A dropped event may have applied an object that another event names.
  return missingReferences(mutated).length === 0 ? mutated : { ...plan, name: mutated.name ?? "", seed: number };
}

const ALWAYS = ["graft", "graft", "switch", "reorder"] as const;
const WITH_EVENTS = ["move", "move", "aim", "drop", "repeat"] as const;

function graft(draw: Draw, donor: FaultPlan, plan: FaultPlan): ScenarioEventEntry[] {
  const offered = (donor.events ?? []).filter((entry) => definitionOf(kindOf(entry)!).isGraftable === true);
  const endMs = lastEndMs(plan) + 60_000;
  const fitting = offered.filter((entry) => endOfScenarioEvent(entry) <= endMs);
  // As in generated plans: no process restarts where lists are stale.
  const mayRestart = !effectsOf(plan.events).has("returnsOldLists");
  const allowed = fitting.filter((entry) => mayRestart || !effectsOf([entry]).has("restarts"));
  if (allowed.length === 0) return [];
  return [draw.fork("taken").pick(allowed)];
}

function drawSwitch(draw: Draw): NonNullable<FaultPlan["controllers"]> {
  const limit = draw.fork("limit").pick([2, 3, 5, 500]);
  return draw
    .fork("switch")
    .pick([
      { consistencyGate: true },
      { consistencyGate: false },
      { maxUncountedPods: limit },
      { maxPodsPerSync: limit },
    ]);
}

function moved(draw: Draw, entry: ScenarioEventEntry): ScenarioEventEntry {
  const by = draw.fork("by").delayMs() * (draw.fork("earlier").chance(0.5) ? -1 : 1);
  return { ...entry, at: offsetText(Math.max(0, startOfScenarioEvent(entry) + by)) };
}

/** Returns the fault at an earlier or later request of its kind, or at another time. */
function retargeted(draw: Draw, entry: ScenarioEventEntry): ScenarioEventEntry {
  const kind = kindOf(entry)!;
  const value = definitionOf(kind).retarget?.(draw, entry[kind]);
  return value === undefined ? moved(draw, entry) : { ...entry, [kind]: value };
}
