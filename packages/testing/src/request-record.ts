import type { Clock } from "@kubewright/clock";
import { type ResourceAttributes, describeRequest } from "@kubewright/apiserver";
import type { ApiRequest, Transport } from "@kubewright/transport";

/** Read-only verbs. */
const READING: ReadonlySet<string> = new Set(["get", "list", "watch"]);
/** Maximum number of records. Older records are dropped. */
const MAX_RECORDS = 100_000;

/** A request of a controller under test. All resource attributes are `""` for other requests, such as discovery. */
export interface RequestRecord extends ResourceAttributes {
  /** The sender: the name that the controller runs under. */
  readonly by: string;
  /** Time of the request, in epoch milliseconds of the cluster's clock. */
  readonly atMs: number;
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; otherwise the lower-case
   * method.
   */
  readonly verb: string;
  readonly path: string;
  /** The body, if it is JSON. */
  readonly body: unknown;
  /** HTTP status of the response; `undefined` without a response, or before it. */
  readonly code: number | undefined;
}

/** Requests of the controllers under test, in order. */
export class RequestRecords {
  readonly #clock: Clock;
  readonly #onRecord: (record: RequestRecord) => void;
  #records: RequestRecord[] = [];

  /** @param onRecord - Called with each record when the request is sent, before its `code` is set. */
  constructor(clock: Clock, onRecord: (record: RequestRecord) => void) {
    this.#clock = clock;
    this.#onRecord = onRecord;
  }

  get all(): readonly RequestRecord[] {
    return this.#records;
  }

  /** Returns a transport that records its requests here. */
  recording(by: string, transport: Transport): Transport {
    return async (request) => {
      const record: { -readonly [Key in keyof RequestRecord]: RequestRecord[Key] } = {
        ...attributesOf(request),
        by,
        atMs: this.#clock.now(),
        path: request.path,
        body: request.body?.type === "decoded" ? request.body.value : undefined,
        code: undefined,
      };
      if (this.#records.length >= MAX_RECORDS) this.#records = this.#records.slice(MAX_RECORDS / 2);
      this.#records.push(record);
      this.#onRecord(record);
      const response = await transport(request);
      record.code = response.status;
      return response;
    };
  }
}

/** Returns the resource attributes of a request. A create request gets the name from its body. */
export function attributesOf(request: ApiRequest): ResourceAttributes & { readonly verb: string } {
  const info = describeRequest(request);
  const { verb = request.method.toLowerCase(), resource } = info ?? {};
  if (resource === undefined)
    return { verb, group: "", version: "", resource: "", subresource: "", namespace: "", name: "" };
  if (resource.name !== "" || verb !== "create" || request.body?.type !== "decoded") return { verb, ...resource };
  const { metadata } = request.body.value as { readonly metadata?: { readonly name?: unknown } };
  return { verb, ...resource, name: typeof metadata?.name === "string" ? metadata.name : "" };
}

/** `create jobs.batch default/nightly`, `patch backups.example.com/status default/nightly`. */
export function requestText({
  verb,
  group,
  resource,
  subresource,
  namespace,
  name,
  path,
}: Pick<RequestRecord, "verb" | "path" | keyof ResourceAttributes>): string {
  if (resource === "") return `${verb} ${path}`;
  const qualified = group === "" ? resource : `${resource}.${group}`;
  const what = subresource === "" ? qualified : `${qualified}/${subresource}`;
  const object = [namespace, name].filter((part) => part !== "").join("/");
  return [verb, what, object].filter((part) => part !== "").join(" ");
}

/** Returns whether a request changes an object. Events and Leases do not count: they only report other actions. */
export function isWrite({ verb, resource, group }: Pick<RequestRecord, "verb" | "resource" | "group">): boolean {
  if (READING.has(verb) || resource === "") return false;
  return resource !== "events" && !(resource === "leases" && group === "coordination.k8s.io");
}
