import type { KubernetesObject } from "@kubewright/api";

import type { UserInfo } from "../authorization/authorizer.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { ServerState } from "../server-state.js";
import { subresourceOf } from "../route.js";
import type { ServedResource, SubresourceView } from "../served-resource.js";
import type { DeleteOptions, WriteOptions } from "./options.js";
import { type Write, annotate, warn } from "./write.js";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What is asked to be done. Upstream: `admission.Attributes`. */
export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: ServedResource;
  /** `""`: the object itself. */
  readonly subresource: string;
  /** What {@link object} and {@link oldObject} are: the resource's kind, or what is sent to the subresource, as a Scale. */
  readonly kind: GroupVersionKind;
  /** `""`: cluster-scoped. */
  readonly namespace: string;
  /** `""` of a new object whose name is still to be made. */
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * What is to be stored, or is sent to the subresource; `undefined` of a deletion. A mutating plugin changes it, or puts another one here. Members that equal
   * those of {@link oldObject} are the stored ones: put others in their place, do not change them.
   */
  object: KubernetesObject | undefined;
  /** What is stored; `undefined` of a new object. Shared: not to be changed. */
  readonly oldObject: KubernetesObject | undefined;
  /** `undefined` of a connection. */
  readonly options: WriteOptions | DeleteOptions | undefined;
  readonly server: ServerState;
  /** Adds a sentence to the answer's `Warning` headers. */
  warn(text: string): void;
  /** Notes something in the request's audit record, under a key as `example.com/why`; the first value of a key stays. */
  annotate(key: string, value: string): void;
}

/**
 * One of those who are asked before anything is written, in order: first all that may change the object, then, when it is
 * complete and valid, all that may only refuse it. Refusals are thrown (`ApiError`).
 *
 * A plugin that answers with a promise is waited for; what is stored may change meanwhile, and then an update begins anew
 * with what is stored by then, and asks again.
 */
export interface AdmissionPlugin {
  /** Asked after all others, as what it lets pass may not be refused any more. Default false. */
  readonly isLast?: boolean;
  /** Whether writes of it are this plugin's business. Default: all are. */
  concerns?(resource: ServedResource): boolean;
  /**
   * Whether there is nothing to do for now. Asked anew only when a resource gets its first object or loses its last, which is
   * all it may depend on: an idle plugin costs a write nothing. Default: never.
   */
  isIdle?(server: ServerState): boolean;
  /** Creates, updates and connections, after defaults and before validation; a deletion has nothing to change. */
  mutate?(attributes: AdmissionAttributes): Awaitable<void>;
  /** Creates, updates and connections after validation, and deletions. */
  validate?(attributes: AdmissionAttributes): Awaitable<void>;
}

type Phase = "mutate" | "validate";

/** Whom writes of one resource concern and who has something to do, as long as `Store.occupancy` stays as it is. */
interface Chain extends Readonly<Record<Phase, readonly AdmissionPlugin[]>> {
  readonly occupancy: number;
}

