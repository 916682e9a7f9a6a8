import { type DeepReadonly, type Event, type KubernetesObject, events } from "@kubewright/api";
import { describeRequest } from "@kubewright/apiserver";
import type { Client } from "@kubewright/client";
import type { Transport } from "@kubewright/transport";

import type { RelatedObject } from "./eventually.js";

/** Maximum number of objects in an error message. */
const MAX_OBJECTS = 8;
const MAX_PATHS = 32;

/** Objects that a test reads through its own client. The error of an unmet condition lists them. */
export class ReadObjects {
  readonly #paths = new Set<string>();

  watching(transport: Transport): Transport {
    return (request) => {
      if (request.method === "GET" && this.#paths.size < MAX_PATHS && isObjectRead(request.path))
        this.#paths.add(request.path);
      return transport(request);
    };
  }

  clear(): void {
    this.#paths.clear();
  }

  /** Returns the objects in their present state. @param client - A client that is not watched. */
  async objects(client: Client): Promise<readonly RelatedObject[]> {
    const found = new Map<string, DeepReadonly<KubernetesObject>>();
    for (const path of this.#paths) {
      const answer = await client.getRaw(path).catch(() => undefined);
      for (const object of objectsOf(answer)) {
        const { uid } = object.metadata;
        if (uid !== undefined && found.size < MAX_OBJECTS) found.set(uid, object);
      }
    }
    return Promise.all([...found.values()].map(async (object) => ({ object, events: await eventsOf(client, object) })));
  }
}

/** Returns whether a path reads objects. Events are listed with their objects. */
function isObjectRead(path: string): boolean {
  const info = describeRequest({ method: "GET", path });
  return info?.resource !== undefined && info.resource.resource !== "events" && info.verb !== "watch";
}

function objectsOf(answer: unknown): readonly DeepReadonly<KubernetesObject>[] {
  if (typeof answer !== "object" || answer === null) return [];
  const { kind, items } = answer as { readonly kind?: string; readonly items?: readonly KubernetesObject[] };
  if (items === undefined) return [answer as KubernetesObject];
  return items.map((item) => ({ kind: (kind ?? "").replace(/List$/, ""), ...item }));
}

async function eventsOf(client: Client, { metadata }: DeepReadonly<KubernetesObject>): Promise<DeepReadonly<Event>[]> {
  const { items } = await client.resource(events).list({ namespace: metadata.namespace ?? "default" });
  return items.filter(({ involvedObject }) => involvedObject.uid === metadata.uid);
}
