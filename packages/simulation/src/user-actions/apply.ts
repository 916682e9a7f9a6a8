import type { UnstructuredObject } from "@kubewright/api";
import { type Client, isNotFound } from "@kubewright/client";

import { Discovery } from "../discovery.js";
import { defineEvent } from "../faults/event-definition.js";
import { type FindUid, resolveOwnerUids } from "../owner-uids.js";
import { manifest, typed } from "../scenario/schema.js";

export const apply = defineEvent({
  schema: typed<string | UnstructuredObject>({
    description: "A user applies an object, or the objects of a file, by server-side apply.",
    type: ["string", "object"],
    examples: ["changed.yaml"],
    ...manifest,
  }),
  example: "changed.yaml",
  isUserAction: true,
  action(_value, { user, objects }) {
    const names = objects.map(
      ({ object }) => `${object.kind} ${object.metadata.namespace ?? "default"}/${object.metadata.name}`,
    );
    return {
      message: `a user applies ${names.join(", ")}`,
      async begin() {
        const discovery = new Discovery(user);
        for (const { object: written } of objects) {
          const object = await resolveOwnerUids(written, (owner) => uidOf(owner, user, discovery));
          const definition = await discovery.find(object);
          if (definition === undefined)
            throw new Error(`this cluster does not know kind ${object.kind} in ${object.apiVersion}`);
          const namespace = definition.namespaced ? (object.metadata.namespace ?? "default") : undefined;
          const body = namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
          await user
            .resource(definition)
            .patch(
              object.metadata.name ?? "",
              { type: "apply", body },
              { namespace, fieldManager: "user", force: true },
            );
        }
      },
    };
  },
});

async function uidOf(
  { namespace, name, ...kind }: Parameters<FindUid>[0],
  user: Client,
  discovery: Discovery,
): Promise<string | undefined> {
  const definition = await discovery.find({ ...kind, metadata: { name } });
  if (definition === undefined) return undefined;
  try {
    const object = await user.resource(definition).get(name, definition.namespaced ? { namespace } : {});
    return object.metadata.uid;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
