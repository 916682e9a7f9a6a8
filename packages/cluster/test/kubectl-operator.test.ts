import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { KubectlCluster, OLDEST_KUBECTL, whyKubectlIsMissing } from "./kubectl-fixture.js";

const NAMESPACE = `
apiVersion: v1
kind: Namespace
metadata:
  name: cache-system
`;

const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: caches.example.com
spec:
  group: example.com
  names: { kind: Cache, listKind: CacheList, plural: caches, singular: cache }
  scope: Namespaced
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              properties:
                size: { type: integer, minimum: 1, maximum: 5 }
                image: { type: string, default: memcached }
            status:
              type: object
              x-kubernetes-preserve-unknown-fields: true
      subresources: { status: {} }
`;

/** Manifests of an operator. No controller acts on them here, so that the test covers only storing them. */
const OPERATOR = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: operator, namespace: cache-system }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: cache-operator }
rules:
  - { apiGroups: [example.com], resources: [caches, caches/status], verbs: ["*"] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: cache-operator }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cache-operator }
subjects: [{ kind: ServiceAccount, name: operator, namespace: cache-system }]
---
apiVersion: v1
kind: ConfigMap
metadata: { name: operator, namespace: cache-system }
data: { config.yaml: "leaderElection: true" }
---
apiVersion: v1
kind: Service
metadata: { name: operator, namespace: cache-system }
spec:
  selector: { app: operator }
  ports: [{ name: https, port: 8443 }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: operator, namespace: cache-system }
spec:
  selector: { matchLabels: { app: operator } }
  template:
    metadata: { labels: { app: operator } }
    spec:
      serviceAccountName: operator
      securityContext: { runAsNonRoot: true }
      containers:
        - name: manager
          image: example.com/operator:v1
          livenessProbe: { httpGet: { path: /healthz, port: 8081 } }
          resources: { requests: { cpu: 10m } }
          volumeMounts: [{ name: config, mountPath: /etc/config }]
      volumes: [{ name: config, configMap: { name: operator } }]
---
apiVersion: example.com/v1alpha1
kind: Cache
metadata: { name: sample, namespace: cache-system }
spec: { size: 3 }
`;

describe.skipIf(whyKubectlIsMissing !== undefined)(
  `kubectl (1.${OLDEST_KUBECTL} or newer) installs an operator`,
  () => {
    let k: KubectlCluster;
    const bundle = [NAMESPACE, DEFINITION, OPERATOR].join("---");

    beforeAll(async () => {
      k = await KubectlCluster.start();
    });
    afterAll(() => k.close());

    test("which is applied, applied again without a change, scaled, changed, put back and deleted", async () => {
      k.file("bundle.yaml", bundle);
      await k.kubectl("apply -f -", { input: [NAMESPACE, DEFINITION].join("---") });
      await k.kubectl("wait --for=condition=Established crd/caches.example.com --timeout=60s");
      await k.kubectl("apply -f bundle.yaml");
      const again = (await k.kubectl("apply -f bundle.yaml")).trim().split("\n");
      expect(again).toHaveLength(9);
      expect(again.filter((line) => !line.endsWith(" unchanged"))).toEqual([]);
      expect(await k.run("diff -f bundle.yaml")).toMatchObject({ code: 0, stdout: "" });

      await k.kubectl("-n cache-system scale deploy/operator --replicas=3");
      await k.kubectl("-n cache-system set image deploy/operator manager=example.com/operator:v2");
      const changed = await k.run("diff -f bundle.yaml");
      expect(changed.code).toBe(1);
      expect(changed.stdout).toMatch(/^-.*operator:v2\n\+.*operator:v1$/m);
      // The bundle does not set replicas, and so leaves them unchanged.
      expect(await k.kubectl("apply -f bundle.yaml")).toContain("deployment.apps/operator configured\n");
      const format = "jsonpath='{.spec.replicas} {.spec.template.spec.containers[0].image} {.metadata.generation}'";
      expect(await k.kubectl(`-n cache-system get deploy operator -o ${format}`)).toBe("3 example.com/operator:v1 4");

      await k.kubectl("delete -f bundle.yaml --ignore-not-found --timeout=60s");
      expect((await k.run("get ns cache-system")).stderr).toContain("(NotFound)");
      expect((await k.run("get crd caches.example.com")).stderr).toContain("(NotFound)");
    });

    test("whose Deployment, which has no controller, is not rolled out, has no history, and is not available", async () => {
      await k.kubectl("create deployment idle --image=nginx --replicas=2");
      const status = await k.run("rollout status deploy/idle --timeout=1s");
      expect(status).toMatchObject({ code: 1, stdout: "Waiting for deployment spec update to be observed...\n" });
      expect(await k.kubectl("rollout history deploy/idle")).toContain("No rollout history found.\n");
      expect((await k.run("rollout undo deploy/idle")).stderr).toBe(
        'error: no rollout history found for deployment "idle"\n',
      );
      expect((await k.run("wait --for=condition=Available deploy/idle --timeout=1s")).code).toBe(1);
      expect(await k.kubectl("get all")).toMatch(/^deployment\.apps\/idle +0\/2 +0 +0 +\d+s$/m);
      expect(await k.kubectl("describe deploy idle")).toMatch(/^Replicas: +2 desired \| 0 updated \| 0 total/m);
    });
  },
);
