import type {
  ADD,
  CHANGE,
  CONNECT,
  DELETE,
  ERROR,
  KubeConfig,
  KubernetesObject as ClientNodeObject,
  UPDATE,
} from "@kubernetes/client-node";
import { type DeepReadonly, type KubernetesObject, type Wire, objectKey } from "@kubewright/api";
import { Client, type Reader } from "@kubewright/client";
import { type Clock, type Random, realClock, realRandom } from "@kubewright/clock";

import { errorReporter } from "./error-reporter.js";
import { namespaceIndex, namespaceIndexValues } from "./indexers.js";
import { InformerError } from "./informer-error.js";
import { KubeConfigTransport } from "./kube-config-transport.js";
import { resourceVersionOf } from "./object-metadata.js";
import { Reflector, type ReflectorTarget } from "./reflector.js";
import { type ParsedPath, parseResourcePath } from "./resource-path.js";
import { Store } from "./store.js";
import type { AnyTransform } from "./transform.js";

export interface ListWatchOptions {
  /** Default: `realClock`. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default `kubewright`. */
  readonly userAgent?: string;
  /** Whether to ask the server to stream the initial list, falling back to a list request. Default true. */
  readonly watchList?: boolean;
  /** Transforms each object before it is cached and delivered, e.g. `withoutManagedFields`. */
  readonly transform?: AnyTransform;
}

type ObjectVerb = ADD | UPDATE | DELETE;
type OtherVerb = CONNECT | ERROR;
type Callback<T extends ClientNodeObject> = ((object: CachedObject<T>) => void) & ((error?: unknown) => void);

/**
 * An object of a client-node model as it is delivered and cached: the API server's JSON, in which dates are strings.
 * Objects are shared and must not be changed.
 */
export type CachedObject<T extends ClientNodeObject> = DeepReadonly<Wire<T>>;

/** client-node's `Informer` and `ObjectCache`, for objects as JSON. */
export interface CachingInformer<T extends ClientNodeObject> {
  on(verb: ObjectVerb | CHANGE, callback: (object: CachedObject<T>) => void): void;
  on(verb: OtherVerb, callback: (error?: unknown) => void): void;
  off(verb: ObjectVerb | CHANGE, callback: (object: CachedObject<T>) => void): void;
  off(verb: OtherVerb, callback: (error?: unknown) => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
  get(name: string, namespace?: string): CachedObject<T> | undefined;
  list(namespace?: string): readonly CachedObject<T>[];
}

/**
 * An informer with the interface of @kubernetes/client-node and the behaviour of this package: it continues after every
 * error.
 *
 * Differences from client-node:
 *
 * - Objects are the JSON of the API server (dates are strings). They are shared and must not be changed, which their
 *   types express.
 * - `error` reports problems, but no further `start` is needed (it has no effect).
 * - `connect` is emitted when a watch has been opened.
 * - The list function is never called: the informer lists by the path.
 */
export class ListWatch<T extends ClientNodeObject> implements CachingInformer<T> {
  readonly #path: ParsedPath;
  readonly #kubeConfig: KubeConfig;
  readonly #options: ListWatchOptions & Pick<ParsedPath, "labelSelector" | "fieldSelector">;
  readonly #store = new Store<KubernetesObject>({ indexers: { [namespaceIndex]: namespaceIndexValues } });
  /** Writes errors to standard error that no `error` callback receives. */
  readonly #logUnhandled: (error: InformerError) => void;
  readonly #callbacks: Record<ObjectVerb | OtherVerb, readonly Callback<T>[]> = {
    add: [],
    update: [],
    delete: [],
    connect: [],
    error: [],
  };
  #run: Run | undefined;

