import { type KubernetesObject, type ResourceDefinition, keyOf } from "@kubewright/api";

import type { CacheNarrowing } from "./cache-narrowing.js";
import type { DeclaredController } from "./controller-declaration.js";
import type { AnySource, ControllerOptions, ControllerSpec, NamedFinalizer } from "./controller-spec.js";
import type { EventSource, NamedEventSource } from "./event-source.js";
import { type MapFunction, ownersOf } from "./mapping.js";
import type { UsedResource } from "./operator-description.js";
import type { Finalizer, GoneHandler, Reconciler } from "./reconcile-request.js";
import { buildController } from "./running-controller.js";
import { type Source, type SourceOptions } from "./source.js";

export interface OwnsOptions<Source extends KubernetesObject> extends SourceOptions<Source> {
  /** Map only to the controlling owner, not to all owners. Default true. */
  readonly controllerOnly?: boolean;
}

const QUALIFIED_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * Declares what a controller watches and, last, its reconciler.
 *
 * @see controller-runtime pkg/builder
 */
export class ControllerBuilder<T extends KubernetesObject, Metrics> {
  readonly #definition: ResourceDefinition<T>;
  readonly #options: ControllerOptions<T>;
  readonly #declare: (controller: DeclaredController) => void;
  readonly #resources: UsedResource[];
  readonly #sources: AnySource[] = [];
  readonly #eventSources: NamedEventSource[] = [];
  readonly #finalizers: NamedFinalizer<T, Metrics>[] = [];
  #gone: GoneHandler<Metrics> | undefined;

  constructor(
    definition: ResourceDefinition<T>,
    options: ControllerOptions<T>,
    declare: (controller: DeclaredController) => void,
  ) {
    this.#definition = definition;
    this.#options = options;
    this.#declare = declare;
    this.#resources = [{ role: "for", definition, cache: options.cache as CacheNarrowing | undefined }];
    const { predicate, priority } = options;
    this.#source({ definition, map: (object) => [keyOf(object)], predicate, priority });
  }

  /** Reconciles an object when an object that it controls is created, updated or deleted. */
  owns<Owned extends KubernetesObject>(
    definition: ResourceDefinition<Owned>,
    { controllerOnly = true, ...options }: OwnsOptions<Owned> = {},
  ): this {
    this.#resources.push({ role: "owns", definition, cache: options.cache as CacheNarrowing | undefined });
    this.#source({ definition, map: ownersOf(this.#definition, { controllerOnly }), ...options });
    return this;
  }

  /** Reconciles the objects that `map` returns when an object of another resource is created, updated or deleted. */
  watches<Watched extends KubernetesObject>(
    definition: ResourceDefinition<Watched>,
    map: MapFunction<NoInfer<Watched>>,
    options: SourceOptions<NoInfer<Watched>> = {},
  ): this {
    this.#resources.push({ role: "watches", definition, cache: options.cache as CacheNarrowing | undefined });
    this.#source({ definition, map, ...options });
    return this;
  }

  /** Caches resources without reconciling on their changes. */
  reads(...definitions: readonly ResourceDefinition[]): this {
    for (const definition of definitions) this.#resources.push({ role: "reads", definition });
    return this;
  }

  /**
   * Names resources that the controller writes besides its own and owned ones: they are added to the operator's roles.
   */
  writes(...definitions: readonly ResourceDefinition[]): this {
    for (const definition of definitions) this.#resources.push({ role: "writes", definition });
    return this;
  }

  /**
   * Reconciles the objects that events from outside the cluster name, such as messages of a queue.
   *
   * @param name - For error messages.
   * @param options.priority - Priority of the keys. Default 0.
   * @see controller-runtime pkg/source Channel, Func
   */
  watchesEvents(name: string, source: EventSource, { priority }: Pick<SourceOptions<T>, "priority"> = {}): this {
    this.#eventSources.push({ name, source, priority });
    return this;
  }

  /**
   * Adds a finalizer to every object before its first reconcile; several finalizers are added in one write. When an
   * object is being deleted, their functions run one after the other, in the order of the declaration. Each finalizer is
   * removed when its function has succeeded. After an error or `requeueAfterMs`, the later ones wait.
   *
   * @param name - In the form `example.com/backup`.
   * @throws Error when the name is not of that form, or the controller has that finalizer.
   */
  finalizer(name: string, finalize: Finalizer<T, Metrics>): this {
    if (!QUALIFIED_NAME.test(name))
      throw new Error(
        `finalizer ${JSON.stringify(name)} needs a domain of yours before a slash: "example.com/cleanup"`,
      );
    if (this.#finalizers.some((each) => each.name === name))
      throw new Error(`${this.#name} has finalizer ${name} already: give each a name of its own`);
    this.#finalizers.push({ name, finalize });
    return this;
  }

  /** Sets a handler that is called when the object of a reconciled key no longer exists. */
  whenGone(gone: GoneHandler<Metrics>): this {
    this.#gone = gone;
    return this;
  }

  /**
   * Sets the reconciler, which completes the declaration.
   *
   * @throws Error when the operator has a controller of that name already.
   */
  reconcile(reconcile: Reconciler<T, Metrics>): void {
    const spec: ControllerSpec<T, Metrics> = {
      ...this.#options,
      name: this.#name,
      definition: this.#definition,
      sources: [...this.#sources],
      eventSources: [...this.#eventSources],
      finalizers: [...this.#finalizers],
      gone: this.#gone,
      reconcile,
    };
    this.#declare({
      name: spec.name,
      definition: spec.definition,
      resources: [...this.#resources],
      finalizers: spec.finalizers.map((each) => each.name),
      build: (context) => buildController(spec, context),
    });
  }

  get #name(): string {
    return this.#options.name ?? this.#definition.kind.toLowerCase();
  }

  #source<S extends KubernetesObject>(source: Source<S>): void {
    this.#sources.push((use) => use(source));
  }
}
