import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";
import { isDnsSubdomain } from "@kubewright/controller";

import { ControllerBuilder } from "./controller-builder.js";
import type { DeclaredController } from "./controller-declaration.js";
import type { ControllerOptions } from "./controller-spec.js";
import type { OperatorDescription } from "./operator-description.js";
import type { OperatorOptions } from "./operator-options.js";
import type { OperatorTask } from "./operator-task.js";
import { type OperatorEnvironment, OperatorRun, type RunnableOperator } from "./operator-run.js";
import { OperatorWebhooks } from "./webhooks/operator-webhooks.js";

/**
 * Declares an operator: a name and controllers. Creating it has no effects, and it can run several times, also
 * concurrently. `runOperator` runs it as this process, {@link Operator.run} with given dependencies.
 */
export class Operator<Metrics = undefined> implements RunnableOperator, OperatorDescription {
  readonly options: OperatorOptions<Metrics>;
  readonly #controllers = new Map<string, DeclaredController>();
  readonly #tasks: OperatorTask<Metrics>[] = [];
  /** Names of the controllers that have no reconciler yet. */
  readonly #unfinished = new Set<{ readonly name: string }>();

  /** @throws Error when the name is not a DNS name. */
  constructor(options: OperatorOptions<Metrics>) {
    if (!isDnsSubdomain(options.name))
      throw new Error(
        `an operator's name must be a DNS name such as "backup-operator", not ${JSON.stringify(options.name)}`,
      );
    this.options = options;
  }

  get name(): string {
    return this.options.name;
  }

  /** In the order in which {@link ControllerBuilder.reconcile} completed them. */
  get controllers(): readonly DeclaredController[] {
    return [...this.#controllers.values()];
  }

  get tasks(): readonly OperatorTask<Metrics>[] {
    return this.#tasks;
  }

  /** Its webhooks, to serve and publish them elsewhere than in `runOperator`. */
  get webhooks(): OperatorWebhooks {
    return new OperatorWebhooks(this.name, this.options.webhooks ?? []);
  }

  /** Adds work that is not triggered by an object. */
  add(task: OperatorTask<Metrics>): void {
    this.#tasks.push(task);
  }

  /** Starts the declaration of a controller for a resource; `reconcile` completes it. */
  controllerFor<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    options: ControllerOptions<NoInfer<T>> = {},
  ): ControllerBuilder<T, Metrics> {
    const unfinished = { name: options.name ?? definition.kind.toLowerCase() };
    this.#unfinished.add(unfinished);
    return new ControllerBuilder<T, Metrics>(definition, options, (controller) => {
      this.#declare(controller);
      this.#unfinished.delete(unfinished);
    });
  }

  /**
   * Runs with the given dependencies, without other I/O, until the signal aborts. Fills the caches, waits to lead, and
   * reconciles. On shutdown it finishes the work in flight, releases the Lease, and resolves.
   *
   * @throws Error when a controller has no reconciler, the caches are not filled in time, leadership is lost, a component fails, or reconciles do not
   * end in time.
   */
  async run(environment: OperatorEnvironment): Promise<void> {
    const [unfinished] = this.#unfinished;
    if (unfinished !== undefined)
      throw new Error(
        `controller ${JSON.stringify(unfinished.name)} of ${this.name} has no reconciler: end its declaration with .reconcile(…)`,
      );
    await new OperatorRun(this, environment).run();
  }

  #declare(controller: DeclaredController): void {
    const { name } = controller;
    if (this.#controllers.has(name))
      throw new Error(`${this.name} has a controller ${JSON.stringify(name)} already: give one of them another name`);
    this.#controllers.set(name, controller);
  }
}

/**
 * Creates an {@link Operator}.
 *
 * @throws Error when the name is not a DNS name.
 */
export function createOperator<Metrics = undefined>(options: OperatorOptions<Metrics>): Operator<Metrics> {
  return new Operator(options);
}
