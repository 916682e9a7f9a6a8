import type { Status } from "@kubewright/api";
import type { PathResponse } from "@kubewright/cluster";
import type { ApiRequest } from "@kubewright/transport";

/** Responses of the server's own paths, in the format of an API server. */

export function refusal(code: number, reason: string, message: string): PathResponse {
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return reply(code, status);
}

export function reply(status: number, value: object): PathResponse {
  return { status, contentType: "application/json", text: JSON.stringify(value) };
}

/**
 * Returns the JSON object of a request body, or an error message. A missing body counts as an empty object.
 *
 * @param example - An example body, for the error message.
 */
export function readJsonObject(body: ApiRequest["body"], example: string): Readonly<Record<string, unknown>> | string {
  let value: unknown;
  try {
    value =
      body === undefined ? {} : body.type === "decoded" ? body.value : JSON.parse(new TextDecoder().decode(body.bytes));
  } catch (error) {
    return `the body is not JSON: ${(error as Error).message}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `the body is not an object like ${example}`;
  return value as Record<string, unknown>;
}
