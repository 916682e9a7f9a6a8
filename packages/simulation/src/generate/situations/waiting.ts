import type { ScenarioEventEntry } from "../../faults/registry.js";
import type { Draw } from "../draw.js";
import { durationText } from "../duration-text.js";
import { at, during, target } from "../plan-events.js";
import type { Shape } from "../shape.js";
import type { Situation, SituationContext } from "../situation.js";
import { hasTtl } from "./slow-controllers.js";

/** A timed wait of a controller; the time follows from an object. */
interface Wait {
  readonly kind: "CronJob" | "Job";
  readonly shapes: readonly Shape[];
  /** Features that would make the time hard to predict. */
  readonly without?: readonly Shape[];
}

function drawWait(draw: Draw): Wait {
  return draw.weighted<Wait>([
    [{ kind: "CronJob", shapes: ["cronJobs", "relativeSchedules"] }, 50],
    [{ kind: "Job", shapes: ["jobs", "failures"] }, 15],
    [{ kind: "Job", shapes: ["jobs", "activeDeadline", "longPods"] }, 10],
    [{ kind: "Job", shapes: ["jobs", "ttl"], without: ["failures", "slowPods", "foreignFinalizers"] }, 35],
  ]);
}

/** Draws a time at which a controller waits for something of that kind. */
function drawWaiting(draw: Draw, { kind, shapes }: Wait, { subjects }: SituationContext): number | undefined {
  const those = subjects.filter((subject) => subject.kind === kind && subject.isRun !== true);
  const expiring = shapes.includes("ttl") ? those.filter(({ manifest }) => hasTtl(manifest)) : [];
  const waiting = (expiring.length > 0 ? expiring : those).map(({ moments }) => moments.toSorted((a, b) => a - b));
  const seen = waiting.filter((moments) => lastGapMs(moments) <= LONGEST_WAIT_MS);
  const candidates = seen.length > 0 ? seen : waiting;
  if (candidates.length === 0) return undefined;
  // Mostly the longest wait ends at the last moment.
  const longest = Math.max(...candidates.map(lastGapMs));
  const isLast = kind === "Job" && draw.fork("last").chance(0.7);
  const moments = draw
    .fork("subject")
    .pick(isLast ? candidates.filter((each) => lastGapMs(each) === longest) : candidates);
  const index = isLast ? Math.max(0, moments.length - 2) : draw.fork("which").integer(0, moments.length - 1);
  const fromMs = moments[index]!;
  const gapMs = Math.min(LONGEST_WAIT_MS, (moments[index + 1] ?? fromMs + 60_000) - fromMs);
  return fromMs + draw.fork("after").integer(0, Math.max(1_000, gapMs));
}

/** A longer wait may end after the plan is over. */
const LONGEST_WAIT_MS = 300_000;

function lastGapMs(moments: readonly number[]): number {
  return moments.at(-1)! - (moments.at(-2) ?? 0);
}

/** A clock is set while a controller waits, for good or for a while. */
export function steppedClock(draw: Draw): Situation {
  const wait = drawWait(draw.fork("wait"));
  return {
    shapes: wait.shapes,
    without: ["quota", "managedBy", ...(wait.without ?? [])],
    draw(fork, context) {
      const atMs = drawWaiting(fork.fork("moment"), wait, context);
      if (atMs === undefined) return [];
      const lengthMs = fork.fork("by").weighted([
        [fork.fork("seconds").integer(1, 10) * 1_000, 15],
        [fork.fork("minutes").integer(10, 300) * 1_000, 50],
        [fork.fork("hours").integer(1, 3) * 3_600_000, 35],
      ]);
      const by = `${fork.fork("back").chance(0.65) ? "-" : "+"}${durationText(lengthMs)}`;
      if (fork.fork("for good").chance(0.6)) return [at(atMs, { clockJump: by })];
      const controllerManager = `controller-manager-${fork.fork("who").integer(1, context.replicas)}`;
      return [during(atMs, fork.fork("for").integer(5, 300) * 1_000, { clockSkew: { controllerManager, by } })];
    },
  };
}

/** A controller syncs before the time that it waits for: after an edit without an effect, or after a restart. */
export function wokenEarly(draw: Draw): Situation {
  const wait = drawWait(draw.fork("wait"));
  return {
    shapes: wait.shapes,
    without: ["quota", "managedBy", "suspend", ...(wait.without ?? [])],
    draw(fork, context) {
      const count = fork.fork("count").integer(1, 4);
      return Array.from({ length: count }, (_, number) => number).flatMap((number): ScenarioEventEntry[] => {
        const one = fork.fork(String(number));
        const atMs = drawWaiting(one, wait, context);
        if (atMs === undefined) return [];
        const subjects = context.subjects.filter(({ kind, isRun }) => kind === wait.kind && isRun !== true);
        const annotations = { "example.com/looked-at": String(number) };
        return one.fork("starts anew").chance(0.6)
          ? [during(atMs, one.fork("down").integer(500, 5_000), { controllerDown: "all" })]
          : subjects.map((subject) => at(atMs, { patch: { ...target(subject), with: { metadata: { annotations } } } }));
      });
    },
  };
}
