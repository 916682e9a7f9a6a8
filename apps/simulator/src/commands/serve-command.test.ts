import { request as httpRequest } from "node:http";
import { type RequestOptions, request } from "node:https";

import { BatchV1Api, CoreV1Api, KubeConfig, Watch } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";

import { runCli } from "../cli.js";
import type { Io } from "../io/io.js";

interface ServeProcess {
  readonly url: string;
  /** Resolves when the ready line is printed. */
  readonly ready: Promise<void>;
  /** First line of standard error. */
  readonly firstLine: string;
  /** Stops the command and returns its exit code. */
  readonly stop: () => Promise<number>;
}

/** Runs `kubewright serve` in this process on a free port. Files are stored in `files`. */
async function serve(flags: readonly string[], files: Map<string, string> = new Map()): Promise<ServeProcess> {
  const stopped = new AbortController();
  const { promise: line, resolve: onFirstLine } = Promise.withResolvers<string>();
  const { promise: ready, resolve: onReady } = Promise.withResolvers<void>();
  const silentOutput = { write: () => {}, isTerminal: false, columns: 0, hasColours: false };
  const io: Io = {
    stdout: silentOutput,
    stderr: {
      ...silentOutput,
      write: (text) => {
        onFirstLine(text);
        if (text === "kubewright is ready\n") onReady();
      },
    },
    readFile: async (path) => files.get(path) ?? Promise.reject(new Error("ENOENT: no such file")),
    listFolder: async () => undefined,
    openFile: async (path) => {
      files.set(path, "");
      return {
        write: async (text) => void files.set(path, files.get(path)! + text),
        close: async () => {},
        discard: async () => {},
      };
    },
    stopped: stopped.signal,
    pageAssets: async () => ({ script: "", style: "", scriptHash: "sha256-a", styleHash: "sha256-b" }),
    timeZoneData: "test",
    now: () => Date.parse("2026-01-01T00:00:00Z"),
  };
  const code = runCli(["serve", "--port", "0", ...flags], io, "1.2.3");
  const firstLine = await line;
  return {
    url: /Serving on (\S+)/.exec(firstLine)?.[1] ?? "",
    firstLine,
    ready,
    stop: () => {
      stopped.abort();
      return code;
    },
  };
}

async function call(
  method: string,
  url: string,
  body?: unknown,
): Promise<{ code: number; body: Record<string, unknown> }> {
  const answer = await fetch(url, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { code: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const JOBS = "/apis/batch/v1/namespaces/default/jobs";
const job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "j" },
  spec: {
    template: {
      metadata: { annotations: { "sim.kubewright.dev/duration": "2h" } },
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
    },
  },
};
const advance = (url: string, body: unknown): ReturnType<typeof call> =>
  call("POST", `${url}/_kubewright/clock/advance`, body);
const statusOf = async (url: string): Promise<Record<string, unknown>> =>
  (await call("GET", `${url}${JOBS}/j`)).body["status"] as Record<string, unknown>;

/** Returns a function that decodes a certificate or key of a kubeconfig. */
function certificateData(kubeconfig: string): (name: string) => string {
  return (name) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(kubeconfig)![1]!, "base64").toString();
}

/** Sends a GET request on a separate connection that trusts the kubeconfig's authority. */
function getSecrets(url: string, kubeconfig: string, options: RequestOptions): Promise<number> {
  const ca = certificateData(kubeconfig)("certificate-authority-data");
  return new Promise((resolve, reject) => {
    request(`${url}/api/v1/namespaces/default/secrets`, { ca, agent: false, ...options }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    })
      .on("error", reject)
      .end();
  });
}

test("a manual clock is paused until it is advanced, and then all due work is done", async () => {
  const { url, stop } = await serve(["--speed", "manual"]);
  expect((await call("POST", `${url}${JOBS}`, job)).code).toBe(201);
  const before = await advance(url, { seconds: 0 });
  expect((await statusOf(url))["succeeded"]).toBeUndefined();
  const after = await advance(url, { seconds: 3 * 3600, settleMs: 5 });
  expect(Date.parse(String(after.body["now"])) - Date.parse(String(before.body["now"]))).toBe(3 * 3_600_000);
  expect(Number(after.body["resourceVersion"])).toBeGreaterThan(Number(before.body["resourceVersion"]));
  expect(await statusOf(url)).toMatchObject({ succeeded: 1 });
  expect(await stop()).toBe(0);
});

