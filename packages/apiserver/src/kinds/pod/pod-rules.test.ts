/**
 * Generated pods: valid pods are accepted, and a pod with one broken rule gets exactly the error of that rule, with its
 * path.
 */
import { newestBehaviours, type PodSpec } from "@kubewright/api";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create } from "../../../test/strategy-calls.js";
import { jobStrategy } from "../job/strategy.js";
import { podStrategy } from "./strategy.js";

const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,10}[a-z0-9])?$/);
const badLabel = fc.stringMatching(/^[A-Z_!][a-z_!]{0,8}$/);
const file = fc.stringMatching(/^[a-z]{1,5}(\/[a-z]{1,5}){0,2}$/);
const amount = fc.integer({ min: 1, max: 2000 }).map((milli) => `${milli}m`);
const mode = fc.integer({ min: 0, max: 0o777 });
const tooMuchMode = fc.oneof(fc.integer({ max: -1 }), fc.integer({ min: 0o1000 }));
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const items = fc.uniqueArray(fc.record({ key: label, path: file, mode }, { requiredKeys: ["key", "path"] }), {
  selector: (item) => item.path,
  maxLength: 3,
});
const source = fc.oneof(
  fc.record({ emptyDir: fc.record({ sizeLimit: amount }, { requiredKeys: [] }) }),
  fc.record({ hostPath: fc.record({ path: file, type: fc.constantFrom("", "File", "Socket") }) }),
  fc.record({ secret: fc.record({ secretName: label, items, defaultMode: mode }) }),
  fc.record({ configMap: fc.record({ name: label, items }) }),
  fc.record({ nfs: fc.record({ server: label, path: file.map((path) => `/${path}`) }) }),
  fc.record({
    iscsi: fc.record({ targetPortal: label, iqn: fc.constant("iqn.2001-04.com.example:a"), lun: fc.nat(255) }),
  }),
  fc.record({ fc: fc.record({ targetWWNs: fc.array(label, { minLength: 1 }), lun: fc.nat(255) }) }),
  fc.record({ csi: fc.record({ driver: label.map((name) => `${name}.example.com`) }) }),
  fc.record({ image: fc.record({ reference: label }) }),
  fc.record({ persistentVolumeClaim: fc.record({ claimName: label }) }),
  fc.record({
    downwardAPI: fc.record({
      items: fc.array(
        fc.record({
          path: file,
          resourceFieldRef: fc.record({
            containerName: fc.constant("c"),
            resource: fc.constantFrom("limits.cpu", "requests.cpu"),
            divisor: fc.constantFrom("1m", "1", "0"),
          }),
        }),
      ),
    }),
  }),
  items.map((list) => ({
    projected: { sources: [{ secret: { name: "s", items: list } }, { configMap: { name: "c" } }] },
  })),
);
const volumes = fc.uniqueArray(
  fc.tuple(label, source).map(([name, of]) => ({ name: `v-${name}`, ...of })),
  { selector: ({ name }) => name, maxLength: 4 },
);
const spread = fc.record({
  maxSkew: fc.integer({ min: 1, max: 9 }),
  topologyKey: label,
  whenUnsatisfiable: fc.constantFrom("DoNotSchedule", "ScheduleAnyway"),
  labelSelector: fc.record({ matchLabels: fc.dictionary(label, label, { maxKeys: 2 }) }),
});
const part = fc.record(
  {
    volumes,
    topologySpreadConstraints: fc.uniqueArray(spread, {
      selector: ({ topologyKey, whenUnsatisfiable }) => `${topologyKey} ${whenUnsatisfiable}`,
      maxLength: 2,
    }),
    terminationGracePeriodSeconds: fc.integer({ min: 10, max: 100 }),
    hostAliases: fc.array(fc.record({ ip: fc.ipV4(), hostnames: fc.array(label) }), { maxLength: 2 }),
    securityContext: fc.record(
      {
        runAsUser: fc.nat(2 ** 31 - 1),
        fsGroupChangePolicy: fc.constantFrom("Always", "OnRootMismatch"),
        seccompProfile: fc.constantFrom({ type: "RuntimeDefault" }, { type: "Localhost", localhostProfile: "a/b" }),
      },
      { requiredKeys: [] },
    ),
    resourceClaims: fc.uniqueArray(fc.record({ name: label, resourceClaimName: label }), {
      selector: ({ name }) => name,
      maxLength: 2,
    }),
    dnsConfig: fc.record({
      nameservers: fc.array(fc.ipV4(), { maxLength: 3 }),
      searches: fc.array(label, { maxLength: 4 }),
    }),
  },
  { requiredKeys: [] },
);
const containerPart = fc.record(
  {
    resources: fc
      .tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 500, max: 900 }))
      .map(([request, limit]) => ({ requests: { cpu: `${request}m` }, limits: { cpu: `${limit}m` } })),
    resizePolicy: fc.constant([{ resourceName: "cpu", restartPolicy: "NotRequired" }]),
    env: fc.uniqueArray(
      fc.record({ name: label, valueFrom: fc.constant({ fieldRef: { fieldPath: "metadata.name" } }) }),
      {
        selector: ({ name }) => name,
        maxLength: 2,
      },
    ),
    lifecycle: fc.integer({ min: 0, max: 10 }).map((seconds) => ({ preStop: { sleep: { seconds } } })),
    restartPolicyRules: fc.constant([{ action: "Restart", exitCodes: { operator: "In", values: [1] } }]),
    securityContext: fc.constant({ procMount: "Default" }),
  },
  { requiredKeys: [] },
);

