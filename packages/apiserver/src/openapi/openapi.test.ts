import { afterEach, describe, expect, test } from "vitest";
import { realClock, seededRandom } from "@kubewright/clock";

import { type ApiServer, createApiServer } from "../api-server.js";
import { listen } from "../http/listen.js";
import { descriptions } from "./descriptions.js";

const PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

interface Document {
  swagger: string;
  paths: Record<string, Record<string, { consumes?: string[]; parameters: { name: string; in: string }[] }>>;
  definitions: Record<string, { description?: string; properties?: Record<string, Record<string, unknown>> }>;
}

describe("OpenAPI v2", () => {
  let server: ApiServer;
  const serve = async (headers: Record<string, string>): Promise<Response> => {
    server = createApiServer({ clock: realClock, random: seededRandom(1) });
    const { url } = await listen(server);
    return fetch(`${url}/openapi/v2`, { headers });
  };
  afterEach(() => server.close());

  test("is JSON for people, with the paths and types of all groups in one document", async () => {
    const response = await serve({ accept: "application/json" });
    expect(response.headers.get("content-type")).toBe("application/json");
    const { swagger, paths, definitions } = (await response.json()) as Document;
    expect(swagger).toBe("2.0");
    const patch = paths["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"]!["patch"]!;
    expect(patch.consumes).toContain("application/strategic-merge-patch+json");
    expect(patch.parameters).toContainEqual({
      name: "fieldValidation",
      in: "query",
      type: "string",
      uniqueItems: true,
    });
    expect(definitions["io.k8s.api.batch.v1.Job"]).toMatchObject({
      "x-kubernetes-group-version-kind": [{ group: "batch", version: "v1", kind: "Job" }],
      properties: { spec: { $ref: "#/definitions/io.k8s.JobSpec" } },
    });
    expect(JSON.stringify(definitions)).not.toMatch(/#\/components|"(oneOf|allOf)":\[/);
    const referred = [...JSON.stringify({ paths, definitions }).matchAll(/"#\/definitions\/([^"]+)"/g)];
    for (const [, name] of referred) expect(Object.keys(definitions)).toContain(name);
  });

  test.each([PROTOBUF, PROTOBUF.replace(".v2.v1.0", ".v2@v1.0")])("is protobuf for who asks for %s", async (accept) => {
    const response = await serve({ accept });
    expect(response.headers.get("content-type")).toBe(PROTOBUF);
    expect(response.headers.get("etag")).toMatch(/^"[0-9A-F]+"$/);
    const bytes = new Uint8Array(await response.arrayBuffer());
    // Field 1, `swagger`.
    expect([...bytes.subarray(0, 5)]).toEqual([0x0a, 3, ...Buffer.from("2.0")]);
  });

  test("is not to be had as anything else", async () => {
    const response = await serve({ accept: "application/yaml" });
    expect(response.status).toBe(406);
    expect(await response.text()).toContain(PROTOBUF);
  });

  test("is not sent again to a client that has it", async () => {
    const first = await serve({ accept: PROTOBUF });
    await first.arrayBuffer();
    const again = await fetch(first.url, {
      headers: { accept: PROTOBUF, "if-none-match": first.headers.get("etag")! },
    });
    expect(again.status).toBe(304);
  });
});

describe("descriptions", () => {
  let server: ApiServer;
  afterEach(() => server.close());

  test("are given of every kind, type and field; when this fails, run scripts/generate-descriptions.mjs", async () => {
    server = createApiServer({ clock: realClock, random: seededRandom(1) });
    const { url } = await listen(server);
    const { definitions } = (await (await fetch(`${url}/openapi/v2`)).json()) as Document;
    const isDescribed = ({ description = "" }): boolean => description !== "";
    // Kubernetes does not describe JSON Schema either.
    const undescribed = /\.(JSONSchemaProps|ExternalDocumentation)$/;
    const bare = Object.entries(definitions)
      .filter(([name]) => !name.endsWith("List") && !undescribed.test(name))
      .flatMap(([name, type]) => [
        ...(isDescribed(type) ? [] : [name]),
        ...Object.entries(type.properties ?? {}).flatMap(([field, value]) =>
          isDescribed(value) ? [] : `${name}.${field}`,
        ),
      ]);
    expect(bare).toEqual([]);
  });

  test("describe the purpose of a field that has a type of its own", () => {
    expect(descriptions["RollingUpdateDeployment"]!["maxSurge"]).toMatch(/^The maximum number of pods that can be/);
    expect(descriptions["DeploymentSpec"]).toMatchObject({
      strategy: "The deployment strategy to use to replace existing pods with new ones.",
    });
  });

  test("are those of the version that is asked for", () => {
    expect(descriptions["V1HorizontalPodAutoscalerSpec"]).toHaveProperty("targetCPUUtilizationPercentage");
    expect(descriptions["HorizontalPodAutoscalerSpec"]).toHaveProperty("metrics");
  });
});
