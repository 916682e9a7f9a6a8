import type { KubernetesObject } from "@kubewright/api";

import type { RequestUser } from "../authorization/authorizer.js";
import { type Awaitable, andThen } from "../awaitable.js";
import { subresourceOf } from "../route.js";
import type { ServedResource, SubresourceView } from "../served-resource.js";
import type { DeleteOptions, WriteOptions } from "./options.js";
import { type Write, type WriteServer, annotate, warn } from "./write.js";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Attributes of an admission request. Upstream: `admission.Attributes`. */
export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: ServedResource;
  /** `""`: the object itself. */
  readonly subresource: string;
  /**
   * Kind of {@link object} and {@link oldObject}: the resource's kind, or the kind of the subresource's body, such as
   * Scale.
   */
  readonly kind: GroupVersionKind;
  /** `""`: cluster-scoped. */
  readonly namespace: string;
  /** `""` for a new object without a generated name yet. */
  readonly name: string;
  readonly user: RequestUser;
  readonly dryRun: boolean;
  /**
   * The object to be stored, or the body sent to a subresource; `undefined` for a deletion. A mutating plugin changes
   * it or assigns another object. Members equal to those of {@link oldObject} are shared with the stored object:
   * replace them, do not change them.
   */
  object: KubernetesObject | undefined;
  /** The stored object; `undefined` for a new object. Shared: do not change it. */
  readonly oldObject: KubernetesObject | undefined;
  /** `undefined` for CONNECT. */
  readonly options: WriteOptions | DeleteOptions | undefined;
  readonly server: WriteServer;
  /** Adds a text to the response's `Warning` headers. */
  warn(text: string): void;
  /**
   * Adds an annotation to the request's audit record, with a key such as `example.com/why`. The first value of a key is
   * final.
   */
  annotate(key: string, value: string): void;
}

/**
 * An admission plugin, called before every write. The server first calls `mutate` of all plugins in order. When the
 * object is complete and valid, it calls `validate` of all plugins. A plugin refuses a request by throwing `ApiError`.
 *
 * A plugin may return a promise. The stored object may change meanwhile; an update then restarts with the new stored
 * object and calls the plugins again.
 */
export interface AdmissionPlugin {
  /** Whether the plugin runs after all others, because no later plugin may refuse what it accepted. Default false. */
  readonly isLast?: boolean;
  /** Whether the plugin handles writes of the resource. Default: of all resources. */
  concerns?(resource: ServedResource): boolean;
  /**
   * Whether the plugin has nothing to do now. An idle plugin costs a write nothing. The result is cached until a
   * resource gets its first object or loses its last one, and may depend on nothing else. Default: never idle.
   */
  isIdle?(server: WriteServer): boolean;
  /** Called for CREATE, UPDATE and CONNECT, after defaulting and before validation. Deletions cannot be changed. */
  mutate?(attributes: AdmissionAttributes): Awaitable<void>;
  /** Called for CREATE, UPDATE and CONNECT after validation, and for DELETE. */
  validate?(attributes: AdmissionAttributes): Awaitable<void>;
}

type Phase = "mutate" | "validate";

/** The active plugins for one resource, valid while `Store.occupancy` is unchanged. */
interface Chain extends Readonly<Record<Phase, readonly AdmissionPlugin[]>> {
  readonly occupancy: number;
}

/**
 * The admission plugins of a server. Without an active plugin a write costs one lookup. Upstream:
 * `admission.chainAdmissionHandler`.
 */
export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  /** By resource, weakly, because custom resources may be removed. */
  readonly #chains = new WeakMap<ServedResource, Chain>();

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  /**
   * Runs the mutating phase and returns the resulting object.
   *
   * @throws ApiError
   */
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
      view === undefined ? attributes.object! : view.apply(write.target, attributes.object!, object),
    );
  }

  /**
   * Runs the validating phase.
   *
   * @param object - `undefined` for a deletion.
   * @throws ApiError
   */
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
   * Runs admission for an object that is not stored: mutating plugins, `check`, then validating plugins.
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
   * Runs admission for a CONNECT request. Upstream: `handlers.ConnectResource`.
   *
   * @param connectOptions - Options of the connection, such as a `PodExecOptions`.
   * @throws ApiError
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

  #makeChain(server: WriteServer, resource: ServedResource): Chain {
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

/** Runs the plugins one after the other, from index `first`. Each sees the changes of the plugins before it. */
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

/** Returns the object as admission sees it: converted to the subresource's kind. */
function viewObject(
  view: SubresourceView | undefined,
  object: KubernetesObject | undefined,
): KubernetesObject | undefined {
  return view === undefined || object === undefined ? object : view.show(object);
}

/** @param options - `undefined` for CONNECT. */
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
    // The path does not contain the name of a new object, or of the objects of a collection.
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

/** Returns the kind written to the resource or subresource. Upstream: `Attributes.GetKind`. */
export function requestedKind(resource: ServedResource, subresource: string): GroupVersionKind {
  return (subresource === "" ? undefined : resource.subresources.get(subresource)) ?? resource;
}
