import { durationText } from "../generate/duration-text.js";
import { duration, fields } from "../scenario/schema.js";
import { durationOf } from "../scenario/scenario-times.js";
import { drawCache } from "./draws.js";
import { defineEvent } from "./event-definition.js";
import { drawOutage } from "./outage.js";
import { cacheFields, resourceOf } from "./watches.js";

export const staleList = defineEvent({
  schema: fields(
    "Lists return what was stored some time ago, as from an API server whose cache lags, unless they request a newer version.",
    { ...cacheFields, by: { description: "How long ago.", ...duration } },
    ["by"],
  ),
  example: { controller: "job-controller", kinds: ["Pod"], by: "20s" },
  lasts: "required",
  precedesRequests: true,
  effects: ["returnsOldLists"],
  action({ controller, kinds, by }, { cluster }) {
    const end = cluster.faults.staleLists({
      byMs: durationOf(by),
      ...(controller === undefined ? {} : { components: [controller] }),
      ...(kinds === undefined ? {} : { resources: kinds.map((kind) => resourceOf(kind, cluster)) }),
    });
    const what = kinds === undefined ? "lists" : `lists of ${kinds.join(" and ")}s`;
    return { message: `${controller ?? "everybody"} gets ${what} as they were ${by} ago`, end };
  },
  /**
   * Controllers rarely list again on their own, so most of these faults include an outage. The missed versions are not
   * compacted: a server that has compacted them cannot serve them.
   */
  generate(draw, context) {
    const cache = drawCache(draw, context);
    const byMs = Math.max(1, draw.fork("by").delayMs());
    const relists = draw.fork("relists").chance(0.8) ? drawOutage(draw.fork("relist"), cache, false) : [];
    const lengthMs = Math.max(0, ...relists.map(({ afterMs = 0 }) => afterMs)) + draw.fork("for").delayMs();
    return [{ for: durationText(Math.max(1, lengthMs)), staleList: { ...cache, by: durationText(byMs) } }, ...relists];
  },
});
