/** What the schema of scenarios says of faults; `$defs` are those of the whole. */

const text = { type: "string", minLength: 1 } as const;
const duration = { $ref: "#/$defs/duration" } as const;
const jump = {
  type: "string",
  pattern: "^[+-]([0-9]+(\\.[0-9]+)?(ms|[smhdw]))+$",
  title: "a jump",
  examples: ["+2h", "-30m"],
} as const;
const list = (description: string, items: object): object => ({ description, type: "array", minItems: 1, items });
const fromOne = (description: string): object => ({ description, type: "integer", minimum: 1 });

function fields(description: string, properties: object, required: readonly string[] = []): object {
  return { description, type: "object", properties, required, additionalProperties: false };
}

const requests = {
  verbs: list("Which verbs; write for the four that change something. Default: all.", {
    enum: ["create", "update", "patch", "delete", "get", "list", "watch", "write"],
  }),
  resources: list("Plural names such as pods or jobs/status. Default: all.", text),
  namespace: { description: "Default: all.", ...text },
  name: { description: "The object's name.", ...text },
};
const controller = { description: "A controller's name. Default: everybody.", ...text };
const kinds = list("Of which kinds. Default: all.", text);

/** What may go wrong, beside what happenings have had from the beginning. */
export const faultHappenings = {
  requestFails: fields("Requests get another answer.", {
    components: list("Whose requests. Default: everybody's.", text),
    ...requests,
    with: {
      description: "An HTTP status, or timeout for no answer at all. Default: 500.",
      enum: [400, 403, 404, 409, 422, 429, 500, 503, 504, "timeout"],
    },
    effect: {
      description: "kept: they do what they ask for, and only the answer is lost. Default: none.",
      enum: ["none", "kept"],
    },
    nth: fromOne("The first that is concerned, counted from `at`. Default: 1."),
    times: fromOne("How many from there. Default: all, while it lasts."),
    whileAtLeast: fromOne("Only while there are so many objects of the resource in the namespace, as with a quota."),
  }),
  controllerCrashes: fields(
    "A controller is killed right before or after a request takes effect, and started again.",
    {
      controller: { description: "A controller's name, or all for whole controller managers.", ...text },
      ...requests,
      nth: fromOne("Which such request, counted from `at`. Default: 1."),
      when: { description: "Default: after.", enum: ["before", "after"] },
      restartAfter: { description: "Until it is there again. Default: 1s.", ...duration },
    },
    ["controller"],
  ),
  paused: { description: "A controller manager, such as controller-manager-1, stands still.", ...text },
  watchCut: fields("Open watches end, and are resumed.", {
    controller,
    kinds,
    compacted: { description: "What they missed is forgotten, so that all is listed anew.", type: "boolean" },
  }),
  watchSilent: fields("Open watches say nothing more, and do not end by themselves.", { controller, kinds }),
  staleList: fields(
    "Lists are answered from what was stored a while ago, unless they ask for something newer.",
    { controller, kinds, by: { description: "How long ago.", ...duration } },
    ["by"],
  ),
  apiServerRestart: { description: "The API server is started anew: what is stored stays, watches end.", const: true },
  clockSkew: fields(
    "The wall clock of one controller manager is set forward or back.",
    { controllerManager: { description: "Such as controller-manager-1.", ...text }, by: jump },
    ["controllerManager", "by"],
  ),
} as const;

const limit = (description: string): object => ({ description, type: "integer", minimum: 1 });

/** How a run differs from what a cluster usually is. */
export const runSettings = {
  controllers: fields("How the controllers are set up.", {
    consistencyGate: {
      description: "Whether the Job controller waits until it sees its own writes. Default: true.",
      type: "boolean",
    },
    maxUncountedPods: limit("Most ended pods that one sync of a Job accounts for. Default: 500."),
    maxPodsPerSync: limit("Most pods that one sync of a Job creates or deletes. Default: 500."),
    terminatedPodGCThreshold: {
      description: "Ended pods that are let be; 0: all. Default: 12500.",
      type: "integer",
    },
    leaseDurations: list("Of each controller manager's Lease; the last holds for the rest. Default: 15s.", duration),
  }),
  jitter: fields("The longest that requests and events take; how long each does is drawn. Default: they take none.", {
    requests: duration,
    events: duration,
  }),
} as const;
