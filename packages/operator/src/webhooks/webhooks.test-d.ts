import { type ConfigMap, type DeepReadonly, configMaps } from "@kubewright/api";
import { expectTypeOf, test } from "vitest";

import { mutatingWebhook, validatingWebhook } from "./admission-webhook.js";
import { deny } from "./verdict.js";

test("what a validating webhook is handed follows from its operations", () => {
  validatingWebhook(configMaps, (request) => {
    expectTypeOf(request.object).toEqualTypeOf<DeepReadonly<ConfigMap>>();
    expectTypeOf(request.oldObject).toEqualTypeOf<DeepReadonly<ConfigMap> | undefined>();
    if (request.operation === "UPDATE") expectTypeOf(request.oldObject).toEqualTypeOf<DeepReadonly<ConfigMap>>();
    // @ts-expect-error: it is shared, and a validating webhook changes nothing.
    request.object.data = {};
  });
  validatingWebhook(
    configMaps,
    ({ object, oldObject }) => {
      expectTypeOf(object).toEqualTypeOf<undefined>();
      expectTypeOf(oldObject).toEqualTypeOf<DeepReadonly<ConfigMap>>();
      return deny("no");
    },
    { operations: ["DELETE"] },
  );
});

test("a mutating webhook may change its draft, and answer with nothing else than an object or a verdict", () => {
  mutatingWebhook(configMaps, ({ object }) => {
    expectTypeOf(object).toEqualTypeOf<ConfigMap>();
    object.data = { a: "1" };
  });
  // @ts-expect-error: a ConfigMap's data are texts.
  mutatingWebhook(configMaps, ({ object }) => ({ ...object, data: { a: 1 } }));
  // @ts-expect-error: there is no such operation.
  mutatingWebhook(configMaps, () => undefined, { operations: ["READ"] });
});
