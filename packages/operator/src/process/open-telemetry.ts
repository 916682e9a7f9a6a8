import type { Tracer } from "../tracing.js";

/** The tracer of `@opentelemetry/api`, where that is installed: one that does nothing until somebody registers a provider. */
export async function openTelemetryTracer(name: string): Promise<Tracer | undefined> {
  try {
    const { trace } = await import("@opentelemetry/api");
    return trace.getTracer(name);
  } catch {
    return undefined;
  }
}
