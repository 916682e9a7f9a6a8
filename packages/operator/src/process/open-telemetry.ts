import type { Tracer } from "../tracing.js";

/**
 * Returns a tracer of `@opentelemetry/api` if the package is installed. The tracer does nothing until a provider is
 * registered.
 */
export async function openTelemetryTracer(name: string): Promise<Tracer | undefined> {
  try {
    const { trace } = await import("@opentelemetry/api");
    return trace.getTracer(name);
  } catch {
    return undefined;
  }
}
