import { type RuntimeClass, parseQuantity, runtimeClasses } from "@kubewright/api";
import { dnsLabelErrors } from "@kubewright/api/validation";

import { builtInResource } from "../built-in-resource.js";
import type { FieldErrors } from "../field-errors.js";
import { validateLabels } from "../metadata-validation.js";
import type { ResourceStrategy } from "../strategy.js";
import { addInvalid } from "../validation/rules.js";
import { validateTolerations } from "./pod/scheduling-validation.js";
import { runtimeClassAdmission } from "./runtime-class-admission.js";
import { ageCell, table } from "./table-cells.js";

/** Upstream: `pkg/registry/node/runtimeclass`, `pkg/apis/node/validation`. */
export const runtimeClassStrategy: ResourceStrategy<RuntimeClass> = {
  validateCreate: validateRuntimeClass,
  validateUpdate(runtimeClass, stored, errors) {
    if (runtimeClass.handler !== stored.handler) errors.invalid("handler", runtimeClass.handler, "field is immutable");
    validateRuntimeClass(runtimeClass, errors);
  },
  printer: table<RuntimeClass>({ Handler: ({ handler }) => handler, Age: ageCell }),
};

export const runtimeClassResource = builtInResource<RuntimeClass>({
  definition: runtimeClasses,
  types: {
    fields: {
      RuntimeClass: "metadata:ObjectMeta handler!+ overhead:Overhead scheduling:Scheduling | apiVersion kind",
      Overhead: "podFixed:{}quantity",
      Scheduling: "nodeSelector:{atomic}string tolerations:[]Toleration",
    },
  },
  strategy: runtimeClassStrategy,
  admission: runtimeClassAdmission,
});

function validateRuntimeClass({ handler, overhead, scheduling }: RuntimeClass, errors: FieldErrors): void {
  addInvalid(errors, "handler", handler, dnsLabelErrors(handler));
  for (const [name, amount] of Object.entries(overhead?.podFixed ?? {}))
    if ((parseQuantity(amount)?.nanos ?? 0n) < 0n)
      errors.invalid(`overhead.podFixed[${name}]`, amount, "must be greater than or equal to 0");
  validateLabels(scheduling?.nodeSelector ?? {}, "scheduling.nodeSelector", errors);
  validateTolerations(scheduling?.tolerations ?? [], "scheduling.tolerations", errors);
}
