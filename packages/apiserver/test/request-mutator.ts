import type { Random } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

type Method = ApiRequest["method"];

/** A request before it is sent, in parts, so that each part can be mutated separately. */
export interface DraftRequest {
  method: Method;
  path: string;
  headers: Record<string, string>;
  body: unknown;
  /** Sent in place of {@link body}. */
  text: string | undefined;
}

const PATCH_TYPES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
] as const;
const NAMES = ["a", "b", "c", "d"];
const NAMESPACES = ["default", "default", "default", "other", "doomed"];

/** The resources that requests write to, and the prefixes of their paths. */
const RESOURCES = {
  pods: { root: "/api/v1", kind: "Pod", subresources: ["status", "binding", "eviction", "log"] },
  configmaps: { root: "/api/v1", kind: "ConfigMap", subresources: [] },
  secrets: { root: "/api/v1", kind: "Secret", subresources: [] },
  services: { root: "/api/v1", kind: "Service", subresources: ["status"] },
  serviceaccounts: { root: "/api/v1", kind: "ServiceAccount", subresources: ["token"] },
  events: { root: "/api/v1", kind: "Event", subresources: [] },
  jobs: { root: "/apis/batch/v1", kind: "Job", subresources: ["status"] },
  cronjobs: { root: "/apis/batch/v1", kind: "CronJob", subresources: ["status"] },
  leases: { root: "/apis/coordination.k8s.io/v1", kind: "Lease", subresources: [] },
  widgets: { root: "/apis/example.com/v1", kind: "Widget", subresources: ["status", "scale"] },
} as const;
type ResourceName = keyof typeof RESOURCES;
const RESOURCE_NAMES = Object.keys(RESOURCES) as ResourceName[];

