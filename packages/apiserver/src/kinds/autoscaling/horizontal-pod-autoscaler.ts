import {
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerV1,
  defineResource,
  horizontalPodAutoscalers,
} from "@kubewright/api";

import { type BuiltInResource, builtInResource } from "../../built-in-resource.js";
import { restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { separateStatus } from "../spec-and-status.js";
import { fromV1, restoreRoundTripAnnotations, toV1 } from "./conversion.js";
import { applyAutoscalerDefaults } from "./defaults.js";
import { autoscalerPrinter } from "./printer.js";
import { autoscalingTypes } from "./types.js";
import { validateAutoscaler, validateAutoscalerStatus } from "./validation.js";

/** Upstream: `pkg/registry/autoscaling/horizontalpodautoscaler`. Autoscalers have no generation. */
export const horizontalPodAutoscalerStrategy: ResourceStrategy<HorizontalPodAutoscaler> = {
  applyDefaults({ spec }, stored) {
    if (spec !== undefined && spec !== stored?.spec) applyAutoscalerDefaults(spec);
  },
  ...separateStatus<HorizontalPodAutoscaler>(
    // The status before the first controller sync.
    () => ({ currentMetrics: null, desiredReplicas: 0 }),
    (autoscaler, _stored, errors) => validateAutoscalerStatus(autoscaler, errors),
  ),
  validate: validateAutoscaler,
  printer: autoscalerPrinter,
};

/** The strategy for v1. Annotations store the fields that v1 does not have. */
export const horizontalPodAutoscalerV1Strategy: ResourceStrategy<HorizontalPodAutoscalerV1> = {
  applyDefaults({ spec }, stored) {
    if (spec !== undefined && spec !== stored?.spec) spec.minReplicas ??= 1;
  },
  prepareForCreate(autoscaler) {
    autoscaler.status = { currentReplicas: 0, desiredReplicas: 0 };
    restoreRoundTripAnnotations(autoscaler, undefined, "status");
  },
  prepareForUpdate(autoscaler, stored) {
    restoreMember(autoscaler, stored, "status");
    restoreRoundTripAnnotations(autoscaler, stored, "status");
  },
  validate: (autoscaler, errors) => validateAutoscaler(fromV1(autoscaler), errors),
  status: {
    prepareForUpdate(autoscaler, stored) {
      restoreMember(autoscaler, stored, "spec");
      restoreRoundTripAnnotations(autoscaler, stored, "spec");
    },
    validateUpdate: (autoscaler, _stored, errors) => validateAutoscalerStatus(fromV1(autoscaler), errors),
  },
  printer: {
    columns: autoscalerPrinter.columns,
    cells: (autoscaler, nowMs) => autoscalerPrinter.cells(fromV1(autoscaler), nowMs),
  },
};

const common = {
  shortNames: ["hpa"],
  categories: ["all"],
  types: autoscalingTypes,
} satisfies Partial<BuiltInResource>;

export const horizontalPodAutoscalerResource = builtInResource<HorizontalPodAutoscaler>({
  ...common,
  definition: horizontalPodAutoscalers,
  strategy: horizontalPodAutoscalerStrategy,
});

export const horizontalPodAutoscalerV1Resource = builtInResource<HorizontalPodAutoscalerV1>({
  ...common,
  definition: defineResource<HorizontalPodAutoscalerV1>({ ...horizontalPodAutoscalers, version: "v1" }),
  strategy: horizontalPodAutoscalerV1Strategy,
  view: {
    storedAs: horizontalPodAutoscalers,
    fromStored: (stored) => toV1(stored as HorizontalPodAutoscaler),
    toStored: fromV1,
  },
});
