import type { Clock } from "@kubewright/clock";
import { type ResourceAttributes, describeRequest } from "@kubewright/apiserver";
import type { ApiRequest, Transport } from "@kubewright/transport";

/** Verbs that only read. */
const READING: ReadonlySet<string> = new Set(["get", "list", "watch"]);
/** Older ones are forgotten. */
const MAX_RECORDS = 100_000;

/** A request that a controller under test has sent. All attributes are `""` for what is no resource, such as discovery. */
export interface RequestRecord extends ResourceAttributes {
  /** Who sent it: the name it was run under. */
  readonly by: string;
  /** When, in epoch milliseconds of the cluster's clock. */
  readonly atMs: number;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; else the lower-case method. */
  readonly verb: string;
  readonly path: string;
  /** What was sent, where that is JSON. */
  readonly body: unknown;
  /** HTTP status of the answer. `undefined`: there was none, or there is none yet. */
  readonly code: number | undefined;
}

/** What controllers under test have sent, in order. */
export class RequestRecords {
  readonly #clock: Clock;
  readonly #onRecord: (record: RequestRecord) => void;
  #records: RequestRecord[] = [];

  /** @param onRecord - Told of each when it is sent; its `code` comes later. */
  constructor(clock: Clock, onRecord: (record: RequestRecord) => void) {
    this.#clock = clock;
    this.#onRecord = onRecord;
  }

  get all(): readonly RequestRecord[] {
    return this.#records;
  }

  /** The same way, with what goes over it recorded. */
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

/** What a request is about, with the name of what it creates. */
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

/** Whether a request is one that changes something. Events and Leases count as nothing: they say what else happens. */
export function isWrite({ verb, resource, group }: Pick<RequestRecord, "verb" | "resource" | "group">): boolean {
  if (READING.has(verb) || resource === "") return false;
  return resource !== "events" && !(resource === "leases" && group === "coordination.k8s.io");
}
