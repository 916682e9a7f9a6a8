import { errorMessage } from "@kubewright/client";
import type { ApiRequest, Transport } from "@kubewright/transport";

type AttributeValue = string | number | boolean;

/** A span with the methods that are used here. Spans of `@opentelemetry/api` implement it. */
export interface Span {
  setAttribute(name: string, value: AttributeValue): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  recordException(exception: { readonly name?: string; readonly message: string }): void;
  end(): void;
}

/** A tracer with the method that is used here. Tracers of `@opentelemetry/api` implement it. */
export interface Tracer {
  startActiveSpan<Result>(
    name: string,
    options: { readonly kind: number; readonly attributes: Record<string, AttributeValue> },
    fn: (span: Span) => Result,
  ): Result;
}

/** `SpanKind` of `@opentelemetry/api`. */
export const SPAN_KIND = { internal: 0, client: 2 } as const;
/** `SpanStatusCode.ERROR` of `@opentelemetry/api`. */
const ERROR = 2;

export interface SpanDescription {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Record<string, AttributeValue>;
}

/** Runs `work` within a span, which records its error and ends with it. Without a tracer only runs `work`. */
export async function withSpan<Result>(
  tracer: Tracer | undefined,
  { name, kind, attributes }: SpanDescription,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  if (tracer === undefined) return work(undefined);
  return tracer.startActiveSpan(name, { kind, attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      const message = errorMessage(error);
      span.recordException({ name: error instanceof Error ? error.name : "Error", message });
      span.setStatus({ code: ERROR, message });
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * Wraps a transport with a span for every request, with OpenTelemetry's semantic conventions for HTTP clients. The span
 * of a watch ends when the response starts.
 */
export function tracedTransport(transport: Transport, tracer: Tracer | undefined): Transport {
  if (tracer === undefined) return transport;
  return (request) =>
    withSpan(tracer, describe(request), async (span) => {
      const response = await transport(request);
      span?.setAttribute("http.response.status_code", response.status);
      if (response.status >= 400) {
        span?.setAttribute("error.type", String(response.status));
        span?.setStatus({ code: ERROR });
      }
      return response;
    });
}

function describe({ method, path }: ApiRequest): SpanDescription {
  const mark = path.indexOf("?");
  const [urlPath, query] = mark < 0 ? [path, ""] : [path.slice(0, mark), path.slice(mark + 1)];
  const attributes = {
    "http.request.method": method,
    "url.path": urlPath,
    ...(query === "" ? {} : { "url.query": query }),
  };
  return { name: method, kind: SPAN_KIND.client, attributes };
}
