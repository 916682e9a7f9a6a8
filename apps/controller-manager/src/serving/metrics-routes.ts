import { EXPOSITION_TYPES, type ExpositionFormat, negotiateFormat } from "../metrics/exposition.js";
import type { ManagerMetrics } from "../metrics/manager-metrics.js";
import { type HttpReply, type HttpRequest, header, textReply } from "./http-message.js";
import type { Route } from "./router.js";

/** `/metrics` and `/metrics/slis`. */
export function metricsRoutes(metrics: Pick<ManagerMetrics, "text" | "sliText" | "resetSlis">): readonly Route[] {
  return [
    { path: "/metrics", listed: true, handle: (request) => scrape(request, (format) => metrics.text(format)) },
    {
      path: "/metrics/slis",
      handle: (request) => {
        if (request.method !== "DELETE") return scrape(request, (format) => metrics.sliText(format));
        metrics.resetSlis();
        return textReply(200, "metrics reset\n");
      },
    },
  ];
}

async function scrape(request: HttpRequest, text: (format: ExpositionFormat) => Promise<string>): Promise<HttpReply> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return textReply(405, "Method Not Allowed\n", { allow: "GET, HEAD" });
  const format = negotiateFormat(header(request, "accept"));
  return { status: 200, headers: { "content-type": EXPOSITION_TYPES[format] }, body: await text(format) };
}
