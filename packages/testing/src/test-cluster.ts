import {
  type CreatedObject,
  type CustomResourceDefinition,
  type DeepReadonly,
  type KubernetesObject,
  type ResourceDefinition,
  customResourceDefinitions,
  defineResource,
} from "@kubewright/api";
import { Client } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { FaultyCluster } from "@kubewright/cluster";
import type { Runnable } from "@kubewright/controller";

import { type Against, type Backend, untilEnded } from "./backend.js";
import { checkCondition } from "./checks.js";
import { type DurationLike, milliseconds } from "./duration.js";
import { type ConditionFunc, eventually } from "./eventually.js";
import { TestFaults } from "./faults.js";
import { ReadObjects } from "./read-objects.js";
import { RequestRecords } from "./request-record.js";
import { RunningController, recordingLogger } from "./running-controller.js";
import type { OperatorWebhooksLike, ServedWebhooks } from "./served-webhooks.js";
import {
  type ControllerFactory,
  type OperatorLike,
  type TestDeps,
  type TestEnvironment,
  runIn,
  webhooksOf,
} from "./startable.js";
import { TestObject } from "./test-object.js";
import { Trace, type TraceOptions } from "./trace.js";

export interface RunOptions {
  /** Name in requests, events and faults. Default: the name of the function or the runnable. */
  readonly name?: string;
}

export interface OperatorRunOptions<Environment> extends RunOptions {
  /** Overrides and additions to the operator's environment, for example `{ leaderElection: false }`. */
  readonly environment?: Partial<Environment>;
  /**
   * Whether the API server calls the operator's webhooks while it runs. Creates missing CustomResourceDefinitions of
   * converted resources, and creates or changes the webhook configurations. Default false.
   */
  readonly webhooks?: boolean;
}

export interface EventuallyOptions {
  /** Maximum time to advance. Default 10 minutes. */
  readonly within?: DurationLike;
}

const WITHIN: DurationLike = "10m";

/** A cluster for one test, and its time. */
export class TestCluster implements AsyncDisposable {
  readonly against: Against;
  /** Virtual, except for a kube-apiserver. */
  readonly clock: Clock;
  /** Seeded by the test's seed. */
  readonly random: Random;
  /** The test's own client, with all permissions. Its requests are neither recorded nor affected by faults. */
  readonly client: Client;
  /** Injects faults between controllers and the API server. */
  readonly faults: TestFaults;
  readonly #backend: Backend;
  readonly #observer: Client;
  readonly #records: RequestRecords;
  readonly #readObjects = new ReadObjects();
  readonly #running: RunningController[] = [];
  readonly #incarnations = new Map<string, number>();
  readonly #traces: Trace[] = [];
  readonly #watching = new AbortController();
  readonly #kinds: ResourceDefinition[] = [];
  #isOver = false;

  constructor(backend: Backend, random: Random) {
    const { against, clock, network, transport } = backend;
    this.#backend = backend;
    this.against = against;
    this.clock = clock;
    this.random = random;
    this.faults = new TestFaults({ network, clock });
    this.client = new Client({ transport: this.#readObjects.watching(transport), clock, userAgent: "test" });
    this.#observer = new Client({ transport, clock, userAgent: "test-kit" });
    this.#records = new RequestRecords(clock, (record) => {
      for (const trace of this.#traces) trace.request(record);
    });
  }

  /** The embedded cluster, in process; otherwise `undefined`. Gives access to lost nodes and the store, for example. */
  get embedded(): FaultyCluster | undefined {
    return this.#backend.embedded;
  }

  /** The cluster's time. */
  get now(): Date {
    return new Date(this.clock.now());
  }

  /**
   * Advances the time and runs all work that becomes due.
   *
   * @throws the error of a failed controller or of the cluster; RangeError for an invalid duration, or on a
   * kube-apiserver for a long one.
   */
  async advance(duration: DurationLike): Promise<void> {
    await this.#backend.advance(milliseconds(duration, "advance"));
    this.#check();
  }

  /**
   * Advances the time from one due time to the next until a condition is met. The condition is met when the function
   * does not throw, and returns neither `false` nor a failed check.
   *
   * @returns The value of the function.
   * @throws NotInTimeError with the last reason and the state of the objects that the function has read.
   */
  async eventually<T>(
    condition: ConditionFunc<T>,
    { within = WITHIN }: EventuallyOptions = {},
  ): Promise<Exclude<T, false>> {
    return eventually(condition, milliseconds(within, "eventually: within"), {
      backend: this.#backend,
      check: () => this.#check(),
      onAttempt: () => this.#readObjects.clear(),
      relatedObjects: () => this.#readObjects.objects(this.#observer),
    });
  }

  /**
   * Runs a controller, or an operator of `@kubewright/operator`, against the cluster. Resolves after its initial work.
   *
   * @throws Error when a controller of that name is running; the controller's error when it fails immediately.
   */
  run(controller: ControllerFactory | Runnable, options?: RunOptions): Promise<RunningController>;
  run<Environment>(
    operator: OperatorLike<Environment>,
    options?: OperatorRunOptions<Environment>,
  ): Promise<RunningController>;
  async run<Environment>(
    what: ControllerFactory | Runnable | OperatorLike<Environment>,
    { name, environment, webhooks = false }: OperatorRunOptions<Environment> = {},
  ): Promise<RunningController> {
    const called = name ?? (what.name || "controller");
    this.#refuseSecond(called);
    const { logger, logged } = recordingLogger();
    const served = webhooks ? await this.#serveWebhooks(what.name, webhooksOf(what, called)) : undefined;
    const running = this.#start(called, logged, async (signal, alive) => {
      try {
        await runIn(what, { ...this.#deps(called, alive), logger, signal, identity: called }, environment);
      } finally {
        await served?.close();
      }
    });
    await this.#backend.settle();
    this.#check();
    return running;
  }

  /** Returns a client whose requests are recorded, and affected by faults, like those of a controller of that name. */
  clientOf(name: string): Client {
    return this.#deps(name, () => true).client;
  }

  /**
   * Returns a reference to an object, which need not exist. @param namespace - Default `default`; none for
   * cluster-scoped kinds.
   */
  object<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    name: string,
    namespace = "default",
  ): TestObject<T> {
    return new TestObject(this.client, definition, name, definition.namespaced ? namespace : undefined);
  }

