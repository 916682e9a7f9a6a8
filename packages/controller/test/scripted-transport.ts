import { type Status, isStatus } from "@kubewright/api";
import type { ApiRequest, Transport } from "@kubewright/transport";

export interface SentRequest {
  readonly method: ApiRequest["method"];
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
}

/**
 * A transport whose responses a test function computes in place of an API server. A failure Status is a rejection; an
 * exception is a broken connection.
 */
export function scriptedTransport(answer: (request: SentRequest, index: number) => unknown): {
  transport: Transport;
  requests: SentRequest[];
} {
  const requests: SentRequest[] = [];
  const transport: Transport = async ({ method, path, headers, body, signal }) => {
    const request: SentRequest = {
      method,
      path,
      contentType: headers["content-type"] as string | undefined,
      body: body?.type === "decoded" ? structuredClone(body.value) : undefined,
      signal,
    };
    requests.push(request);
    signal?.throwIfAborted();
    const value = await answer(request, requests.length - 1);
    const status = isStatus(value) && value.status === "Failure" ? value.code : method === "POST" ? 201 : 200;
    return { status, headers: {}, body: { type: "decoded", value } };
  };
  return { transport, requests };
}

export function refusal(
  code: number,
  reason: string,
  message: string,
  causes: { reason: string; message?: string }[] = [],
): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code,
    reason,
    message,
    details: { causes },
  };
}

/** Returns the object in the request as if it were stored. */
export function stored({ body, path }: SentRequest, metadata: object = {}): unknown {
  const object = (body ?? {}) as { metadata?: { generateName?: string; name?: string } };
  const name = object.metadata?.name ?? object.metadata?.generateName ?? path.split("?", 1).join().split("/").at(-1);
  return { ...object, metadata: { ...object.metadata, name, ...metadata } };
}
