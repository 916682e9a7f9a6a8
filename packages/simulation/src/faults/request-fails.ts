import { durationText } from "../generate/duration-text.js";
import type { Draw } from "../generate/draw.js";
import { LOST_RESPONSES, type RequestKind, isWrite, refusals, selection } from "../generate/request-kinds.js";
import { type ValueOf, amount, components, controllerManager, count, fields, oneOf } from "../scenario/schema.js";
import { defineEvent } from "./event-definition.js";
import { ANSWERS, requestFields, requestsText } from "./requests.js";

const schema = fields(
  "Requests get another response than the API server's, or none. With `effect: kept` they take effect all the same.",
  {
    components,
    controllerManager,
    ...requestFields,
    with: { description: "An HTTP status, or timeout for no answer at all. Default: 500.", ...oneOf(...ANSWERS) },
    effect: {
      description: "Whether they are done all the same, and only the answer is lost. Default: none.",
      ...oneOf("none", "kept"),
    },
    nth: { description: "The first that fails, counted from then on. Default: 1.", ...count },
    times: { description: "How many fail. Default: all, while it lasts.", ...count },
    whileAtLeast: {
      description: "Only while so many objects of the resource are in the namespace, as with a quota.",
      ...amount,
    },
  },
);

/** Draws a refusal of some requests of a kind, or the loss of their responses. */
export function drawFailure(draw: Draw, kind: RequestKind, nth: number, times: number): ValueOf<typeof schema> {
  const isLost = isWrite(kind) && draw.fork("lost").chance(0.4);
  const answer = isLost ? draw.fork("lost answer").pick(LOST_RESPONSES) : draw.fork("answer").pick(refusals(kind));
  return { ...selection(kind), nth, times, with: answer, ...(isLost ? { effect: "kept" } : {}) };
}

export const requestFails = defineEvent({
  schema,
  example: { verbs: ["create"], resources: ["pods"], with: 503, nth: 2, times: 1 },
  lasts: "untilTheEnd",
  precedesRequests: true,
  isGraftable: true,
  omittable: ["effect", "times"],
  share: 0.6,
  effects: ({ effect }) => [
    "delaysCaches",
    "refusesRequests",
    ...(effect === "kept" ? ["losesCreations" as const] : []),
  ],
  action(value, { cluster }) {
    const { with: answer = 500, effect = "none", nth = 1, times = Infinity, whileAtLeast, ...selected } = value;
    const { controllerManager: process, ...requests } = selected;
    const end = cluster.faults.failRequests({
      ...requests,
      ...(process === undefined ? {} : { processes: [process] }),
      with: answer,
      takeEffect: effect === "kept",
      nth,
      times,
      ...(whileAtLeast === undefined ? {} : { whileAtLeast }),
    });
    const what = effect === "kept" ? "are done, but answered with" : "fail with";
    return { message: `${requestsText(selected)} ${what} ${answer}${countText(nth, times)}`, end };
  },
  /** Simulates a full quota: the API server refuses Jobs or pods beyond some number. */
  generate(draw, { windowMs }) {
    const resource = draw.fork("resource").pick(["pods", "jobs"]);
    const value: ValueOf<typeof schema> = {
      components: [resource === "pods" ? "job-controller" : "cronjob-controller"],
      verbs: ["create"],
      resources: [resource],
      with: 403,
      whileAtLeast: draw.fork("least").integer(1, 4),
    };
    return [{ for: durationText(draw.fork("for").integer(10_000, Math.max(10_000, windowMs))), requestFails: value }];
  },
  generateAtRequest(draw, kind, nth) {
    const times = draw.fork("times").weighted([
      [1, 75],
      [draw.fork("some").integer(2, 4), 25],
    ]);
    return drawFailure(draw.fork("failure"), kind, nth, times);
  },
  retarget: (draw, value) => ({ ...value, nth: otherRequest(draw, value.nth) }),
});

/** Returns an earlier or later number of a request. */
export function otherRequest(draw: Draw, nth = 1): number {
  return Math.max(1, nth + draw.fork("nth").integer(-3, 3));
}

function countText(nth: number, times: number): string {
  if (times === Infinity) return nth === 1 ? "" : `, from the ${nth}. on`;
  return times === 1 ? `, the ${nth}. of them` : `, the ${nth}. to the ${nth + times - 1}. of them`;
}