function podOf(
  spec: object,
  container: { restartPolicyRules?: unknown; resources?: unknown },
  more: object = {},
): { metadata: object; spec: PodSpec } {
  const restartPolicy = container.restartPolicyRules === undefined ? {} : { restartPolicy: "Never" };
  const containers = [{ name: "c", image: "busybox", ...restartPolicy, ...container, ...more }];
  return { metadata: { name: "p" }, spec: { restartPolicy: "Never", ...spec, containers } as PodSpec };
}

/** Returns the errors of the pod and of a Job with the same template. Both must be equal. */
function messagesOf(pod: { spec: PodSpec }): { ofPod: string[]; ofTemplate: string[] } {
  const strategy = jobStrategy(newestBehaviours);
  const job = { metadata: { name: "j" }, spec: { template: { spec: pod.spec } } };
  const texts = (errors: readonly { field: string; detail: string; type: string }[]): string[] =>
    errors.map(({ field, type, detail }) => `${field}: ${type}${detail === "" ? "" : `: ${detail}`}`);
  return {
    ofPod: texts(create(podStrategy, pod).errors),
    ofTemplate: texts(create(strategy, job).errors).map((text) => text.replace(/^spec\.template\./, "")),
  };
}

test("generated valid pods and templates are accepted", () => {
  fc.assert(
    fc.property(part, containerPart, (spec, container) => {
      expect(messagesOf(podOf(spec, container))).toEqual({ ofPod: [], ofTemplate: [] });
    }),
    { numRuns: 300 },
  );
});

/** Broken volumes by description: the volume and its errors, with paths relative to the volume. */
const brokenVolumes: Readonly<Record<string, fc.Arbitrary<readonly [volume: object, ...errors: string[]]>>> = {
  "a second source": source
    .filter((of) => !("emptyDir" in of))
    .map((of) => {
      // Upstream's spelling.
      const name = Object.keys(of)[0]!.replace("downwardAPI", "downwarAPI");
      return [{ emptyDir: {}, ...of }, `${name}: Forbidden: may not specify more than 1 volume type`];
    }),
  "a mode of a file": tooMuchMode.map((bad) => [
    { secret: { secretName: "s", items: [{ key: "k", path: "f", mode: bad }] } },
    "secret.items[0].mode: Invalid: must be a number between 0 and 0777 (octal), both inclusive",
  ]),
  "a path with a backstep": fc
    .tuple(file, file)
    .map(([up, down]) => [
      { configMap: { name: "c", items: [{ key: "k", path: `${up}/../${down}` }] } },
      "configMap.items[0].path: Invalid: must not contain '..'",
    ]),
  "a path reserved for the kubelet": file.map((path) => [
    { configMap: { name: "c", items: [{ key: "k", path: `..${path}` }] } },
    "configMap.items[0].path: Invalid: must not start with '..'",
  ]),
  "an absolute path": file.map((path) => [
    { gitRepo: { repository: "r", directory: `/${path}` } },
    "gitRepo.directory: Invalid: must be a relative path",
  ]),
  "an invalid share": file.map((path) => [
    { nfs: { server: "s", path } },
    "nfs.path: Invalid: must be an absolute path",
  ]),
  "a unit out of range": fc
    .oneof(fc.integer({ max: -1 }), fc.integer({ min: 256 }))
    .map((lun) => [{ fc: { targetWWNs: ["w"], lun } }, "fc.lun: Invalid: must be between 0 and 255, inclusive"]),
  "a reserved option": label.map((name) => [
    { flexVolume: { driver: "d", options: { [`${name}.kubernetes.io/x`]: "1" } } },
    `flexVolume.options[${name}.kubernetes.io/x]: Invalid: kubernetes.io and k8s.io namespaces are reserved`,
  ]),
  "a file twice": file.map((path) => [
    {
      projected: {
        sources: [
          { secret: { name: "s", items: [{ key: "k", path }] } },
          { configMap: { name: "c", items: [{ key: "k", path }] } },
        ],
      },
    },
    "projected: Invalid: conflicting duplicate paths",
  ]),
  "an unsupported resource": label.map((name) => [
    { downwardAPI: { items: [{ path: "f", resourceFieldRef: { containerName: "c", resource: `limits.${name}x-` } }] } },
    'downwardAPI.resourceFieldRef.resource: NotSupported: supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
  ]),
  "a claim without a size": label.map((name) => [
    {
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { [name]: name } },
          spec: { accessModes: ["ReadWriteOnce"], resources: {} },
        },
      },
    },
    "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required",
  ]),
};

