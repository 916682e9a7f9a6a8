import { fields } from "../scenario/schema.js";
import { drawCache, forDelay } from "./draws.js";
import { defineEvent } from "./event-definition.js";
import { cacheFields, watchesOf, watchesText } from "./watches.js";

export const watchSilent = defineEvent({
  schema: fields("Open watches deliver nothing more, not even their end; they break after the event.", cacheFields),
  example: { controller: "job-controller", kinds: ["Pod"] },
  lasts: "untilUndone",
  precedesRequests: true,
  isGraftable: true,
  effects: ["hidesPods", "losesCreations"],
  action: (caches, { cluster }) => ({
    end: cluster.faults.silenceWatches(watchesOf(caches, cluster)),
    message: `${watchesText(caches)} fall silent`,
  }),
  generate: (draw, context) => [{ ...forDelay(draw), watchSilent: drawCache(draw, context) }],
});
