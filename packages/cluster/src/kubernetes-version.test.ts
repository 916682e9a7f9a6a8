import { type Job, KUBERNETES_VERSIONS, type KubernetesVersion, jobs, mutableCopy, pods } from "@kubewright/api";
import { type Client, errorMessage, isInvalid } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { type AuditRecord, type ControllerName, type Decision, createCluster, createFaultyCluster } from "./index.js";

/** A cluster of one release, with its recorded requests and decisions. */
interface World {
  readonly clock: SimulatedClock;
  readonly client: Client;
  readonly requests: readonly AuditRecord[];
  readonly decisions: readonly Decision[];
  /** Creates the Job `j` and advances time by a second. */
  readonly create: (spec: object, annotations?: Record<string, string>) => Promise<void>;
  readonly advance: (seconds: number) => Promise<void>;
  readonly job: () => Promise<Job>;
  /** Updates the stored Job. Returns `accepted`, or the message of a 422 up to the value in it. */
  readonly change: (change: (job: Job) => void, subresource?: "status") => Promise<string>;
}

/** Results of the same steps under each release. */
type ByVersion<T> = Readonly<Record<KubernetesVersion, T>>;

async function underEach<T>(steps: (world: World) => Promise<T>, options?: SimulateOptions): Promise<ByVersion<T>> {
  const results: [KubernetesVersion, T][] = [];
  for (const version of KUBERNETES_VERSIONS) results.push([version, await simulate(version, steps, options)]);
  return Object.fromEntries(results) as ByVersion<T>;
}

interface SimulateOptions {
  readonly make?: typeof createCluster;
  readonly controllers?: readonly ControllerName[];
}

async function simulate<T>(
  kubernetesVersion: KubernetesVersion,
  story: (world: World) => Promise<T>,
  { make = createCluster, ...controllers }: SimulateOptions = {},
): Promise<T> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const requests: AuditRecord[] = [];
  const decisions: Decision[] = [];
  const onDecision = (decision: Decision): void => void decisions.push(decision);
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const random = seededRandom(1);
  const cluster = make({ clock, random, kubernetesVersion, onDecision, logger, freeze: true, ...controllers });
  cluster.apiServer.observe((record) => requests.push(record));
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  const client = cluster.client("test");
  const advance = (seconds: number): Promise<void> => clock.advance(seconds * 1000);
  await advance(1);
  const job = async (): Promise<Job> => mutableCopy(await client.resource(jobs).get("j", { namespace: "default" }));
  const world: World = {
    clock,
    client,
    requests,
    decisions,
    advance,
    job,
    create: async (spec, annotations = {}) => {
      const podSpec = { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] };
      const template = { metadata: { annotations }, spec: podSpec };
      await client
        .resource(jobs)
        .create({ metadata: { namespace: "default", name: "j" }, spec: { template, ...spec } });
      await advance(1);
    },
    change: async (change, subresource) => {
      const changed = await job();
      change(changed);
      try {
        const resource = client.resource(jobs);
        await (subresource === "status" ? resource.updateStatus(changed) : resource.update(changed));
        return "accepted";
      } catch (error) {
        if (!isInvalid(error)) throw error;
        return errorMessage(error).replace(/^.* is invalid: (\[?[^:]*): .*$/s, "422 $1");
      }
    },
  };
  try {
    return await story(world);
  } finally {
    stop.abort();
    await advance(0);
    await running;
  }
}

/**
 * Returns the results of all releases, given those of the first release and of each one that differs from its
 * predecessor.
 */
function from<T>(...steps: readonly (readonly [KubernetesVersion, T])[]): ByVersion<T> {
  const begins = new Map(steps);
  let current: T | undefined;
  return Object.fromEntries(
    KUBERNETES_VERSIONS.map((version) => [version, (current = begins.get(version) ?? current)]),
  ) as ByVersion<T>;
}

const ONE_FAILS = {
  "sim.kubewright.dev/duration": "10m",
  "sim.kubewright.dev/rules": '[{"indexes": "0", "attempts": "1", "duration": "20s", "exitCode": "1"}]',
};

async function statusOfTwo({ job, client }: World): Promise<string> {
  const { active = 0, ready = 0, failed = 0 } = (await job()).status ?? {};
  const { items } = await client.resource(pods).list({ namespace: "default" });
  const ended = items.filter(({ status }) => status?.phase === "Failed");
  const held = ended.filter(({ metadata }) => (metadata.finalizers?.length ?? 0) > 0).length;
  return `active ${active}, ready ${ready}, failed ${failed}, ${held} of ${ended.length} ended pods held`;
}