test.each(Object.entries(brokenVolumes))("among valid volumes, only %s is reported", (_name, broken) => {
  fc.assert(
    fc.property(volumes, containerPart, broken, (others, container, [volume, ...errors]) => {
      const all = [...others, { name: "broken", ...volume }];
      const at = `spec.volumes[${others.length}]`;
      const expected = errors.map((text) => `${at}.${text}`);
      const pod = podOf({ volumes: all }, container);
      expect(messagesOf(pod)).toEqual({ ofPod: expected, ofTemplate: expected });
    }),
    { numRuns: 40 },
  );
});

const brokenContainers: Readonly<Record<string, fc.Arbitrary<readonly [container: object, ...errors: string[]]>>> = {
  "a sleep longer than the grace period": fc
    .integer({ min: 31 })
    .map((seconds) => [
      { lifecycle: { preStop: { sleep: { seconds } } } },
      "lifecycle.preStop.sleep: Invalid: must be non-negative and less than terminationGracePeriodSeconds (30)",
    ]),
  "a claim that is not the pod's": label.map((name) => [
    { resources: { claims: [{ name }] } },
    "resources.claims[0]: NotFound: must be one of the names in pod.spec.resourceClaims which is empty",
  ]),
  "huge pages without cpu or memory": fc
    .integer({ min: 1, max: 50 })
    .map((count) => [
      { resources: { limits: { "hugepages-2Mi": `${2 * count}Mi` } } },
      "resources: Forbidden: HugePages require cpu or memory",
    ]),
  "a device request below its limit": fc
    .integer({ min: 2, max: 50 })
    .map((count) => [
      { resources: { limits: { "example.com/gpu": String(count) }, requests: { "example.com/gpu": "1" } } },
      `resources.requests: Invalid: must be equal to example.com/gpu limit of ${count}`,
    ]),
  "a policy for what cannot be resized": fc
    .constantFrom("storage", "example.com/gpu")
    .map((resourceName) => [
      { resizePolicy: [{ resourceName, restartPolicy: "NotRequired" }] },
      'resizePolicy: NotSupported: supported values: "cpu", "memory"',
    ]),
  "a divisor": fc
    .integer({ min: 2, max: 999 })
    .map((divisor) => [
      { env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: String(divisor) } } }] },
      "env[0].valueFrom.resourceFieldRef.divisor: Invalid: only divisor's values 1m and 1 are supported with the cpu resource",
    ]),
  "a mount of an unknown volume": label.map((name) => [
    { volumeMounts: [{ name, mountPath: "/m" }] },
    "volumeMounts[0].name: NotFound",
  ]),
  "rules without a policy": fc.constant([
    {
      restartPolicy: undefined,
      restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }],
    },
    "restartPolicy: Required: must specify restartPolicy when restart rules are used",
  ]),
  "a user of several domains": fc
    .tuple(label, label, label)
    .map((parts) => [
      { securityContext: { windowsOptions: { runAsUserName: parts.join("\\") } } },
      "securityContext.windowsOptions.runAsUserName: Invalid: runAsUserName cannot contain more than one backslash",
    ]),
};

test.each(Object.entries(brokenContainers))("in a valid pod, only %s is reported", (_name, broken) => {
  fc.assert(
    fc.property(volumes, broken, (others, [container, ...errors]) => {
      const pod = podOf({ volumes: others }, {}, container);
      const expected = errors.map((text) => `spec.containers[0].${text}`);
      expect(messagesOf(pod)).toEqual({ ofPod: expected, ofTemplate: expected });
    }),
    { numRuns: 40 },
  );
});

