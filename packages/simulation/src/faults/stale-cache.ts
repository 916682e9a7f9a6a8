import { fields, kind, watcher } from "../scenario/schema.js";
import { forDelay } from "./draws.js";
import { defineEvent } from "./event-definition.js";
import { resourceOf } from "./watches.js";

export const staleCache = defineEvent({
  schema: fields("Watch events of a kind reach a controller only after the event.", { kind, controller: watcher }, [
    "kind",
    "controller",
  ]),
  example: { kind: "Pod", controller: "job-controller" },
  lasts: "required",
  precedesRequests: true,
  isGraftable: true,
  share: 0.4,
  // Expectations of creations that no cache shows expire after five minutes.
  effects: ["losesCreations"],
  action: ({ kind: cached, controller }, { cluster }) => ({
    message: `${controller} hears nothing new of ${cached}s`,
    end: cluster.faults.network({ components: [controller], heldBackResources: [resourceOf(cached, cluster)] }),
  }),
  generate: (draw, { targets }) => [{ ...forDelay(draw), staleCache: draw.fork("cache").pick(targets.caches) }],
});