/** The plugins of a server. Where none is awake, a write costs one look-up. Upstream: `admission.chainAdmissionHandler`. */
export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  /** By resource, as custom resources come and go. */
  readonly #chains = new WeakMap<ServedResource, Chain>();

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  /** The object as the plugins want it. @throws ApiError */
  mutate(
    write: Write,
    options: WriteOptions,
    object: KubernetesObject,
    oldObject?: KubernetesObject,
  ): Awaitable<KubernetesObject> {
    const plugins = this.#chainFor(write).mutate;
    if (plugins.length === 0) return object;
    const view = subresourceOf(write.target)?.view;
    const attributes = attributesOf(write, options, viewObject(view, object), viewObject(view, oldObject));
    return andThen(runPlugins(plugins, "mutate", attributes, 0), () =>
      view === undefined ? attributes.object! : view.apply(write, attributes.object!, object),
    );
  }

  /** @param object - `undefined` of a deletion. @throws ApiError */
  validate(
    write: Write,
    options: WriteOptions | DeleteOptions,
    object: KubernetesObject | undefined,
    oldObject?: KubernetesObject,
  ): Awaitable<void> {
    const plugins = this.#chainFor(write).validate;
    if (plugins.length === 0) return undefined;
    const view = subresourceOf(write.target)?.view;
    return runPlugins(
      plugins,
      "validate",
      attributesOf(write, options, viewObject(view, object), viewObject(view, oldObject)),
      0,
    );
  }

  /**
   * Asks about what is sent and not stored: first all that may change it, then, when it was checked, all that may refuse it.
   *
   * @throws ApiError
   */
  admit<T extends KubernetesObject>(
    write: Write,
    options: WriteOptions,
    sent: T,
    check: (admitted: T) => void,
  ): Awaitable<T> {
    return andThen(this.mutate(write, options, sent), (admitted) => {
      check(admitted as T);
      return andThen(this.validate(write, options, admitted), () => admitted as T);
    });
  }

  /**
   * Asks about what is connected to. Upstream: `handlers.ConnectResource`.
   *
   * @connectOptions connectOptions - The options of the connection, as a `PodExecOptions`. @throws ApiError
   */
  connect<T extends KubernetesObject>(write: Write, connectOptions: T): Awaitable<T> {
    const attributes = attributesOf(write, undefined, connectOptions, undefined);
    const { mutate, validate } = this.#chainFor(write);
    return andThen(runPlugins(mutate, "mutate", attributes, 0), () =>
      andThen(runPlugins(validate, "validate", attributes, 0), () => attributes.object as T),
    );
  }

  #chainFor({ server, target: { resource } }: Write): Chain {
    const chain = this.#chains.get(resource);
    return chain?.occupancy === server.store.occupancy ? chain : this.#makeChain(server, resource);
  }

  #makeChain(server: ServerState, resource: ServedResource): Chain {
    const active = this.#plugins.filter(
      (plugin) => plugin.concerns?.(resource) !== false && plugin.isIdle?.(server) !== true,
    );
    const chain = {
      occupancy: server.store.occupancy,
      mutate: active.filter((plugin) => plugin.mutate !== undefined),
      validate: active.filter((plugin) => plugin.validate !== undefined),
    };
    this.#chains.set(resource, chain);
    return chain;
  }
}

/** One after the other, from that one on: each sees what those before it have made of the object. */
function runPlugins(
  plugins: readonly AdmissionPlugin[],
  phase: Phase,
  attributes: AdmissionAttributes,
  first: number,
): Awaitable<void> {
  for (let index = first; index < plugins.length; index++) {
    const pending = plugins[index]![phase]!(attributes);
    if (pending instanceof Promise) return pending.then(() => runPlugins(plugins, phase, attributes, index + 1));
  }
}

/** The object as who is asked sees it: as what the subresource takes and answers. */
function viewObject(
  view: SubresourceView | undefined,
  object: KubernetesObject | undefined,
): KubernetesObject | undefined {
  return view === undefined || object === undefined ? object : view.show(object);
}

/** @param options - `undefined` of a connection. */
function attributesOf(
  write: Write,
  options: WriteOptions | DeleteOptions | undefined,
  object: KubernetesObject | undefined,
  oldObject: KubernetesObject | undefined,
): AdmissionAttributes {
  const { server, target, user } = write;
  const { resource, subresource, namespace, name } = target;
  return {
    operation:
      options === undefined
        ? "CONNECT"
        : oldObject === undefined
          ? "CREATE"
          : object === undefined
            ? "DELETE"
            : "UPDATE",
    resource,
    subresource,
    kind: requestedKind(resource, subresource),
    namespace,
    // New objects, and those of a collection, are not in the path.
    name: name === "" ? ((object ?? oldObject)?.metadata.name ?? "") : name,
    user,
    dryRun: options?.dryRun ?? false,
    object,
    oldObject,
    options,
    server,
    warn: (text) => warn(write, [text]),
    annotate: (key, value) => annotate(write, key, value),
  };
}

/** What is written to the resource, or to its subresource. Upstream: `Attributes.GetKind`. */
export function requestedKind(resource: ServedResource, subresource: string): GroupVersionKind {
  return (subresource === "" ? undefined : resource.subresources.get(subresource)) ?? resource;
}
