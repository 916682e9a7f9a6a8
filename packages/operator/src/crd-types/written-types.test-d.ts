import type { DeepReadonly, KubernetesObject, ResourceDefinition, UnstructuredObject } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import { expectTypeOf, test } from "vitest";

import {
  type TLSCertificate,
  type TLSCertificateSpec,
  type TLSCertificateV1alpha1,
  tlsCertificates,
  tlsCertificatesV1alpha1,
} from "../../test/fixtures/certificate-types.js";

declare const client: Client;

test("the definition carries the type to clients", async () => {
  expectTypeOf(tlsCertificates).toEqualTypeOf<ResourceDefinition<TLSCertificate>>();
  expectTypeOf(tlsCertificatesV1alpha1).toEqualTypeOf<ResourceDefinition<TLSCertificateV1alpha1>>();
  const found = await client.resource(tlsCertificates).get("a", { namespace: "default" });
  expectTypeOf(found).toEqualTypeOf<DeepReadonly<TLSCertificate>>();
});

test("required fields, defaults, null, enums, lists, maps and open fields have their types", () => {
  expectTypeOf<TLSCertificate>().toExtend<KubernetesObject>();
  const spec: TLSCertificateSpec = { dnsNames: ["a.example"], issuerRef: { name: "ca" } };
  // @ts-expect-error: the issuer is required
  const incomplete: TLSCertificateSpec = { dnsNames: [] };
  void incomplete;
  // @ts-expect-error: exactOptionalPropertyTypes
  spec.secretName = undefined;
  expectTypeOf(spec.rotation).toEqualTypeOf<"Always" | "Never" | undefined>();
  expectTypeOf(spec.configMapName).toEqualTypeOf<string | null | undefined>();
  expectTypeOf(spec.algorithm).toEqualTypeOf<"RSA" | "ECDSA" | null | undefined>();
  expectTypeOf(spec.usages).toEqualTypeOf<("signing" | "client auth")[] | null | undefined>();
  expectTypeOf(spec.port).toEqualTypeOf<number | string | undefined>();
  expectTypeOf(spec.ports).toEqualTypeOf<(number | string)[] | undefined>();
  expectTypeOf(spec.limits).toEqualTypeOf<Record<string, number | string> | undefined>();
  expectTypeOf(spec.settings).toEqualTypeOf<Record<string, unknown> | undefined>();
  expectTypeOf(spec.selfSigned).toEqualTypeOf<Record<string, never> | undefined>();
  expectTypeOf(spec.template).toEqualTypeOf<UnstructuredObject | undefined>();
  expectTypeOf(spec.checks?.[0]?.steps).toEqualTypeOf<number[][] | undefined>();
  expectTypeOf(spec.keystores?.["jks"]?.["password-ref"]).toEqualTypeOf<string | undefined>();
  expectTypeOf(spec.options?.mode).toEqualTypeOf<string | undefined>();
  expectTypeOf(spec.options?.["other"]).toEqualTypeOf<unknown>();
});
