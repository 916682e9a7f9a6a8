import { qualifiedNameErrors } from "@kubewright/api/validation";
import type { Clock, Random } from "@kubewright/clock";

import type { AccessControl } from "../access-control.js";
import type { RequestUser } from "../authorization/authorizer.js";
import type { ManagerReader } from "../fields/managers.js";
import type { NewObjectFields } from "../fields/new-object-fields.js";
import type { ResourceRegistry } from "../resource-registry.js";
import type { ResourceTarget, Verb } from "../route.js";
import type { BuiltInSchemas } from "../schema/built-in-schemas.js";
import type { ServedResource } from "../served-resource.js";
import type { Store } from "../storage/store.js";
import { MAX_WARNINGS } from "../warning-headers.js";
import type { Admission } from "./admission.js";

/** The parts of the server that writes and admission use. */
export interface WriteServer {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly namespaces: ServedResource;
  readonly schemas: BuiltInSchemas;
  readonly access: AccessControl;
  readonly admission: Admission;
  readonly quotas: { follow(resource: ServedResource, namespace: string): void };
  /** Whether the server maintains `metadata.managedFields`. */
  readonly tracksFields: boolean;
  readonly managers: ManagerReader;
  readonly newObjectFields: NewObjectFields;
  /** Whether containers may be privileged. */
  readonly allowsPrivileged: boolean;
  /** Whether the server creates the default objects of a cluster. */
  readonly hasDefaultObjects: boolean;
}

/** A write, independent of its endpoint. */
export interface Write {
  readonly server: WriteServer;
  readonly target: ResourceTarget;
  readonly verb: Verb;
  readonly user: RequestUser;
  /** Texts for `Warning` headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Annotations for the request's audit record. Absent when no audit listener is registered. */
  readonly annotations?: Map<string, string> | undefined;
  /** Approximate bytes allocated for the request's object: the additional memory of the version that it becomes. */
  newBytes: number;
}

export function warn({ warnings }: Pick<Write, "warnings">, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const existing = new Set(warnings);
  for (const text of texts) {
    if (warnings.length >= MAX_WARNINGS) return;
    if (existing.has(text)) continue;
    existing.add(text);
    warnings.push(text);
  }
}

/**
 * Adds an annotation to the request's audit record. The first value of a key is final. Ignores a key that is no
 * qualified name with a domain, such as `example.com/why`. Upstream: `attributesRecord.AddAnnotation`.
 */
export function annotate({ annotations }: Pick<Write, "annotations">, key: string, value: string): void {
  if (annotations === undefined || annotations.has(key)) return;
  if (key.includes("/") && qualifiedNameErrors(key).length === 0) annotations.set(key, value);
}
