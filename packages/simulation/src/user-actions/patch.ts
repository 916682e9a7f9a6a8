import type { Patch } from "@kubewright/client";

import { defineEvent } from "../faults/event-definition.js";
import { oneOf, targetFields, targets, typed } from "../scenario/schema.js";
import { targetAction } from "./target-action.js";

export const patch = defineEvent({
  schema: targets(
    "A user patches objects.",
    {
      ...targetFields,
      type: { description: "Default: merge.", ...oneOf("merge", "strategic", "json") },
      subresource: {
        description: "What of the object is patched. Default: all but its status.",
        ...oneOf("status"),
      },
      with: typed<object>({
        description: "The patch: an object, or for type json a list of operations.",
        type: ["object", "array"],
      }),
    },
    ["kind", "with"],
  ),
  example: { kind: "Job", name: "report", with: { spec: { parallelism: 2 } } },
  isUserAction: true,
  check: ({ type, with: body }) =>
    (type === "json") === Array.isArray(body)
      ? []
      : [
          {
            path: ["with"],
            message: type === "json" ? "a patch of type json is a list of operations" : "a list needs `type: json`",
          },
        ],
  action({ type = "merge", with: body, subresource, ...target }, run) {
    const options = { fieldManager: "user", ...(subresource === undefined ? {} : { subresource }) };
    const verb = subresource === undefined ? "patches" : `patches the ${subresource} of`;
    const action = targetAction(verb, target, run, (name, namespace, client) =>
      client.patch(name, { type, body } as Patch, { namespace, ...options }),
    );
    return { ...action, message: `${action.message}: ${clip(JSON.stringify(body))}` };
  },
});

/** Maximum length of a patch in a message. */
const MAX_PATCH_CHARACTERS = 100;

function clip(text: string): string {
  return text.length <= MAX_PATCH_CHARACTERS ? text : `${text.slice(0, MAX_PATCH_CHARACTERS - 1)}…`;
}