const refusals = ({ decisions }: World): number =>
  decisions.filter(
    ({ controller, decision }) =>
      controller === "job-controller" &&
      "error" in decision &&
      errorMessage(decision.error).includes("cannot set more ready pods than active"),
  ).length;

test.each([
  ["", {}, "failed 1, 0 of 1 ended pods held"],
  // The finalizer of its pod stays until the pod is replaced, in every release.
  [" of an index", { backoffLimitPerIndex: 3 }, "failed 0, 1 of 1 ended pods held"],
])("during the back-off%s 1.31 reports no active pod, 1.33 to 1.36.2 are refused", async (_of, limit, counted) => {
  const found = await underEach(async (world) => {
    await world.create({ completionMode: "Indexed", completions: 2, parallelism: 2, ...limit }, ONE_FAILS);
    await world.advance(26);
    const during = await statusOfTwo(world);
    const refused = refusals(world) > 0;
    await world.advance(20);
    return { during, refused, after: await statusOfTwo(world) };
  });
  const after = "active 2, ready 2, failed 1, 0 of 1 ended pods held";
  expect(found).toEqual(
    from(
      ["1.31", { during: `active 0, ready 1, ${counted}`, refused: false, after }],
      ["1.33", { during: "active 2, ready 2, failed 0, 1 of 1 ended pods held", refused: true, after }],
      ["1.36.3", { during: `active 1, ready 1, ${counted}`, refused: false, after }],
    ),
  );
});

test("up to 1.35 a suspended Job keeps its startTime, and fails when resumed after its deadline", async () => {
  const found = await underEach(async ({ create, change, advance, job }) => {
    await create({ activeDeadlineSeconds: 60 }, { "sim.kubewright.dev/duration": "30s" });
    const set =
      (suspend: boolean) =>
      ({ spec }: Job): void =>
        void (spec!.suspend = suspend);
    await change(set(true));
    await advance(120);
    const { startTime } = (await job()).status ?? {};
    await change(set(false));
    await advance(50);
    const end = (await job()).status?.conditions?.find(({ type }) => type === "Complete" || type === "Failed");
    return [startTime, end?.reason];
  });
  expect(found).toEqual(
    from(["1.31", ["2026-01-01T00:00:01Z", "DeadlineExceeded"]], ["1.36.2", [undefined, "CompletionsReached"]]),
  );
});

test("a Job that is resumed before its deadline has the full deadline again, in every release", async () => {
  const found = await underEach(async ({ create, change, advance, job }) => {
    await create({ activeDeadlineSeconds: 60 }, { "sim.kubewright.dev/duration": "45s" });
    await change(({ spec }) => void (spec!.suspend = true));
    await advance(40);
    await change(({ spec }) => void (spec!.suspend = false));
    await advance(55);
    const { startTime, conditions = [] } = (await job()).status ?? {};
    return [startTime, conditions.at(-1)?.type];
  });
  expect(found).toEqual(from(["1.31", ["2026-01-01T00:00:42Z", "Complete"]]));
});

const setNode = ({ spec }: Job): void => void (spec!.template.spec!.nodeSelector = { disk: "ssd" });
const setResources = ({ spec }: Job): void =>
  void (spec!.template.spec!.containers[0]!.resources = { requests: { cpu: "1" } });
const setImage = ({ spec }: Job): void => void (spec!.template.spec!.containers[0]!.image = "other");
const setLabel = ({ spec }: Job): void => void (spec!.template.metadata!.labels!["a"] = "b");

test("scheduling constraints of a Job that has started and was suspended can change only from 1.36 on", async () => {
  const found = await underEach(async ({ create, change, advance }) => {
    await create({});
    await change(({ spec }) => void (spec!.suspend = true));
    await advance(40);
    return [await change(setNode), await change(setLabel), await change(setImage)];
  });
  const refused = "422 spec.template";
  expect(found).toEqual(
    from(["1.31", [refused, refused, refused]], ["1.36.2", ["accepted", "accepted", `${refused}.spec`]]),
  );
});

