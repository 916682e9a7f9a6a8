import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { createApiServer } from "../api-server.js";
import { BuiltInSchemas } from "../schema/built-in-schemas.js";
import { decodeProtobuf } from "./decode-protobuf.js";
import { ProtobufError } from "./wire-reader.js";

const utf8 = new TextEncoder();

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}
const int = (field: number, value: number): number[] =>
  [field << 3, ...varint(BigInt(value))].flatMap((byte, index) => (index === 0 ? varint(BigInt(byte)) : [byte]));
const message = (field: number, content: readonly number[]): number[] => [
  ...varint(BigInt(field * 8 + 2)),
  ...varint(BigInt(content.length)),
  ...content,
];
const text = (field: number, value: string): number[] => message(field, [...utf8.encode(value)]);
const body = (apiVersion: string, kind: string, raw: number[]): Uint8Array =>
  new Uint8Array([
    0x6b,
    0x38,
    0x73,
    0,
    ...message(1, [...text(1, apiVersion), ...text(2, kind)]),
    ...message(2, raw),
    ...text(4, ""),
  ]);
const decoded = (bytes: Uint8Array): Record<string, unknown> => decodeProtobuf(bytes, new BuiltInSchemas());

test("metadata with maps, times, owner references and raw JSON", () => {
  const metadata = [
    ...text(1, "a"),
    ...message(8, int(1, 1_767_225_600)),
    ...message(9, []),
    ...message(11, [...text(1, "k"), ...text(2, "v")]),
    ...message(11, text(1, "empty")),
    ...message(13, [...text(1, "Job"), ...text(3, "j"), ...text(4, "u"), ...text(5, "batch/v1"), ...int(6, 1)]),
    ...message(17, message(7, text(1, '{"f:data":{}}'))),
  ];
  expect(
    decoded(
      body("v1", "ConfigMap", [...message(1, metadata), ...message(3, [...text(1, "b"), ...message(2, [0, 255])])]),
    ),
  ).toEqual({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "a",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { k: "v", empty: "" },
      ownerReferences: [{ kind: "Job", name: "j", uid: "u", apiVersion: "batch/v1", controller: true }],
      managedFields: [{ fieldsV1: { "f:data": {} } }],
    },
    binaryData: { b: "AP8=" },
  });
});

test("negative numbers, quantities, int-or-strings and inlined sources", () => {
  const container = [
    ...text(1, "c"),
    ...message(8, message(1, [...text(1, "cpu"), ...message(2, text(1, "100m"))])),
    ...message(10, [...message(1, message(2, message(2, [...int(1, 1), ...text(3, "web")]))), ...int(2, 5)]),
  ];
  const spec = [
    ...message(1, [...text(1, "v"), ...message(2, message(19, [...message(1, text(1, "cm")), ...int(3, 420)]))]),
    ...message(2, container),
    ...int(25, -5),
  ];
  expect(decoded(body("v1", "Pod", message(2, spec)))).toMatchObject({
    spec: {
      volumes: [{ name: "v", configMap: { name: "cm", defaultMode: 420 } }],
      containers: [
        {
          resources: { limits: { cpu: "100m" } },
          livenessProbe: { httpGet: { port: "web" }, initialDelaySeconds: 5 },
        },
      ],
      priority: -5,
    },
  });
});

test("microseconds of a Lease", () => {
  const spec = [...text(1, "me"), ...message(4, [...int(1, 1_767_225_600), ...int(2, 1_500)])];
  expect(decoded(body("coordination.k8s.io/v1", "Lease", message(2, spec)))).toMatchObject({
    spec: { holderIdentity: "me", renewTime: "2026-01-01T00:00:00.000001Z" },
  });
});

test("fields without a number here are passed over, and an unknown kind keeps nothing but its name", () => {
  expect(decoded(body("v1", "ConfigMap", [...text(99, "x"), ...int(98, 7), ...message(1, text(1, "a"))]))).toEqual({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
  });
  expect(decoded(body("v1", "Nope", text(1, "x")))).toEqual({ apiVersion: "v1", kind: "Nope" });
});

