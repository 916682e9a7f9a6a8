import { fields, flag } from "../scenario/schema.js";
import { drawCache } from "./draws.js";
import { defineEvent } from "./event-definition.js";
import { drawOutage } from "./outage.js";
import { cacheFields, watchesOf, watchesText } from "./watches.js";

export const watchCut = defineEvent({
  schema: fields("Open watches end and are resumed.", {
    ...cacheFields,
    compacted: {
      description: "Whether the missed versions are compacted, so that the watcher lists again. Default: false.",
      ...flag,
    },
  }),
  example: { controller: "job-controller", kinds: ["Pod"] },
  isGraftable: true,
  omittable: ["compacted"],
  share: 0.35,
  effects: ["delaysCaches", "hidesPods"],
  action: ({ compacted = false, ...caches }, { cluster }) => ({
    message: `${watchesText(caches)} end${compacted ? ", and what they missed is forgotten" : ""}`,
    begin() {
      if (compacted) cluster.apiServer.compact();
      cluster.network.cutWatches(watchesOf(caches, cluster));
    },
  }),
  /** Watches end, and mostly cannot be reopened for a while. */
  generate(draw, context) {
    if (draw.fork("outage").chance(0.6)) return drawOutage(draw, drawCache(draw, context));
    const caches = draw.fork("all").chance(0.2) ? {} : drawCache(draw, context);
    return [{ watchCut: { ...caches, compacted: draw.fork("compacted").chance(0.6) } }];
  },
});