test("scheduling constraints of a Job that never started can change in every release", async () => {
  const found = await underEach(async ({ create, change }) => {
    await create({ suspend: true });
    return [await change(setNode), await change(setLabel)];
  });
  expect(found).toEqual(from(["1.31", ["accepted", "accepted"]]));
});

test("resources of a suspended Job's containers can change only from 1.36 on", async () => {
  const found = await underEach(async ({ create, change }) => {
    await create({ suspend: true });
    return [await change(setResources), await change(setImage)];
  });
  expect(found).toEqual(
    from(["1.31", ["422 spec.template", "422 spec.template"]], ["1.36.2", ["accepted", "422 spec.template.spec"]]),
  );
});

test("1.31 drops managedBy silently, and its own controller runs the Job", async () => {
  const found = await underEach(async ({ create, change, advance, job, client }) => {
    await create({ managedBy: "acme.io/queue" });
    await advance(30);
    const { items } = await client.resource(pods).list({ namespace: "default" });
    const { spec, status } = await job();
    const set = await change(({ spec: next }) => void (next!.managedBy = "acme.io/other"));
    return [spec?.managedBy, items.length, status?.succeeded ?? 0, set];
  });
  expect(found).toEqual(
    from(["1.31", [undefined, 1, 1, "422 spec.managedBy"]], ["1.33", ["acme.io/queue", 0, 0, "422 spec.managedBy"]]),
  );
});

test("1.31 accepts nearly every status of a Job", async () => {
  const steps = async ({ create, change }: World): Promise<readonly string[]> => {
    await create({ suspend: true });
    const status = (next: NonNullable<Job["status"]>): Promise<string> =>
      change((job) => void (job.status = { ...job.status, ...next }), "status");
    return [
      await status({ active: 1, ready: 2 }),
      await status({ active: 0, ready: 0, failed: 3 }),
      await status({ failed: 1 }),
      await status({ completionTime: "2026-01-01T00:00:09Z" }),
      await status({ failed: -1 }),
    ];
  };
  const found = await underEach(steps, { controllers: [] });
  const sound = ["422 status.ready", "accepted", "422 status.failed", "422 status.completionTime"];
  expect(found).toEqual(
    from(
      ["1.31", ["accepted", "accepted", "accepted", "accepted", "422 status.failed"]],
      ["1.33", [...sound, "422 [status.failed"]],
    ),
  );
});

test("up to 1.33 each informer is refused the watch that lists once, lists, and sees the same", async () => {
  const found = await underEach(async ({ requests, create, advance, job }) => {
    const refused = requests.filter(({ verb, code }) => verb === "watch" && code === 422);
    const ofJobs = requests.filter(({ resource, userAgent }) => resource === "jobs" && userAgent !== "test");
    await create({});
    await advance(30);
    return {
      refusedOfJobs: refused.filter(({ resource }) => resource === "jobs").length,
      anyTwice: refused.length > new Set(refused.map(({ resource, userAgent }) => `${resource} ${userAgent}`)).size,
      lists: ofJobs.filter(({ verb }) => verb === "list").length,
      succeeded: (await job()).status?.succeeded,
    };
  });
  expect(found).toEqual(
    from(
      ["1.31", { refusedOfJobs: 1, anyTwice: false, lists: 1, succeeded: 1 }],
      ["1.34", { refusedOfJobs: 0, anyTwice: false, lists: 0, succeeded: 1 }],
    ),
  );
});

test("servers report the measured release", async () => {
  const found = await underEach(async ({ client }) => {
    const { major, minor, gitVersion } = (await client.getRaw("/version")) as Record<string, string>;
    return `${major}.${minor} ${gitVersion}`;
  });
  expect(Object.values(found)).toEqual([
    "1.31 v1.31.14",
    "1.33 v1.33.13",
    "1.34 v1.34.9",
    "1.35 v1.35.6",
    "1.36 v1.36.2",
    "1.36 v1.36.3",
  ]);
});

test("controllers of a faulty cluster are of its release too", async () => {
  const steps = async (world: World): Promise<number> => {
    await world.create({ completionMode: "Indexed", completions: 2, parallelism: 2 }, ONE_FAILS);
    await world.advance(26);
    return refusals(world);
  };
  expect(await simulate("1.36.2", steps, { make: createFaultyCluster })).toBeGreaterThan(0);
  expect(await simulate("1.36.3", steps, { make: createFaultyCluster })).toBe(0);
});