  /**
   * Has the parameters of client-node's constructor, in the same order.
   *
   * @param path - Path of the collection, such as `/api/v1/namespaces/default/pods`.
   * @param watch - client-node's `Watch`, of which only the `KubeConfig` is used.
   * @param _listFn - Never called.
   * @param autoStart - Whether to start immediately. Default true.
   * @throws Error when `path` is not the path of a collection.
   */
  constructor(
    path: string,
    watch: { readonly config: KubeConfig },
    _listFn?: unknown,
    autoStart = true,
    labelSelector?: string,
    fieldSelector?: string,
    options: ListWatchOptions = {},
  ) {
    this.#path = parseResourcePath(path);
    this.#kubeConfig = watch.config;
    this.#logUnhandled = errorReporter(options.clock ?? realClock, undefined);
    this.#options = {
      ...options,
      labelSelector: labelSelector ?? this.#path.labelSelector,
      fieldSelector: fieldSelector ?? this.#path.fieldSelector,
    };
    if (autoStart) void this.start();
  }

  /**
   * Resolves once the cache is complete, or the first attempt has failed. The informer continues in both cases. Never
   * rejects.
   */
  async start(): Promise<void> {
    this.#run ??= this.#startRun();
    await this.#run.started;
  }

  /**
   * Stops the informer, and resolves when everything has ended. The cache keeps its content, and `start` continues from
   * it.
   */
  async stop(): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    run?.controller.abort(new Error("the informer was stopped"));
    await run?.ended;
  }

  on(verb: ObjectVerb | CHANGE, callback: (object: CachedObject<T>) => void): void;
  on(verb: OtherVerb, callback: (error?: unknown) => void): void;
  on(verb: ObjectVerb | CHANGE | OtherVerb, callback: Callback<T>): void {
    for (const one of expandVerb(verb)) this.#callbacks[one] = [...this.#callbacksOf(one), callback];
  }

  off(verb: ObjectVerb | CHANGE, callback: (object: CachedObject<T>) => void): void;
  off(verb: OtherVerb, callback: (error?: unknown) => void): void;
  off(verb: ObjectVerb | CHANGE | OtherVerb, callback: Callback<T>): void {
    for (const one of expandVerb(verb)) {
      const index = this.#callbacksOf(one).indexOf(callback);
      if (index >= 0) this.#callbacks[one] = this.#callbacksOf(one).filter((_, position) => position !== index);
    }
  }

  get(name: string, namespace?: string): CachedObject<T> | undefined {
    return this.#store.get(objectKey({ name, namespace: namespace ?? "" })) as CachedObject<T> | undefined;
  }

  /** Returns the objects of a namespace; without one, all objects. */
  list(namespace?: string): readonly CachedObject<T>[] {
    return this.#store.listNamespace(namespace ?? "") as unknown as readonly CachedObject<T>[];
  }

  latestResourceVersion(): string {
    return this.#store.lastStoreSyncResourceVersion;
  }

  #startRun(): Run {
    const {
      clock = realClock,
      random = realRandom,
      userAgent,
      watchList,
      labelSelector,
      fieldSelector,
    } = this.#options;
    const controller = new AbortController();
    const connection = new KubeConfigTransport(this.#kubeConfig, clock);
    const client = new Client({
      transport: (request) => connection.send(request),
      clock,
      ...(userAgent === undefined ? {} : { userAgent }),
    }).resource(this.#path.definition);
    const started = Promise.withResolvers<void>();
    const { definition } = this.#path;
    const { transform } = this.#options;
    const reflector = new Reflector<KubernetesObject>({
      client: this.#withConnectEvents(client),
      clock,
      random,
      target: this.#target(started.resolve),
      namespace: this.#path.namespace,
      labelSelector,
      fieldSelector,
      watchList,
      transform: transform && ((object) => transform(object, definition)),
      onError: (error) => {
        this.#emit("error", error);
        started.resolve();
      },
    });
    const ended = reflector.run(controller.signal).then(() => {
      started.resolve();
      return connection.close();
    });
    return { controller, started: started.promise, ended };
  }

  #withConnectEvents(client: Reader<KubernetesObject>): Reader<KubernetesObject> {
    return {
      definition: client.definition,
      get: (name, options) => client.get(name, options),
      list: (options) => client.list(options),
      watch: async (options) => {
        const events = await client.watch(options);
        this.#emit("connect", undefined);
        return events;
      },
    };
  }

  #target(synced: () => void): ReflectorTarget<KubernetesObject> {
    return {
      replace: (objects, resourceVersion) => {
        const { vanished, present } = this.#store.replace(objects, resourceVersion);
        for (const { object } of vanished) this.#emit("delete", object);
        for (const { old, object } of present) this.#emitChange(old, object);
        synced();
      },
      apply: (type, object) => {
        if (type !== "DELETED") this.#emitChange(this.#store.update(object), object);
        else if (this.#store.delete(object) !== undefined) this.#emit("delete", object);
      },
      bookmark: (resourceVersion) => this.#store.bookmark(resourceVersion),
      resync: () => {},
    };
  }

  #emitChange(old: DeepReadonly<KubernetesObject> | undefined, object: DeepReadonly<KubernetesObject>): void {
    if (old === undefined) this.#emit("add", object);
    else if (resourceVersionOf(old) !== resourceVersionOf(object)) this.#emit("update", object);
  }

  /**
   * Calls the callbacks. Reports a callback that throws, or whose promise rejects, to `error`; the others are called
   * nevertheless.
   */
  #emit(verb: ObjectVerb | OtherVerb, argument: unknown): void {
    const failed = (error: unknown): void => {
      const failure = new InformerError("handler", `a callback for ${JSON.stringify(verb)} failed`, error);
      if (verb === "error") this.#logUnhandled(failure);
      else this.#emit("error", failure);
    };
    if (verb === "error" && this.#callbacks.error.length === 0) this.#logUnhandled(argument as InformerError);
    for (const callback of this.#callbacks[verb]) {
      try {
        const returned: unknown = callback(argument as CachedObject<T>);
        if (returned instanceof Promise) returned.catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }

  #callbacksOf(verb: ObjectVerb | OtherVerb): readonly Callback<T>[] {
    const callbacks = this.#callbacks[verb] as readonly Callback<T>[] | undefined;
    if (callbacks === undefined) throw new Error(`Unknown verb: ${verb}`);
    return callbacks;
  }
}

interface Run {
  readonly controller: AbortController;
  readonly started: Promise<void>;
  readonly ended: Promise<void>;
}

function expandVerb(verb: ObjectVerb | CHANGE | OtherVerb): readonly (ObjectVerb | OtherVerb)[] {
  return verb === "change" ? ["add", "update", "delete"] : [verb];
}