test("a manual clock stops at the first write when the request says so", async () => {
  const { url, stop } = await serve(["--speed", "manual"]);
  await call("POST", `${url}${JOBS}`, job);
  const times: number[] = [];
  const fourHoursMs = 4 * 3_600_000;
  for (let leftMs = fourHoursMs; leftMs > 0; leftMs = times[0]! + fourHoursMs - times.at(-1)!) {
    const { body } = await advance(url, { seconds: leftMs / 1000, untilWrite: true });
    times.push(Date.parse(String(body["now"])));
  }
  // The pod is accepted, runs, ends and is counted, each at another time. Nothing else happens until events expire.
  expect(new Set(times).size).toBeGreaterThan(3);
  expect(times.at(-1)! - times.at(-2)!).toBeGreaterThan(3_000_000);
  expect(await statusOf(url)).toMatchObject({ succeeded: 1 });
  await stop();
});

test.each([
  ["no number", { seconds: "10" }, /^seconds: "10" is not a number from 0 to 31622400; "maxSeconds" raises the limit$/],
  ["a step back", { seconds: -1 }, /^seconds: -1 is not a number from 0 to 31622400; /],
  ["400 days", { seconds: 34_560_000 }, /^seconds: 34560000 is not a number from 0 to 31622400; /],
  [
    "a limit of 200 years",
    { seconds: 1, maxSeconds: 7e9 },
    /^maxSeconds: 7000000000 is not a number from 0 to 3162240000$/,
  ],
  ["a bad settle time", { seconds: 1, settleMs: -5 }, /^settleMs: -5 is not a number from 0 to 600000$/],
  ["an unclear end", { seconds: 1, untilWrite: 1 }, /^untilWrite: 1 is neither true nor false$/],
  ["no JSON", "soon", /^the body is not JSON: /],
])("advancing by %s is refused with a Status", async (_title, body, message) => {
  const { url, stop } = await serve(["--speed", "manual"]);
  const refused = await advance(url, body);
  expect(refused.code).toBe(400);
  expect(refused.body).toMatchObject({ kind: "Status", reason: "BadRequest", code: 400 });
  expect(refused.body["message"]).toMatch(message);
  await stop();
});

const everyMinute = {
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "c" },
  spec: { schedule: "* * * * *", jobTemplate: { spec: job.spec } },
};
const CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs";
const aYear = { seconds: 366 * 86_400 };

test("an advance ends when its client disconnects, and other requests are answered meanwhile", async () => {
  const { url, stop } = await serve(["--speed", "manual"]);
  await call("POST", `${url}${CRON_JOBS}`, everyMinute);
  const client = new AbortController();
  const advancing = fetch(`${url}/_kubewright/clock/advance`, {
    method: "POST",
    body: JSON.stringify(aYear),
    signal: client.signal,
  }).catch((error: Error) => error.name);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  client.abort();
  expect(await advancing).toBe("AbortError");
  const { body } = await advance(url, { seconds: 0 });
  expect(Date.parse(String(body["now"])) - Date.now()).toBeLessThan(300 * 86_400_000);
  await stop();
});

test("a reset ends an advance, also while a snapshot waits for it", async () => {
  const { url, ready, stop } = await serve(["--speed", "manual"]);
  await ready;
  await call("POST", `${url}${CRON_JOBS}`, everyMinute);
  const advancing = advance(url, aYear);
  const snapshot = call("POST", `${url}/_kubewright/snapshot`, {});
  await expect.poll(async () => (await call("GET", `${url}${JOBS}`)).body["items"]).not.toHaveLength(0);
  expect((await call("POST", `${url}/_kubewright/reset`, {})).code).toBe(200);
  expect(await advancing).toMatchObject({ code: 409, body: { reason: "Conflict" } });
  expect((await snapshot).code).toBe(200);
  expect((await call("GET", `${url}${CRON_JOBS}`)).body["items"]).toEqual([]);
  expect((await advance(url, { seconds: 60 })).code).toBe(200);
  await stop();
});

