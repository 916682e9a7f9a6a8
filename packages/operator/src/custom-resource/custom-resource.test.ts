import { type CustomResourceDefinition, customResourceDefinitions } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";
import { z } from "zod";

import { defineCustomResource } from "./custom-resource.js";

async function serving(...definitions: CustomResourceDefinition[]) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1) });
  const client = new Client({ transport: server.transport, clock });
  for (const definition of definitions) await client.resource(customResourceDefinitions).create(definition);
  await clock.advance(5_000);
  return { client, end: () => server.close() };
}

const place = { namespace: "default" };

const backups = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Backup",
  scope: "Namespaced",
  shortNames: ["bk"],
  categories: ["all"],
  description: "Asks for a volume to be copied.",
  spec: z.object({
    volume: z.string().min(1).describe("Name of the claim to be copied."),
    image: z.string().default("copy:1"),
    keep: z.int().min(1).max(100).default(3),
    window: z.object({ from: z.iso.datetime(), hours: z.number().gt(0) }).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    target: z.discriminatedUnion("type", [
      z.object({ type: z.literal("s3"), bucket: z.string() }),
      z.object({ type: z.literal("disk"), size: z.union([z.int(), z.string().regex(/^\d+Gi$/)]) }),
    ]),
    note: z.string().nullable(),
  }),
  status: z.object({ phase: z.enum(["Running", "Complete", "Failed"]), since: z.iso.datetime().optional() }),
  printerColumns: [
    { name: "Phase", jsonPath: ".status.phase" },
    { name: "Since", jsonPath: ".status.since" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
  ],
  validations: [{ rule: "self.metadata.name.size() < 20", message: "the name is too long" }],
  selectableFields: [".spec.volume"],
});

test("a custom resource's definition says what its schema does", () => {
  expect(backups.crd).toMatchInlineSnapshot(`
    {
      "apiVersion": "apiextensions.k8s.io/v1",
      "kind": "CustomResourceDefinition",
      "metadata": {
        "name": "backups.example.com",
      },
      "spec": {
        "group": "example.com",
        "names": {
          "categories": [
            "all",
          ],
          "kind": "Backup",
          "listKind": "BackupList",
          "plural": "backups",
          "shortNames": [
            "bk",
          ],
          "singular": "backup",
        },
        "scope": "Namespaced",
        "versions": [
          {
            "additionalPrinterColumns": [
              {
                "jsonPath": ".status.phase",
                "name": "Phase",
                "type": "string",
              },
              {
                "jsonPath": ".status.since",
                "name": "Since",
                "type": "date",
              },
              {
                "jsonPath": ".metadata.creationTimestamp",
                "name": "Age",
                "type": "date",
              },
            ],
            "name": "v1",
            "schema": {
              "openAPIV3Schema": {
                "description": "Asks for a volume to be copied.",
                "properties": {
                  "apiVersion": {
                    "type": "string",
                  },
                  "kind": {
                    "type": "string",
                  },
                  "metadata": {
                    "type": "object",
                  },
                  "spec": {
                    "properties": {
                      "image": {
                        "default": "copy:1",
                        "type": "string",
                      },
                      "keep": {
                        "default": 3,
                        "maximum": 100,
                        "minimum": 1,
                        "type": "integer",
                      },
                      "labels": {
                        "additionalProperties": {
                          "type": "string",
                        },
                        "type": "object",
                      },
                      "note": {
                        "nullable": true,
                        "type": "string",
                      },
                      "target": {
                        "oneOf": [
                          {
                            "properties": {
                              "type": {
                                "enum": [
                                  "s3",
                                ],
                              },
                            },
                            "required": [
                              "type",
                              "bucket",
                            ],
                          },
                          {
                            "properties": {
                              "size": {
                                "pattern": "^\\d+Gi$",
                              },
                              "type": {
                                "enum": [
                                  "disk",
                                ],
                              },
                            },
                            "required": [
                              "type",
                              "size",
                            ],
                          },
                        ],
                        "properties": {
                          "bucket": {
                            "type": "string",
                          },
                          "size": {
                            "x-kubernetes-int-or-string": true,
                          },
                          "type": {
                            "enum": [
                              "s3",
                              "disk",
                            ],
                            "type": "string",
                          },
                        },
                        "type": "object",
                      },
                      "volume": {
                        "description": "Name of the claim to be copied.",
                        "minLength": 1,
                        "type": "string",
                      },
                      "window": {
                        "properties": {
                          "from": {
                            "format": "date-time",
                            "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z))$",
                            "type": "string",
                          },
                          "hours": {
                            "exclusiveMinimum": true,
                            "minimum": 0,
                            "type": "number",
                          },
                        },
                        "required": [
                          "from",
                          "hours",
                        ],
                        "type": "object",
                      },
                    },
                    "required": [
                      "volume",
                      "target",
                      "note",
                    ],
                    "type": "object",
                  },
                  "status": {
                    "properties": {
                      "phase": {
                        "enum": [
                          "Running",
                          "Complete",
                          "Failed",
                        ],
                        "type": "string",
                      },
                      "since": {
                        "format": "date-time",
                        "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z))$",
                        "type": "string",
                      },
                    },
                    "required": [
                      "phase",
                    ],
                    "type": "object",
                  },
                },
                "required": [
                  "spec",
                ],
                "type": "object",
                "x-kubernetes-validations": [
                  {
                    "message": "the name is too long",
                    "rule": "self.metadata.name.size() < 20",
                  },
                ],
              },
            },
            "selectableFields": [
              {
                "jsonPath": ".spec.volume",
              },
            ],
            "served": true,
            "storage": true,
            "subresources": {
              "status": {},
            },
          },
        ],
      },
    }
  `);
});

test("the API server takes it, fills in defaults, and refuses what the schema refuses", async () => {
  const { client, end } = await serving(backups.crd);
  const spec = { volume: "data", target: { type: "disk", size: 3 }, note: null } as const;
  const made = backups.make({ metadata: { name: "nightly", ...place }, spec });
  const created = await client.resource(backups).create(made);
  expect(created.spec).toEqual({ ...spec, image: "copy:1", keep: 3 });
  const problemWith = (changed: object): Promise<unknown> =>
    client
      .resource(backups)
      .create({ ...made, spec: { ...made.spec, ...changed } })
      .then(String, String);
  expect(await problemWith({ target: { type: "tape" } })).toContain('spec.target.type: Unsupported value: "tape"');
  expect(await problemWith({ target: { type: "disk" } })).toContain("must validate one and only one schema");
  expect(await problemWith({ target: { type: "disk", size: "3" } })).toContain("must validate one and only one schema");
  expect(await problemWith({ keep: 0 })).toContain("spec.keep in body should be greater than or equal to 1");
  await end();
});