  /** Creates an object, by default in the namespace `default`. @throws StatusError when the API server rejects it. */
  async create<T extends KubernetesObject, Input>(
    definition: ResourceDefinition<T, Input>,
    object: DeepReadonly<CreatedObject<T, NoInfer<Input>>>,
  ): Promise<TestObject<T>> {
    const { metadata, ...rest } = object as unknown as DeepReadonly<KubernetesObject>;
    const placed = { ...rest, metadata: definition.namespaced ? { namespace: "default", ...metadata } : metadata };
    const created = await this.client.resource<T, unknown>(definition).create(placed as unknown as DeepReadonly<T>);
    const { name = "", namespace } = (created as DeepReadonly<KubernetesObject>).metadata;
    return this.object(definition, name, namespace);
  }

  /** Creates CustomResourceDefinitions, and waits until their objects are served. */
  async install(...definitions: readonly DeepReadonly<CustomResourceDefinition>[]): Promise<void> {
    for (const definition of definitions) {
      const created = await this.create(customResourceDefinitions, definition);
      await this.eventually(() => checkCondition(created, "Established"), { within: "1m" });
      const { group, names, scope, versions } = definition.spec;
      const version = versions.find(({ storage }) => storage)?.name ?? "";
      const namespaced = scope === "Namespaced";
      this.#kinds.push(defineResource({ group, version, resource: names.plural, kind: names.kind, namespaced }));
    }
  }

  /** Starts a trace of object changes and controllers' writes. */
  async trace(options: TraceOptions = {}): Promise<Trace> {
    await this.#backend.settle();
    const trace = new Trace(this.clock, { ...options, objects: options.objects ?? this.#kinds });
    await trace.follow(this.#observer, this.#watching.signal);
    this.#traces.push(trace);
    return trace;
  }

  /** Stops the controllers of the test, then the cluster. @throws the first error that was not thrown before. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      for (const controller of this.#running) if (controller.alive) await controller.stop();
      this.#check();
    } finally {
      this.#watching.abort();
      await this.#backend.stop();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #start(
    name: string,
    logged: RunningController["logged"],
    run: (signal: AbortSignal, alive: () => boolean) => Promise<unknown>,
  ): RunningController {
    const running: RunningController = new RunningController({
      name,
      logged,
      run: (signal) => run(signal, () => running.alive),
      requests: () => this.#records.all.filter(({ by }) => by === name),
      untilEnded: (what, ended) => untilEnded(what, ended, this.#backend),
    });
    this.#running.push(running);
    return running;
  }

  /** @throws Error when a controller of that name is running. */
  #refuseSecond(name: string): void {
    if (this.#running.some((other) => other.name === name && other.alive))
      throw new Error(`${name} is already running: give the second one another name, or stop the first`);
  }

  async #serveWebhooks(operator: string, webhooks: OperatorWebhooksLike): Promise<ServedWebhooks> {
    const definitions = this.#observer.resource(customResourceDefinitions);
    const known = new Set((await definitions.list()).items.map(({ metadata: { name } }) => name));
    await this.install(...webhooks.definitions.filter(({ metadata: { name } }) => !known.has(name)));
    const served = await this.#backend.serveWebhooks(operator, webhooks);
    try {
      await webhooks.publish(this.#observer, served);
      return served;
    } catch (error) {
      await served.close();
      throw error;
    }
  }

  #deps(name: string, alive: () => boolean): Omit<TestDeps & TestEnvironment, "logger" | "signal" | "identity"> {
    const incarnation = (this.#incarnations.get(name) ?? 0) + 1;
    this.#incarnations.set(name, incarnation);
    const { clock } = this;
    const transport = this.#records.recording(name, this.#backend.network.link(name, alive));
    const client = new Client({ transport, clock, userAgent: name });
    const { renewalDeferral } = this.#backend.embedded ?? {};
    return { transport, client, clock, random: this.random.fork(`${name}/${incarnation}`), renewalDeferral };
  }

  #check(): void {
    this.#backend.check();
    for (const controller of this.#running) controller.check();
  }
}