test.each([
  ["*", ["NotSimulated"]],
  ["", []],
])("with --controllers '%s' the events of a Deployment are %j", async (controllers, reasons) => {
  const { url, ready, stop } = await serve(["--speed", "manual", "--controllers", controllers]);
  await ready;
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx" }] } };
  const body = { metadata: { name: "web" }, spec: { selector: { matchLabels: labels }, template } };
  expect((await call("POST", `${url}/apis/apps/v1/namespaces/default/deployments`, body)).code).toBe(201);
  await call("POST", `${url}/_kubewright/clock/advance`, { seconds: 2 });
  const of = "fieldSelector=involvedObject.kind%3DDeployment,involvedObject.name%3Dweb";
  const { body: events } = await call("GET", `${url}/api/v1/namespaces/default/events?${of}`);
  expect((events["items"] as { reason: string }[]).map(({ reason }) => reason)).toEqual(reasons);
  expect(await stop()).toBe(0);
});

test("on a running clock there is nothing to advance", async () => {
  const { url, stop } = await serve([]);
  const answer = await fetch(`${url}/_kubewright/clock/advance`, { method: "POST", body: "{}" });
  expect(answer.status).toBe(404);
  await stop();
});

test("at speed 3600 an hour takes a second", async () => {
  const { url, stop } = await serve(["--speed", "3600"]);
  await call("POST", `${url}${JOBS}`, job);
  await expect.poll(async () => (await statusOf(url))["succeeded"]).toBe(1);
  await stop();
});

test("the next server starts from a snapshot taken at the end", async () => {
  const files = new Map<string, string>();
  const first = await serve(["--controllers", "", "--kubelet", "none", "--snapshot", "store.json"], files);
  const made = await call("POST", `${first.url}${JOBS}`, job);
  expect(await first.stop()).toBe(0);
  const second = await serve(["--controllers", "", "--kubelet", "none", "--restore", "store.json"], files);
  const kept = await call("GET", `${second.url}${JOBS}/j`);
  expect(kept.body).toEqual(made.body);
  const next = await call("POST", `${second.url}/api/v1/namespaces/default/configmaps`, {
    metadata: { name: "later" },
  });
  const version = (object: Record<string, unknown>): number =>
    Number((object["metadata"] as { resourceVersion: string }).resourceVersion);
  expect(version(next.body)).toBeGreaterThan(version(made.body));
  await second.stop();
});

test("with --tls and --token only the kubeconfig's authority and certificate, or the token, authenticate", async () => {
  const files = new Map<string, string>();
  const flags = ["--controllers", "", "--kubelet", "none", "--tls", "--token", "s3cret", "--authorization", "RBAC"];
  const { url, stop } = await serve([...flags, "--kubeconfig", "kc"], files);
  const data = certificateData(files.get("kc")!);
  const get = (options: RequestOptions): Promise<number> => getSecrets(url, files.get("kc")!, options);
  expect(await get({})).toBe(401);
  expect(await get({ headers: { authorization: "Bearer wrong" } })).toBe(401);
  expect(await get({ headers: { authorization: "Bearer s3cret" } })).toBe(200);
  expect(await get({ cert: data("client-certificate-data"), key: data("client-key-data") })).toBe(200);
  await expect(get({ ca: [] })).rejects.toThrow("certificate");
  expect(await stop()).toBe(0);
});

test("with --tls every namespace has the certificate authority of the kubeconfig", async () => {
  const files = new Map<string, string>();
  const { url, stop } = await serve(["--tls", "--kubeconfig", "kc"], files);
  const data = certificateData(files.get("kc")!);
  const [ca, cert, key] = ["certificate-authority-data", "client-certificate-data", "client-key-data"].map(data);
  const path = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
  const text = await new Promise<string>((resolve, reject) => {
    request(`${url}${path}`, { ca, cert, key, agent: false }, (answer) => {
      answer.toArray().then((chunks: Buffer[]) => resolve(Buffer.concat(chunks).toString()), reject);
    })
      .on("error", reject)
      .end();
  });
  expect((JSON.parse(text) as { data: unknown }).data).toEqual({ "ca.crt": ca });
  expect(await stop()).toBe(0);
});

