import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";
import { isDnsSubdomain } from "@kubewright/controller";

import { ControllerBuilder } from "./controller-builder.js";
import type { DeclaredController } from "./controller-declaration.js";
import type { ControllerOptions } from "./controller-spec.js";
import type { OperatorDescription } from "./operator-description.js";
import type { OperatorOptions } from "./operator-options.js";
import type { OperatorTask } from "./operator-task.js";
import { type OperatorEnvironment, OperatorRun, type RunnableOperator } from "./operator-run.js";

/**
 * What an operator is: a name, and controllers. It does nothing by being made, and can be run many times, also at once:
 * by `runOperator` as this process, or by {@link Operator.run} in whatever it is handed.
 */
export class Operator<Metrics = undefined> implements RunnableOperator, OperatorDescription {
  readonly options: OperatorOptions<Metrics>;
  readonly #controllers = new Map<string, DeclaredController>();
  readonly #tasks: OperatorTask<Metrics>[] = [];

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

  /** In the order in which they were completed by {@link ControllerBuilder.reconcile}. */
  get controllers(): readonly DeclaredController[] {
    return [...this.#controllers.values()];
  }

  get tasks(): readonly OperatorTask<Metrics>[] {
    return this.#tasks;
  }

  /** Adds work that no object asks for. */
  add(task: OperatorTask<Metrics>): void {
    this.#tasks.push(task);
  }

  /** Begins to say what a controller of a resource is; `reconcile` completes it. */
  controllerFor<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    options: ControllerOptions<NoInfer<T>> = {},
  ): ControllerBuilder<T, Metrics> {
    return new ControllerBuilder<T, Metrics>(definition, options, (controller) => this.#declare(controller));
  }

  /**
   * Runs in what it is handed, without I/O of its own, until the signal aborts: fills its caches, waits to lead, reconciles;
   * then ends what it has begun, gives the Lease away, and resolves.
   *
   * @throws Error when the caches are not filled in time, leadership is lost, a part fails, or reconciles do not end in time.
   */
  async run(environment: OperatorEnvironment): Promise<void> {
    await new OperatorRun(this, environment).run();
  }

  #declare(controller: DeclaredController): void {
    const { name } = controller;
    if (this.#controllers.has(name))
      throw new Error(`${this.name} has a controller ${JSON.stringify(name)} already: give one of them another name`);
    this.#controllers.set(name, controller);
  }
}

/** Makes an {@link Operator}. @throws Error when the name is not a DNS name. */
export function createOperator<Metrics = undefined>(options: OperatorOptions<Metrics>): Operator<Metrics> {
  return new Operator(options);
}
