import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  type KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  type ObjectCache,
  type V1Deployment,
  makeInformer,
} from "@kubernetes/client-node";
import { realClock } from "@kubewright/clock";

export const FOO_API = { group: "samplecontroller.k8s.io", version: "v1alpha1", plural: "foos" } as const;

export interface Foo extends KubernetesObject {
  readonly spec: { readonly deploymentName: string; readonly replicas: number };
  readonly status?: { readonly availableReplicas: number };
}

/** Same as artifacts/examples/crd-status-subresource.yaml. */
export const FOO_DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: `${FOO_API.plural}.${FOO_API.group}`,
    // Groups below k8s.io belong to Kubernetes.
    annotations: { "api-approved.kubernetes.io": "unapproved, experimental-only" },
  },
  spec: {
    group: FOO_API.group,
    names: { kind: "Foo", plural: FOO_API.plural },
    scope: "Namespaced",
    versions: [
      {
        name: FOO_API.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  deploymentName: { type: "string" },
                  replicas: { type: "integer", minimum: 1, maximum: 10 },
                },
              },
              status: { type: "object", properties: { availableReplicas: { type: "integer" } } },
            },
          },
        },
        subresources: { status: {} },
      },
    ],
  },
};

type CachedInformer<T extends KubernetesObject> = Informer<T> & ObjectCache<T>;

const RETRY_MS = 20;

/**
 * client-go's sample-controller, written with @kubernetes/client-node and without any package of this project.
 *
 * @see https://github.com/kubernetes/sample-controller/blob/master/controller.go
 */
export class SampleController {
  readonly #core: CoreV1Api;
  readonly #apps: AppsV1Api;
  readonly #custom: CustomObjectsApi;
  readonly #foos: CachedInformer<Foo>;
  readonly #deployments: CachedInformer<V1Deployment>;
  readonly #queue = new Set<string>();
  readonly #failures: unknown[];
  #wake = Promise.withResolvers<void>();
  #isStopped = false;
  #working: Promise<void> = Promise.resolve();
  #events = 0;

  /** @param failures - Receives every sync error; each failed sync is retried. */
  constructor(config: KubeConfig, failures: unknown[] = []) {
    this.#failures = failures;
    this.#core = config.makeApiClient(CoreV1Api);
    this.#apps = config.makeApiClient(AppsV1Api);
    this.#custom = config.makeApiClient(CustomObjectsApi);
    const { group, version, plural } = FOO_API;
    this.#foos = makeInformer<Foo>(
      config,
      `/apis/${group}/${version}/${plural}`,
      async () =>
        (await this.#custom.listCustomObjectForAllNamespaces({
          group,
          version,
          resourcePlural: plural,
        })) as KubernetesListObject<Foo>,
    );
    this.#deployments = makeInformer<V1Deployment>(config, "/apis/apps/v1/deployments", () =>
      this.#apps.listDeploymentForAllNamespaces(),
    );
  }

  async start(): Promise<void> {
    this.#foos.on("change", (foo) => this.#enqueue(foo));
    this.#deployments.on("change", (deployment) => this.#handleOwned(deployment));
    for (const informer of [this.#foos, this.#deployments]) {
      informer.on("error", () => void this.#startAgain(informer));
      await informer.start();
    }
    this.#working = this.#work();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake.resolve();
    await Promise.all([this.#foos.stop(), this.#deployments.stop(), this.#working]);
  }

  async #startAgain(informer: Informer<never> | Informer<Foo> | Informer<V1Deployment>): Promise<void> {
    await realClock.sleep(RETRY_MS);
    if (!this.#isStopped) await informer.start();
  }

  #enqueue({ metadata }: KubernetesObject): void {
    this.#queue.add(`${metadata?.namespace}/${metadata?.name}`);
    this.#wake.resolve();
  }

  #handleOwned({ metadata }: V1Deployment): void {
    const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.kind !== "Foo") return;
    const foo = this.#foos.get(owner.name, metadata?.namespace);
    if (foo !== undefined) this.#enqueue(foo);
  }

  /** Runs one worker. A key that is added during its sync is queued once. */
  async #work(): Promise<void> {
    for (; !this.#isStopped; await this.#wake.promise) {
      this.#wake = Promise.withResolvers();
      for (const key of this.#queue) {
        this.#queue.delete(key);
        try {
          await this.#sync(key);
        } catch (error) {
          this.#failures.push(error);
          await realClock.sleep(RETRY_MS);
          this.#queue.add(key);
        }
        if (this.#isStopped) return;
      }
    }
  }

  async #sync(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const foo = this.#foos.get(name, namespace);
    if (foo === undefined || foo.metadata?.deletionTimestamp !== undefined) return;
    const { deploymentName, replicas } = foo.spec;
    let deployment = this.#deployments.get(deploymentName, namespace);
    deployment ??= await this.#apps.createNamespacedDeployment({ namespace, body: deploymentOf(foo) });
    const owner = deployment.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.uid !== foo.metadata?.uid) {
      const message = `Resource "${deploymentName}" already exists and is not managed by Foo`;
      return this.#event(foo, "Warning", "ErrResourceExists", message);
    }
    // As upstream, without a resourceVersion: any version is replaced.
    if (deployment.spec?.replicas !== replicas)
      deployment = await this.#apps.replaceNamespacedDeployment({
        name: deploymentName,
        namespace,
        body: deploymentOf(foo),
      });
    const availableReplicas = deployment.status?.availableReplicas ?? 0;
    if (foo.status?.availableReplicas === availableReplicas) return;
    const body = { ...foo, status: { availableReplicas } };
    await this.#custom.replaceNamespacedCustomObjectStatus({ ...FOO_API, namespace, name, body });
    await this.#event(foo, "Normal", "Synced", "Foo synced successfully");
  }

  async #event(foo: Foo, type: string, reason: string, message: string): Promise<void> {
    const { namespace = "", name = "", uid = "" } = foo.metadata ?? {};
    await this.#core.createNamespacedEvent({
      namespace,
      body: {
        metadata: { name: `${name}.${uid.slice(0, 8)}.${++this.#events}`, namespace },
        involvedObject: { apiVersion: `${FOO_API.group}/${FOO_API.version}`, kind: "Foo", namespace, name, uid },
        type,
        reason,
        message,
        source: { component: "sample-controller" },
      },
    });
  }
}

function deploymentOf(foo: Foo): V1Deployment {
  const { name = "", namespace, uid = "" } = foo.metadata ?? {};
  const labels = { app: "nginx", controller: name };
  const owner = { apiVersion: `${FOO_API.group}/${FOO_API.version}`, kind: "Foo", name, uid };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: foo.spec.deploymentName,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      replicas: foo.spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "nginx", image: "nginx:latest" }] } },
    },
  };
}