test("with --tls alone no client is anonymous: the kubeconfig's certificate is needed", async () => {
  const files = new Map<string, string>();
  const flags = [
    "--controllers",
    "",
    "--kubelet",
    "none",
    "--tls",
    "--kubeconfig",
    "kc",
    "--allowed-hosts",
    "kube.test",
  ];
  const { url, stop } = await serve(flags, files);
  const get = (options: RequestOptions): Promise<number> => getSecrets(url, files.get("kc")!, options);
  expect(await get({})).toBe(401);
  expect(await get({ headers: { authorization: "Bearer wrong-token" } })).toBe(401);
  const data = certificateData(files.get("kc")!);
  const client = { cert: data("client-certificate-data"), key: data("client-key-data") };
  expect(await get(client)).toBe(200);
  // The server's certificate also covers the other names.
  expect(await get({ ...client, servername: "kube.test" })).toBe(200);
  await expect(get({ ...client, servername: "evil.example" })).rejects.toThrow("kube.test");
  expect(await stop()).toBe(0);
});

test("--allow-anonymous accepts clients without credentials, and still refuses wrong tokens", async () => {
  const { url, stop } = await serve(["--host", "0.0.0.0", "--allow-anonymous", "--token", "s3cret"]);
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${url}/version`, { headers })).status;
  expect(await status({})).toBe(200);
  expect(await status({ authorization: "Bearer s3cret" })).toBe(200);
  expect(await status({ authorization: "Bearer wrong" })).toBe(401);
  expect(await stop()).toBe(0);
});

test.each([
  [["--host", "127.0.0.2"]],
  [["--host", "localhost"]],
  [["--host", "0.0.0.0", "--token", "s3cret"]],
  [["--host", "0.0.0.0", "--token-file", "tokens.csv"]],
  [["--host", "0.0.0.0", "--tls", "--kubeconfig", "kc"]],
  [["--host", "0.0.0.0", "--allow-anonymous"]],
  [["--tls", "--allow-anonymous"]],
])("%j is served", async (flags) => {
  const files = new Map([["tokens.csv", "t,u,1"]]);
  const { url, stop } = await serve(["--controllers", "", "--kubelet", "none", ...flags], files);
  expect(url).toMatch(/^https?:/);
  expect(await stop()).toBe(0);
});

test.each([
  [[], /Try: kubectl --server http:\S+ get jobs/],
  [["--kubeconfig", "kc"], /Try: kubectl --kubeconfig kc get jobs/],
  [["--tls", "--kubeconfig", "kc"], /Try: kubectl --kubeconfig kc get jobs/],
  [["--token", "s3cret", "--kubeconfig", "kc"], /For kubectl add --tls and --kubeconfig/],
  [["--token", "s3cret", "--tls"], /For kubectl add --tls and --kubeconfig/],
  [["--token", "s3cret", "--allow-anonymous"], /Try: kubectl --server http:\S+ get jobs/],
])("with %j it says what kubectl needs", async (flags, advice) => {
  const { firstLine, stop } = await serve(["--controllers", "", "--kubelet", "none", ...flags]);
  expect(firstLine).toMatch(advice);
  expect(firstLine).not.toContain("s3cret");
  expect(await stop()).toBe(0);
});

test("an allowed host may be used in requests", async () => {
  const { url, stop } = await serve([
    "--controllers",
    "",
    "--kubelet",
    "none",
    "--allowed-hosts",
    "kube.test,10.1.2.3",
  ]);
  const status = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      httpRequest(`${url}/version`, { headers: { host }, agent: false }, (answer) =>
        resolve(answer.resume().statusCode!),
      )
        .on("error", reject)
        .end();
    });
  expect(await status("kube.test:8001")).toBe(200);
  expect(await status("10.1.2.3")).toBe(200);
  expect(await status("other.test")).toBe(403);
  expect(await stop()).toBe(0);
});

test("/metrics has counts and durations of requests, for clients that may read it", async () => {
  const { url, stop } = await serve(["--controllers", "", "--kubelet", "none", "--token", "s3cret"]);
  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  const headers = { authorization: "Bearer s3cret" };
  await fetch(`${url}${JOBS}`, { headers });
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  expect(text).toContain(
    'apiserver_request_total{verb="LIST",group="batch",version="v1",resource="jobs",subresource="",scope="namespace",component="apiserver",code="200"} 1\n',
  );
  expect(text).toMatch(/apiserver_request_duration_seconds_count\{verb="LIST",group="batch".*\} 1\n/);
  expect(await stop()).toBe(0);
});

test("a feature gate is enabled as in kube-apiserver, and the metrics report it and its watches", async () => {
  const quiet = ["--controllers", "", "--kubelet", "none"];
  const { url, stop } = await serve([...quiet, "--feature-gates", "ShardedListAndWatch=true"]);
  const nobody = "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')";
  const query = new URLSearchParams({ shardSelector: nobody }).toString();
  const list = (await (await fetch(`${url}${JOBS}?${query}`)).json()) as { metadata: object };
  expect(list.metadata).toMatchObject({ shardInfo: { selector: nobody } });
  const leaving = new AbortController();
  await fetch(`${url}${JOBS}?watch=1&${query}`, { signal: leaving.signal });
  const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  expect(await metrics()).toContain('kubernetes_feature_enabled{name="ShardedListAndWatch",stage="ALPHA"} 1\n');
  expect(await metrics()).toContain('apiserver_watch_shards_total{group="batch",resource="jobs"} 1\n');
  leaving.abort();
  await expect.poll(metrics).toContain('apiserver_watch_shards_total{group="batch",resource="jobs"} -1\n');
  expect(await stop()).toBe(0);
});

test("without the feature gate nothing is sharded, and the metrics report that too", async () => {
  const { url, stop } = await serve(["--controllers", "", "--kubelet", "none"]);
  expect((await fetch(`${url}${JOBS}?shardSelector=bad`)).status).toBe(200);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('kubernetes_feature_enabled{name="ShardedListAndWatch",stage="ALPHA"} 0\n');
  expect(text).not.toContain("apiserver_watch_shards_total");
  expect(await stop()).toBe(0);
});

test("the page and its trace are served to clients that may use the cluster", async () => {
  const { url, stop } = await serve(["--controllers", "", "--kubelet", "none", "--token", "s3cret"]);
  const headers = { authorization: "Bearer s3cret" };
  for (const path of ["/ui", "/ui/", "/_kubewright/trace"]) expect((await fetch(`${url}${path}`)).status).toBe(401);
  const answer = await fetch(`${url}/ui/`, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'sha256-a'; style-src 'sha256-b'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  const trace = await fetch(`${url}/_kubewright/trace`, { headers });
  expect(JSON.parse((await trace.text()).split("\n")[0]!)).toMatchObject({ type: "status", first: 0, speed: 1 });
  expect(await stop()).toBe(0);
});

test("a snapshot that a server cannot start from is named", async () => {
  const object = `{"metadata":{"name":"deep"},"spec":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const files = new Map([["deep.json", `{"resourceVersion":"7","objects":{"/configmaps":[${object}]}}`]]);
  const { firstLine, stop } = await serve(["--restore", "deep.json"], files);
  expect(firstLine).toBe(
    "kubewright: --restore: cannot start from deep.json: /configmaps deep is nested more than 500 levels deep\n",
  );
  expect(await stop()).toBe(2);
});

test("a snapshot that cannot be read is named", async () => {
  const { firstLine, stop } = await serve(["--restore", "gone.json"]);
  expect(firstLine).toBe("kubewright: --restore: cannot read gone.json: ENOENT: no such file\n");
  expect(await stop()).toBe(2);
});

test("the kubeconfig written for plain HTTP is one that @kubernetes/client-node takes", async () => {
  const files = new Map<string, string>();
  const { stop } = await serve(["--kubeconfig", "kc", "--controllers", "", "--kubelet", "none"], files);
  const config = new KubeConfig();
  config.loadFromString(files.get("kc")!);
  const created = await config.makeApiClient(BatchV1Api).createNamespacedJob({ namespace: "default", body: job });
  expect(created.metadata?.uid).toMatch(/-/);
  const { items } = await config.makeApiClient(CoreV1Api).listNamespace();
  expect(items.map(({ metadata }) => metadata?.name)).toContain("kube-system");
  const seen = await new Promise<string>((resolve, reject) => {
    void new Watch(config).watch("/apis/batch/v1/jobs", {}, (type) => resolve(type), reject);
  });
  expect(seen).toBe("ADDED");
  expect(await stop()).toBe(0);
});

test.each(["1", "60", "manual"])(
  "at speed %s the cluster begins at --start, and ages are by its own clock",
  async (speed) => {
    const { url, stop } = await serve(["--speed", speed, "--start", "2030-02-03T04:05:06Z", "--controllers", ""]);
    const made = await call("POST", `${url}${JOBS}`, job);
    expect((made.body["metadata"] as { creationTimestamp: string }).creationTimestamp).toMatch(/^2030-02-03T04:0/);
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const table = (await (await fetch(`${url}${JOBS}`, { headers: { accept } })).json()) as {
      rows: { cells: string[] }[];
    };
    expect(table.rows[0]!.cells[4]).toMatch(/^\d+s$/);
    await stop();
  },
);

const post = (url: string, path: string, body?: unknown): ReturnType<typeof call> =>
  call("POST", `${url}/_kubewright/${path}`, body);
const namesAt = async (url: string, path: string): Promise<string[]> => {
  const { body } = await call("GET", `${url}${path}`);
  return (body["items"] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
};
const PODS = "/api/v1/namespaces/default/pods";

test("with a seed no new object gets the UID of a restored one", async () => {
  const files = new Map<string, string>();
  const alone = ["--controllers", "", "--kubelet", "none", "--seed", "7"];
  const uids = new Set<unknown>();
  for (const [name, flags] of [
    ["before", ["--snapshot", "store.json"]],
    ["after", ["--restore", "store.json"]],
  ] as const) {
    const { url, stop } = await serve([...alone, ...flags], files);
    for (let index = 0; index < 40; index++) {
      const { body } = await call("POST", `${url}${JOBS}`, { ...job, metadata: { name: `${name}-${index}` } });
      uids.add((body["metadata"] as { uid: string }).uid);
    }
    await stop();
  }
  expect(uids.size).toBe(80);
});

describe("reset", () => {
  test("restores the objects of the start and the paused clock", async () => {
    const { url, ready, stop } = await serve(["--speed", "manual", "--start", "2030-01-01T00:00:00Z"]);
    await ready;
    const nodes = (await call("GET", `${url}/api/v1/nodes`)).body["items"];
    for (let round = 0; round < 3; round++) {
      await call("POST", `${url}${JOBS}`, job);
      const { body } = await advance(url, { seconds: 3 * 3600 });
      expect(body["now"]).toBe("2030-01-01T03:00:00.000Z");
      expect(await statusOf(url)).toMatchObject({ succeeded: 1 });
      const answer = await post(url, "reset");
      expect(answer.code).toBe(200);
      expect(Number(answer.body["resourceVersion"])).toBeGreaterThan(Number(body["resourceVersion"]));
      expect(await namesAt(url, JOBS)).toEqual([]);
      expect(await namesAt(url, PODS)).toEqual([]);
      expect((await call("GET", `${url}/api/v1/nodes`)).body["items"]).toEqual(nodes);
      expect((await advance(url, { seconds: 0 })).body["now"]).toBe("2030-01-01T00:00:00.000Z");
    }
    expect(await stop()).toBe(0);
  });

  test("ends watches with 410, and an earlier version is too old to watch from", async () => {
    const { url, ready, stop } = await serve(["--controllers", "", "--kubelet", "none"]);
    await ready;
    const list = await call("GET", `${url}${JOBS}`);
    const version = (list.body["metadata"] as { resourceVersion: string }).resourceVersion;
    const watch = await fetch(`${url}${JOBS}?watch=1&resourceVersion=${version}`);
    const { body } = await post(url, "reset");
    expect(JSON.parse(await watch.text())).toMatchObject({
      type: "ERROR",
      object: { kind: "Status", code: 410, reason: "Expired" },
    });
    const old = await fetch(`${url}${JOBS}?watch=1&resourceVersion=${version}`);
    expect(await old.text()).toContain(`"message":"too old resource version: ${version} `);
    const next = await fetch(
      `${url}${JOBS}?watch=1&timeoutSeconds=1&resourceVersion=${String(body["resourceVersion"])}`,
    );
    await call("POST", `${url}${JOBS}`, job);
    expect(await next.text()).toMatch(/^\{"type":"ADDED"/);
    await stop();
  });

  test("restores any snapshot, named or not, any number of times", async () => {
    const { url, ready, stop } = await serve(["--speed", "manual"]);
    await ready;
    await call("POST", `${url}${JOBS}`, job);
    await advance(url, { seconds: 60 });
    const [pod] = await namesAt(url, PODS);
    expect((await post(url, "snapshot", { snapshot: "with-pod" })).body).toMatchObject({ snapshot: "with-pod" });
    expect((await post(url, "snapshot")).body).toMatchObject({ snapshot: "snapshot-1" });
    await advance(url, { seconds: 7200 });
    for (const snapshot of ["with-pod", "snapshot-1"]) {
      expect(await statusOf(url)).toMatchObject({ succeeded: 1 });
      expect((await post(url, "reset", { snapshot })).code).toBe(200);
      expect(await statusOf(url)).toMatchObject({ active: 1 });
      expect(await namesAt(url, PODS)).toEqual([pod]);
      await advance(url, { seconds: 7200 });
    }
    await post(url, "reset");
    expect(await namesAt(url, JOBS)).toEqual([]);
    await stop();
  });

  test("with a seed UIDs are the same after every reset to one state, and none of them exists already", async () => {
    const { url, ready, stop } = await serve(["--controllers", "", "--kubelet", "none", "--seed", "7"]);
    await ready;
    const uidsAfter = async (names: readonly string[]): Promise<string[]> => {
      for (const name of names) await call("POST", `${url}${JOBS}`, { ...job, metadata: { name } });
      const { body } = await call("GET", `${url}${JOBS}`);
      return (body["items"] as { metadata: { uid: string } }[]).map(({ metadata: { uid } }) => uid);
    };
    // So many objects that UIDs would collide, for any number of UIDs of the server's own objects.
    const before = Array.from({ length: 40 }, (_, index) => `before-${index}`);
    const after = Array.from({ length: 40 }, (_, index) => `x-after-${index}`);
    await uidsAfter(before);
    await post(url, "snapshot", { snapshot: "one" });
    await post(url, "reset", { snapshot: "one" });
    const first = await uidsAfter(after);
    expect(new Set(first).size).toBe(80);
    await post(url, "reset", { snapshot: "one" });
    expect(await uidsAfter(after)).toEqual(first);
    await stop();
  });

  test("restores the restored state", async () => {
    const files = new Map<string, string>();
    const first = await serve(["--controllers", "", "--kubelet", "none", "--snapshot", "store.json"], files);
    await call("POST", `${first.url}${JOBS}`, job);
    await first.stop();
    const { url, ready, stop } = await serve(
      ["--controllers", "", "--kubelet", "none", "--restore", "store.json"],
      files,
    );
    await ready;
    await call("DELETE", `${url}${JOBS}/j?propagationPolicy=Background`);
    expect(await namesAt(url, JOBS)).toEqual([]);
    await post(url, "reset");
    expect(await namesAt(url, JOBS)).toEqual(["j"]);
    await stop();
  });

  test("takes less than 50 ms", async () => {
    const { url, ready, stop } = await serve([]);
    await ready;
    for (let index = 0; index < 20; index++)
      await call("POST", `${url}${JOBS}`, { ...job, metadata: { name: `j${index}` } });
    let quickestMs = Number.POSITIVE_INFINITY;
    // The machine may be busy, but not during all rounds.
    for (let round = 0; round < 9 || (quickestMs >= 50 && round < 500); round++) {
      const startedMs = performance.now();
      await post(url, "reset");
      quickestMs = Math.min(quickestMs, performance.now() - startedMs);
    }
    expect(quickestMs).toBeLessThan(50);
    expect(await stop()).toBe(0);
  });

  test("definitions of custom resources are restored with it", async () => {
    const { url, ready, stop } = await serve([]);
    await ready;
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    };
    const things = `${url}/apis/example.com/v1/namespaces/default/things`;
    await call("POST", `${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, definition);
    await expect.poll(async () => (await fetch(things)).status).toBe(200);
    await call("POST", things, { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "t" } });
    await post(url, "snapshot", { snapshot: "defined" });
    await post(url, "reset");
    expect((await fetch(things)).status).toBe(404);
    await post(url, "reset", { snapshot: "defined" });
    await expect.poll(async () => (await fetch(things)).status).toBe(200);
    expect(await namesAt(things, "")).toEqual(["t"]);
    await stop();
  });

  test.each([
    ["reset", { snapshot: "nothing" }, 404, /^there is no snapshot "nothing"$/],
    ["reset", { snapshot: "../x" }, 400, /^snapshot: "..\/x" is not a name of up to 63 letters/],
    ["reset", [], 400, /^the body is not an object like \{"snapshot": "with-pods"\}$/],
    ["snapshot", { snapshot: 7 }, 400, /^snapshot: 7 is not a name/],
    ["snapshot", "{", 400, /^the body is not JSON/],
  ])("%s of %j is refused with a Status", async (path, body, code, message) => {
    const { url, ready, stop } = await serve(["--controllers", "", "--kubelet", "none"]);
    await ready;
    const refused = await post(url, path, body);
    expect(refused.code).toBe(code);
    expect(refused.body["message"]).toMatch(message);
    expect((await fetch(`${url}/_kubewright/${path}`)).status).toBe(405);
    await stop();
  });

  test("at most a hundred snapshots are stored", async () => {
    const { url, ready, stop } = await serve(["--controllers", "", "--kubelet", "none"]);
    await ready;
    for (let index = 0; index < 100; index++) expect((await post(url, "snapshot")).code).toBe(200);
    expect((await post(url, "snapshot")).code).toBe(403);
    expect((await post(url, "snapshot", { snapshot: "snapshot-7" })).code).toBe(200);
    await stop();
  });

  test("is allowed for clients that may post there, and for no web page", async () => {
    const { url, ready, stop } = await serve(["--token", "s3cret", "--authorization", "RBAC"]);
    await ready;
    for (const path of ["reset", "snapshot"])
      expect((await fetch(`${url}/_kubewright/${path}`, { method: "POST" })).status).toBe(401);
    const allowed = { method: "POST", headers: { authorization: "Bearer s3cret" } };
    expect((await fetch(`${url}/_kubewright/reset`, allowed)).status).toBe(200);
    await stop();
    const open = await serve([]);
    await open.ready;
    const page = { method: "POST", headers: { origin: "https://evil.example" } };
    expect((await fetch(`${open.url}/_kubewright/reset`, page)).status).toBe(403);
    await open.stop();
  });
});

test("a cluster of an earlier release says so, keeps its rules, and runs its controllers", async () => {
  const { url, firstLine, stop } = await serve(["--kubernetes", "v1.31", "--speed", "manual"]);
  expect(firstLine).toContain("(kubelet simulated, Kubernetes 1.31)");
  expect((await call("GET", `${url}/version`)).body).toMatchObject({ minor: "31", gitVersion: "v1.31.14" });
  const managed = { ...job, spec: { ...job.spec, managedBy: "acme.io/queue" } };
  const { code, body } = await call("POST", `${url}${JOBS}`, managed);
  expect([code, (body["spec"] as Record<string, unknown>)["managedBy"]]).toEqual([201, undefined]);
  await advance(url, { seconds: 10 });
  expect(await statusOf(url)).toMatchObject({ active: 1 });
  expect(await stop()).toBe(0);
});

test("the newest release is served when none is chosen", async () => {
  const { url, firstLine, stop } = await serve([]);
  expect(firstLine).toContain("(kubelet simulated)");
  expect((await call("GET", `${url}/version`)).body).toMatchObject({ minor: "36", gitVersion: "v1.36.3" });
  expect(await stop()).toBe(0);
});