test("every endpoint of built-in kinds accepts client-go's protobuf; other endpoints list the accepted media types", async () => {
  const { transport } = createApiServer({
    clock: new SimulatedClock("2026-01-01T00:00:00Z"),
    random: seededRandom(7),
    freeze: true,
  });
  const protobuf = "application/vnd.kubernetes.protobuf";
  const send = async (
    method: "POST" | "PUT" | "DELETE",
    path: string,
    bytes: Uint8Array,
    type = protobuf,
  ): Promise<[number, unknown]> => {
    const headers = { "content-type": type, accept: `${protobuf},application/json` };
    const answer = await transport({ method, path, headers, body: { type: "bytes", bytes } });
    return [answer.status, answer.body?.type === "decoded" ? answer.body.value : undefined];
  };
  const controllers = "/api/v1/namespaces/default/replicationcontrollers";
  const labels = message(11, [...text(1, "a"), ...text(2, "b")]);
  const template = [...message(1, labels), ...message(2, message(2, [...text(1, "c"), ...text(2, "i")]))];
  const spec = [...int(1, 1), ...message(2, [...text(1, "a"), ...text(2, "b")]), ...message(3, template)];
  const controller = body("v1", "ReplicationController", [...message(1, text(1, "r")), ...message(2, spec)]);
  expect((await send("POST", controllers, controller))[0]).toBe(201);
  const scale = body("autoscaling/v1", "Scale", [...message(1, text(1, "r")), ...message(2, int(1, 5))]);
  expect(await send("PUT", `${controllers}/r/scale`, scale)).toMatchObject([200, { spec: { replicas: 5 } }]);
  const options = body("v1", "DeleteOptions", text(4, "Background"));
  expect(await send("DELETE", `${controllers}/r`, options)).toMatchObject([200, { status: "Success" }]);
  const accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  expect(await send("POST", controllers, controller, "text/plain")).toMatchObject([
    415,
    { message: `the body of the request was in an unknown format - accepted media types include: ${accepted}` },
  ]);
});

test("damaged bytes are refused, or read as something else: the server never fails on them", async () => {
  const random = seededRandom(7);
  const failures: unknown[] = [];
  const { transport } = createApiServer({
    clock: new SimulatedClock("2026-01-01T00:00:00Z"),
    random,
    freeze: true,
    onError: (error) => failures.push(error),
  });
  const container = [...text(1, "c"), ...text(2, "i"), ...message(6, [...int(3, 80), ...text(4, "TCP")])];
  const metadata = [...text(2, "p-"), ...message(8, int(1, 1)), ...message(11, [...text(1, "k"), ...text(2, "v")])];
  const whole = body("v1", "Pod", [...message(1, metadata), ...message(2, message(2, container))]);
  const statuses = new Map<number, number>();
  for (let round = 0; round < 3000; round++) {
    const bytes = whole.slice();
    for (let change = 0; change <= round % 4; change++)
      bytes[4 + (random.uint32() % (bytes.length - 4))] = random.uint32() % 256;
    const { status } = await transport({
      method: "POST",
      path: "/api/v1/namespaces/default/pods",
      headers: { "content-type": "application/vnd.kubernetes.protobuf" },
      body: { type: "bytes", bytes },
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(failures).toEqual([]);
  expect(statuses.get(201)).toBeGreaterThan(20);
  expect(statuses.get(400)).toBeGreaterThan(100);
});

test("what is no protobuf of Kubernetes is an error, wherever it is cut off", () => {
  expect(() => decoded(utf8.encode('{"kind":"Pod"}'))).toThrow(
    "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
  );
  const whole = body("v1", "ConfigMap", message(1, text(1, "a")));
  const errors: unknown[] = [];
  for (let length = 0; length < whole.length; length++) {
    try {
      decoded(whole.subarray(0, length));
    } catch (error) {
      errors.push(error);
    }
  }
  // A message cut between two fields is valid.
  expect(errors.length).toBeGreaterThan(whole.length - 6);
  expect(errors.filter((error) => !(error instanceof ProtobufError))).toEqual([]);
  expect(() => decoded(whole.subarray(0, whole.length - 4))).toThrow("unexpected EOF");
});
