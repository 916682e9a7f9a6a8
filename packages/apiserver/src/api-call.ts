import type { Clock, Random } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import type { AccessControl } from "./access-control.js";
import type { UserInfo } from "./authorization/authorizer.js";
import type { BookmarkClock } from "./bookmark-clock.js";
import type { ManagerReader } from "./fields/managers.js";
import type { NewObjects } from "./fields/new-objects.js";
import type { Query } from "./query.js";
import type { ResourceTarget, Verb } from "./route.js";
import type { ResourceRegistry } from "./resource-registry.js";
import type { BuiltInSchemas } from "./schema/built-in-schemas.js";
import type { ServedResource } from "./served-resource.js";
import type { Store } from "./storage/store.js";
import type { Transform } from "./transform.js";

/** What every handler works with; one per server. */
export interface ServerState {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly registry: ResourceRegistry;
  /** Absent from a server that was made without. */
  readonly namespaces: ServedResource | undefined;
  readonly schemas: BuiltInSchemas;
  /** Whether `metadata.managedFields` is kept up. */
  readonly tracksFields: boolean;
  readonly managers: ManagerReader;
  readonly newObjects: NewObjects;
  readonly access: AccessControl;
  readonly bookmarks: BookmarkClock;
}

/** One request for a resource, while it is served. */
export interface ApiCall {
  readonly server: ServerState;
  readonly request: ApiRequest;
  readonly target: ResourceTarget;
  readonly verb: Verb;
  readonly query: Query;
  readonly userAgent: string;
  readonly user: UserInfo;
  /** How the client wants objects to look. */
  readonly transform: Transform | undefined;
  /** Texts for `Warning` headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Bytes that were made anew of what was sent, roughly: what a version that it becomes adds to the one before. */
  newBytes: number;
}

export function warn(call: ApiCall, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const told = new Set(call.warnings);
  for (const text of texts) {
    if (told.has(text)) continue;
    told.add(text);
    call.warnings.push(text);
  }
}