const brokenSpecs: Readonly<Record<string, fc.Arbitrary<readonly [spec: object, ...errors: string[]]>>> = {
  "minDomains with ScheduleAnyway": fc.integer({ min: 1, max: 9 }).map((minDomains) => [
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {}, minDomains },
      ],
    },
    "topologySpreadConstraints[0].minDomains: Invalid: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
  ]),
  "a namespace of an affinity": badLabel.map((namespace) => [
    {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "k", namespaces: [namespace] }],
        },
      },
    },
    "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ]),
  "a key of a spread": badLabel
    .filter((key) => !/^[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$/.test(key))
    .map((key) => [
      {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "z",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: {},
            matchLabelKeys: [key],
          },
        ],
      },
      `topologySpreadConstraints[0].matchLabelKeys[0]: Invalid: ${NAME_PART}`,
    ]),
  "too many name servers": fc
    .array(fc.ipV4(), { minLength: 4, maxLength: 9 })
    .map((nameservers) => [
      { dnsConfig: { nameservers } },
      "dnsConfig.nameservers: Invalid: must not have more than 3 nameservers",
    ]),
  "a resource claim without a reference": label.map((name) => [
    { resourceClaims: [{ name }] },
    "resourceClaims[0]: Invalid: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
  ]),
  "a field that Windows does not support": fc
    .nat(9)
    .map((runAsUser) => [
      { os: { name: "windows" }, securityContext: { runAsUser } },
      "securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
    ]),
  "hostNetwork without hostUsers": fc.constant([
    { hostUsers: false, hostNetwork: true },
    "hostNetwork: Forbidden: when `hostUsers` is false",
  ]),
  "a parameter of a shared network": label.map((name) => [
    { hostNetwork: true, securityContext: { sysctls: [{ name: `net.${name}`, value: "1" }] } },
    "securityContext.sysctls[0].name: Invalid: may not be specified when 'hostNetwork' is true",
  ]),
  "a pod limit below a container limit": fc
    .integer({ min: 1, max: 99 })
    .map((milli) => [
      { resources: { requests: { cpu: `${milli}m` } } },
      "resources.requests[cpu]: Invalid: must be greater than or equal to aggregate container requests of 100m",
    ]),
};

test.each(Object.entries(brokenSpecs))("in a valid pod, only %s is reported", (_name, broken) => {
  fc.assert(
    fc.property(volumes, broken, (others, [spec, ...errors]) => {
      const pod = podOf({ volumes: others, ...spec }, { resources: { requests: { cpu: "100m" } } });
      const expected = errors.map((text) => `spec.${text}`);
      expect(messagesOf(pod)).toEqual({ ofPod: expected, ofTemplate: expected });
    }),
    { numRuns: 40 },
  );
});

test("matchLabelKeys are expanded in a pod's selectors, not in a template's", () => {
  const term = { topologyKey: "zone", labelSelector: {}, matchLabelKeys: ["a", "none"], mismatchLabelKeys: ["b"] };
  const spec = {
    containers: [{ name: "c", image: "x" }],
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {}, matchLabelKeys: ["a"] },
    ],
  };
  const { object, message } = create(podStrategy, { metadata: { name: "p", labels: { a: "1", b: "2" } }, spec });
  expect(message).toBe("");
  const [antiAffinity] = object.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const mine = { key: "a", operator: "In", values: ["1"] };
  expect(antiAffinity?.labelSelector?.matchExpressions).toEqual([mine, { key: "b", operator: "NotIn", values: ["2"] }]);
  expect(object.spec?.topologySpreadConstraints?.[0]?.labelSelector).toEqual({ matchExpressions: [mine] });
  expect(spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]).toBe(term);
});

test("pod-level requests default to the sum of container requests, or to the pod's limits", () => {
  const { object, message } = create(podStrategy, {
    metadata: { name: "p" },
    spec: {
      containers: [{ name: "c", image: "x", resources: { requests: { cpu: "300m" } } }],
      initContainers: [
        { name: "i", image: "x", resources: { requests: { cpu: "2" } } },
        { name: "s", image: "x", restartPolicy: "Always", resources: { requests: { cpu: "1" } } },
      ],
      resources: { limits: { cpu: "4", memory: "1Gi" } },
    },
  });
  expect(message).toBe("");
  expect(object.spec?.resources?.requests).toEqual({ cpu: "2", memory: "1Gi" });
});
