import { type ValueOf, components, controllerManager, fields, list, oneOf, text, typed } from "../scenario/schema.js";

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

const selection = fields("Requests.", { components, controllerManager, ...requestFields });

/** A selection of requests: those that meet all given conditions. */
export type RequestSelection = ValueOf<typeof selection>;

/** Describes a selection of requests: `write pods of job-controller`. */
export function requestsText({
  components: senders,
  controllerManager: process,
  verbs,
  resources,
  namespace,
  name,
}: RequestSelection): string {
  const what = `${verbs?.join(" and ") ?? "requests of"} ${resources?.join(" and ") ?? "everything"}`;
  const where =
    name === undefined ? (namespace === undefined ? "" : ` in ${namespace}`) : ` ${namespace ?? ""}/${name}`;
  const whose = [senders?.join(" and "), process].filter((who) => who !== undefined);
  return `${what}${where}${whose.length === 0 ? "" : ` by ${whose.join(" of ")}`}`;
}