/** The definition of `widgets`. */
export const widgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  replicas: { type: "integer", minimum: 0, default: 1 },
                  colour: { type: "string", enum: ["red", "green"] },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, size: { type: "integer" } },
                    },
                  },
                  anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
              status: { type: "object", properties: { replicas: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
};

/** Generates mostly valid requests and mutates some of them. Equal randomness gives equal requests. */
export class RequestMutator {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): DraftRequest {
    const draft = this.#validRequest();
    const mutations = this.#chance(0.4) ? 0 : 1 + this.#below(3);
    for (let count = 0; count < mutations; count++) this.#mutate(draft);
    return draft;
  }

  #validRequest(): DraftRequest {
    const resource = this.#pick(RESOURCE_NAMES);
    const { root, subresources } = RESOURCES[resource];
    const namespace = this.#pick(NAMESPACES);
    const name = this.#pick(NAMES);
    const collection = `${root}/namespaces/${namespace}/${resource}`;
    const draft: DraftRequest = {
      method: "GET",
      path: `${collection}/${name}`,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "user-agent": this.#pick(["one/1", "two/1", "three"]),
      },
      body: undefined,
      text: undefined,
    };
    const dice = this.#below(100);
    if (dice < 22) {
      draft.method = "POST";
      draft.path = collection;
      draft.body = this.#object(resource, name);
    } else if (dice < 37) {
      draft.method = "PUT";
      draft.body = this.#object(resource, name);
      if (this.#chance(0.3) && subresources.length > 0) draft.path += `/${this.#pick(subresources)}`;
    } else if (dice < 62) {
      draft.method = "PATCH";
      const type = this.#pick(PATCH_TYPES);
      draft.headers["content-type"] = type;
      draft.body = this.#patch(type, resource, name);
      if (type === "application/apply-patch+yaml")
        draft.path += `?fieldManager=${this.#pick(["x", "y"])}${this.#chance(0.5) ? "&force=true" : ""}`;
      else if (this.#chance(0.3) && subresources.length > 0) draft.path += `/${this.#pick(subresources)}`;
    } else if (dice < 72) {
      draft.method = "DELETE";
      if (this.#chance(0.15)) draft.path = `${collection}?labelSelector=l%3D${this.#below(3)}`;
      draft.body = this.#chance(0.5)
        ? undefined
        : this.#pick([
            {},
            { gracePeriodSeconds: 0 },
            { propagationPolicy: "Foreground" },
            { propagationPolicy: "Background" },
            { preconditions: { uid: "x" } },
          ]);
    } else if (dice < 77) {
      draft.method = "POST";
      draft.path = `/api/v1/namespaces/${namespace}/pods/${name}/${this.#pick(["binding", "eviction"])}`;
      draft.body = { metadata: { name }, target: { kind: "Node", name: "node-1" } };
    } else if (dice < 85) {
      draft.path = `${collection}?${this.#pick(["limit=2", "labelSelector=l%3D1", "watch=true", "resourceVersion=0", "fieldSelector=metadata.name%3Da", "limit=1&resourceVersion=150"])}`;
    } else if (dice < 90) {
      draft.path = `${root}/${resource}?${this.#pick(["watch=true&resourceVersion=120", "limit=3", "allowWatchBookmarks=true&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"])}`;
    } else if (dice < 93) {
      draft.path = this.#pick([
        "/api",
        "/apis",
        "/api/v1",
        "/apis/batch",
        "/apis/batch/v1",
        "/openapi/v3",
        "/openapi/v3/apis/batch/v1",
        "/version",
        "/readyz?verbose",
        "/apis/example.com/v1",
      ]);
    } else if (dice < 95) {
      draft.method = this.#pick(["POST", "DELETE", "PUT"]);
      draft.path =
        draft.method === "POST"
          ? "/api/v1/namespaces"
          : `/api/v1/namespaces/other${this.#chance(0.5) && draft.method === "PUT" ? "/finalize" : ""}`;
      draft.body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } };
    } else if (dice < 97) {
      draft.method = "POST";
      draft.path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
      draft.body = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } };
    } else {
      draft.headers["accept"] = this.#pick([
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
      ]);
      if (this.#chance(0.5)) draft.path = collection;
    }
    return draft;
  }

  #object(resource: ResourceName, name: string): Record<string, unknown> {
    const { root, kind } = RESOURCES[resource];
    const metadata: Record<string, unknown> = { name, labels: { l: String(this.#below(3)) } };
    if (this.#chance(0.1)) metadata["finalizers"] = ["example.com/hold"];
    if (this.#chance(0.1))
      metadata["ownerReferences"] = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u1" }];
    if (this.#chance(0.1)) {
      delete metadata["name"];
      metadata["generateName"] = "g-";
    }
    const object: Record<string, unknown> = { apiVersion: root.split("/").slice(2).join("/"), kind, metadata };
    const template = { metadata: { labels: { t: "1" } }, spec: this.#podSpec() };
    switch (resource) {
      case "pods":
        object["spec"] = this.#podSpec();
        if (this.#chance(0.3))
          object["status"] = {
            phase: this.#pick(["Running", "Succeeded", "Failed"]),
            conditions: [{ type: "Ready", status: "True" }],
          };
        break;
      case "jobs":
        object["spec"] = {
          completions: this.#below(4),
          parallelism: this.#below(3),
          suspend: this.#chance(0.5),
          template,
        };
        if (this.#chance(0.3))
          object["status"] = { active: this.#below(3), startTime: "2026-01-01T00:00:00Z", uncountedTerminatedPods: {} };
        break;
      case "cronjobs":
        object["spec"] = {
          schedule: this.#pick(["* * * * *", "@hourly", "0 2 * * 1-5"]),
          jobTemplate: { spec: { template } },
        };
        break;
      case "configmaps":
        object["data"] = { a: String(this.#below(5)), b: "x" };
        break;
      case "secrets":
        object["data"] = { a: "aGVsbG8=" };
        break;
      case "services":
        object["spec"] = { ports: [{ port: 80 }, { port: 443, name: "tls" }], selector: { a: "b" } };
        break;
      case "events":
        object["involvedObject"] = { kind: "Pod", name: "a", namespace: "default" };
        object["reason"] = "Because";
        break;
      case "leases":
        object["spec"] = { holderIdentity: "me", renewTime: "2026-01-01T00:00:00.000000Z", leaseDurationSeconds: 15 };
        break;
      case "widgets":
        object["spec"] = {
          replicas: this.#below(3),
          parts: [{ name: "p", size: this.#below(3) }, { name: "q" }],
          anything: { deep: [{ x: 1 }] },
        };
        break;
      case "serviceaccounts":
        break;
      default:
        resource satisfies never;
    }
    return object;
  }

  #podSpec(): object {
    return {
      restartPolicy: "Never",
      containers: [
        {
          name: "main",
          image: this.#pick(["x:1", "x:2"]),
          env: [{ name: "A", value: "1" }],
          ports: [{ containerPort: 80 }],
          resources: { requests: { cpu: "100m" } },
        },
      ],
      volumes: [{ name: "v", emptyDir: {} }],
    };
  }

  #patch(type: (typeof PATCH_TYPES)[number], resource: ResourceName, name: string): unknown {
    const value = String(this.#below(4));
    if (type === "application/json-patch+json")
      return this.#pick<unknown>([
        [{ op: "add", path: "/metadata/labels", value: { l: value } }],
        [{ op: "replace", path: "/metadata/labels/l", value }],
        [{ op: "remove", path: "/metadata/finalizers" }],
        [
          { op: "test", path: "/metadata/name", value: name },
          { op: "add", path: "/metadata/annotations", value: { [value]: "x" } },
        ],
        [{ op: "copy", from: "/metadata/name", path: "/metadata/labels/l" }],
        [{ op: "move", from: "/metadata/labels/l", path: "/metadata/labels/m" }],
        [{ op: "add", path: "/spec/containers/-", value: { name: "side", image: "y" } }],
      ]);
    if (type === "application/apply-patch+yaml") {
      const object = this.#object(resource, name);
      (object["metadata"] as Record<string, unknown>)["name"] = name;
      return object;
    }
    return this.#pick<unknown>([
      { metadata: { labels: { l: value } } },
      { metadata: { finalizers: null, annotations: { note: value } } },
      { metadata: { $setElementOrder: ["x"], "$deleteFromPrimitiveList/finalizers": ["example.com/hold"] } },
      { spec: { containers: [{ name: "main", image: `x:${value}` }] } },
      {
        spec: {
          containers: [
            { name: "main", $patch: "delete" },
            { name: "other", image: "z" },
          ],
        },
      },
      { spec: { suspend: value === "1", parallelism: this.#below(5) } },
      { status: { phase: "Running", conditions: [{ type: "Ready", status: value === "1" ? "True" : "False" }] } },
      { spec: { $retainKeys: ["containers"], "$setElementOrder/containers": [{ name: "main" }] } },
      { spec: { replicas: this.#below(4) } },
    ]);
  }

  #mutate(draft: DraftRequest): void {
    switch (this.#below(10)) {
      case 0:
        draft.method = this.#pick<Method>(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
        break;
      case 1:
        draft.path = this.#mutatedPath(draft.path);
        break;
      case 2:
        draft.path += `${draft.path.includes("?") ? "&" : "?"}${this.#parameter()}`;
        break;
      case 3:
        this.#mutateHeader(draft.headers);
        break;
      case 4:
        if (draft.body !== undefined) {
          const text = JSON.stringify(draft.body);
          draft.text = this.#mutatedText(text);
        } else
          draft.text = this.#pick([
            "",
            "null",
            "[]",
            "1",
            '"x"',
            "{",
            "{}",
            "\u0000",
            "a: b: c",
            "- a\n- b",
            "!!js/function x",
          ]);
        break;
      default:
        if (typeof draft.body === "object" && draft.body !== null) {
          draft.body = structuredClone(draft.body);
          this.#mutateValue(draft.body as Record<string, unknown>);
        } else if (draft.method !== "GET") draft.body = this.#junk();
    }
  }

  #mutatedPath(path: string): string {
    const parts = path.split("/");
    const at = 1 + this.#below(Math.max(1, parts.length - 1));
    switch (this.#below(6)) {
      case 0:
        parts.splice(at, 1);
        break;
      case 1:
        parts.splice(at, 0, this.#pick(["watch", "x", "..", "", "%00", "status", "namespaces", "__proto__"]));
        break;
      case 2:
        parts[at] = this.#pick([
          "%",
          "%zz",
          "__proto__",
          "constructor",
          "toString",
          "a".repeat(300),
          "ü",
          "A_B",
          ".",
          "scale",
          "*",
        ]);
        break;
      case 3:
        return `${path}/`;
      case 4:
        return path.replace("/v1", this.#pick(["/v2", "/v1beta1", "//v1", "/hasOwnProperty"]));
      default:
        parts[at] = `${parts[at] ?? ""}${this.#pick(["x", "%2F", "?", "&", "%20"])}`;
    }
    return parts.join("/");
  }

  #parameter(): string {
    const name = this.#pick([
      "watch",
      "limit",
      "continue",
      "resourceVersion",
      "resourceVersionMatch",
      "labelSelector",
      "fieldSelector",
      "timeoutSeconds",
      "timeout",
      "dryRun",
      "fieldManager",
      "fieldValidation",
      "force",
      "pretty",
      "gracePeriodSeconds",
      "propagationPolicy",
      "orphanDependents",
      "sendInitialEvents",
      "allowWatchBookmarks",
      "includeObject",
      "export",
      "tailLines",
      "__proto__",
    ]);
    const value = this.#pick([
      "",
      "0",
      "1",
      "-1",
      "true",
      "false",
      "All",
      "Strict",
      "Warn",
      "Ignore",
      "Exact",
      "NotOlderThan",
      "abc",
      "99999999999999999999",
      "1e3",
      "10s",
      "a%3Db",
      "a+in+(b,c)",
      "!a",
      "a%3D%3D",
      "(((",
      "metadata.name%3Da",
      "status.phase!%3DRunning",
      "%00",
      "%E0%A4%A",
      "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTEwLCJzdGFydCI6ImFcdTAwMDAifQ",
      "Foreground",
      "Object",
      "\\",
    ]);
    return `${name}=${value}`;
  }

  #mutateHeader(headers: Record<string, string>): void {
    switch (this.#below(4)) {
      case 0:
        headers["accept"] = this.#pick([
          "",
          "*/*",
          "text/plain",
          "application/yaml",
          "application/json;as=Table;v=v1;g=meta.k8s.io",
          "application/json;as=;v=;g=",
          ";;;",
          "application/json;q=x",
          "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
          "application/vnd.kubernetes.protobuf,application/json",
          "application/vnd.kubernetes.protobuf",
          ",",
        ]);
        break;
      case 1:
        headers["content-type"] = this.#pick([
          "",
          "text/csv",
          "application/yaml",
          "application/json; charset=utf-8",
          "application/vnd.kubernetes.protobuf",
          ...PATCH_TYPES,
        ]);
        break;
      case 2:
        headers["user-agent"] = this.#pick(["", "/", "x".repeat(200), "curl/8", "Mozilla/5.0"]);
        break;
      default:
        headers[
          this.#pick([
            "if-none-match",
            "accept-encoding",
            "x-http-method-override",
            "impersonate-user",
            "authorization",
          ])
        ] = this.#pick(["*", "gzip", "DELETE", "x", "Bearer x"]);
    }
  }

  #mutatedText(text: string): string {
    const at = this.#below(text.length + 1);
    switch (this.#below(5)) {
      case 0:
        return text.slice(0, at);
      case 1:
        return (
          text.slice(0, at) +
          this.#pick(["{", "}", '"', ",", "\\", "\u0000", "ÿ", "[[[[", "1e999", "\n"]) +
          text.slice(at)
        );
      case 2:
        return text.replace('"metadata":', '"metadata":{},"metadata":');
      case 3:
        return text.replace('"name"', '"__proto__":{"polluted":1},"name"');
      default:
        return `${text}${text}`;
    }
  }

  /** Changes one nested member. */
  #mutateValue(root: Record<string, unknown> | unknown[]): void {
    let node: Record<string, unknown> | unknown[] = root;
    for (let depth = 0; depth < 8; depth++) {
      const keys = Object.keys(node);
      const key = keys.at(this.#below(keys.length)) ?? "x";
      const member = (node as Record<string, unknown>)[key];
      if (typeof member === "object" && member !== null && this.#chance(0.75)) {
        node = member as Record<string, unknown>;
        continue;
      }
      const holder = node as Record<string, unknown>;
      switch (this.#below(5)) {
        case 0:
          if (Array.isArray(node)) node.splice(Number(key), 1);
          else delete holder[key];
          break;
        case 1:
          if (Array.isArray(node)) node.push(structuredClone(member));
          else
            holder[this.#pick(["extra", "$patch", "$retainKeys", "constructor", "toString", "", "a/b", "f:x", "."])] =
              this.#junk();
          break;
        case 2:
          Object.defineProperty(holder, "__proto__", {
            value: this.#junk(),
            enumerable: true,
            configurable: true,
            writable: true,
          });
          break;
        default:
          holder[key] = this.#junk();
      }
      return;
    }
  }

  #junk(): unknown {
    return this.#pick<() => unknown>([
      () => null,
      () => true,
      () => 0,
      () => -1,
      () => 1.5,
      () => 2 ** 53,
      () => "",
      () => "x",
      () => "A b",
      () => "ü",
      () => "2026-01-01T00:00:00Z",
      () => "100m",
      () => "9".repeat(70),
      () => "x".repeat(300),
      () => [],
      () => [null],
      () => ["a", "a"],
      () => [{}],
      () => [[1]],
      () => ({}),
      () => ({ a: null }),
      () => ({ $patch: "delete" }),
      () => ({ $patch: "replace" }),
      () => ({ name: "a", key: { x: [1, { y: "z" }] } }),
    ])();
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  #pick<T>(items: readonly T[]): T {
    return items.at(this.#below(items.length)) as T;
  }
}
