import { durationText } from "../generate/duration-text.js";
import { selection } from "../generate/request-kinds.js";
import { controller, count, delay, fields, oneOf } from "../scenario/schema.js";
import { durationOf } from "../scenario/scenario-times.js";
import { defineEvent } from "./event-definition.js";
import { otherRequest } from "./request-fails.js";
import { requestFields, requestsText } from "./requests.js";

export const controllerCrashes = defineEvent({
  schema: fields(
    "A controller is killed right before or after one of its requests takes effect, and restarted. Default: its first write.",
    {
      controller: { description: "Which; all: the controller manager that sends it.", ...controller },
      ...requestFields,
      nth: { description: "Which of these requests, counted from then on. Default: 1.", ...count },
      when: { description: "Default: after.", ...oneOf("before", "after") },
      restartAfter: { description: "Time until it restarts. Default: 1s.", ...delay },
    },
    ["controller"],
  ),
  example: { controller: "job-controller", resources: ["pods"], nth: 3, when: "before" },
  lasts: { byDefault: "5m" },
  precedesRequests: true,
  isGraftable: true,
  omittable: ["restartAfter", "when"],
  share: 0.5,
  effects: ["losesCreations", "restarts"],
  action({ controller: name, nth = 1, when = "after", restartAfter = "1s", ...selected }, { cluster }) {
    const point = { verbs: ["write"], ...selected, nth, when };
    const end = cluster.faults.crashAt(
      { ...point, controller: name === "all" ? undefined : name },
      durationOf(restartAfter),
    );
    const who = name === "all" ? "a controller manager" : name;
    return { message: `${who} dies ${when} request ${nth} of ${requestsText(point)}`, end };
  },
  generateAtRequest(parent, kind, nth) {
    const draw = parent.fork("crash");
    const { components: _components, ...which } = selection(kind);
    const restartAfter = draw.fork("restart").weighted([
      [undefined, 60],
      [draw.fork("soon").integer(0, 500), 20],
      [draw.fork("later").delayMs(), 20],
    ]);
    return {
      controller: draw.fork("all").chance(0.3) ? "all" : kind.component,
      ...which,
      nth,
      when: draw.fork("when").pick(["before", "after"]),
      ...(restartAfter === undefined ? {} : { restartAfter: durationText(restartAfter) }),
    };
  },
  retarget: (draw, value) => ({
    ...value,
    nth: otherRequest(draw, value.nth),
    when: draw.fork("when").pick(["before", "after"]),
  }),
});
