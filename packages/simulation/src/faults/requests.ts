import { list, oneOf, text, typed } from "../scenario/schema.js";

/** The fields of a selection of requests: those that meet all given conditions. */
export const requestFields = {
  verbs: {
    description: "Default: every verb. write: create, update, patch and delete.",
    ...list<string>(oneOf("create", "update", "patch", "delete", "deletecollection", "get", "list", "watch", "write")),
  },
  resources: {
    description: "Plural names, with their subresources. Default: all.",
    ...list<string>(
      typed({
        type: "string",
        pattern: "^[a-z][a-z0-9]*(/[a-z]+)?$",
        title: "a resource",
        examples: ["pods", "jobs/status"],
      }),
    ),
  },
  namespace: { description: "Default: every namespace.", ...text },
  name: { description: "The object's name. Default: every name.", ...text },
};

/** A response in place of the API server's: an HTTP status, or `timeout` for no response. */
export type Answer = (typeof ANSWERS)[number];

export const ANSWERS = [400, 403, 404, 409, 422, 429, 500, 503, 504, "timeout"] as const;

/** A selection of requests: those that meet all given conditions. */
export interface RequestSelection {
  /** Names of components. Default: all. */
  readonly components?: readonly string[];
  /** Name of the controller manager that sends them. Default: any. */
  readonly controllerManager?: string;
  /** `create`, `update`, `patch`, `delete`, `get`, `list`, `watch`; `write` for the first four. Default: every verb. */
  readonly verbs?: readonly string[];
  /** Plural names: `pods`, `jobs/status`. Default: all. */
  readonly resources?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
}

/** Describes a selection of requests: `write pods of job-controller`. */
export function requestsText(selection: RequestSelection): string {
  const { components, controllerManager, verbs, resources, namespace, name } = selection;
  const what = `${verbs?.join(" and ") ?? "requests of"} ${resources?.join(" and ") ?? "everything"}`;
  const where =
    name === undefined ? (namespace === undefined ? "" : ` in ${namespace}`) : ` ${namespace ?? ""}/${name}`;
  const whose = [components?.join(" and "), controllerManager].filter((who) => who !== undefined);
  return `${what}${where}${whose.length === 0 ? "" : ` by ${whose.join(" of ")}`}`;
}
