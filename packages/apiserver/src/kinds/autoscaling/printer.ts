import type { HorizontalPodAutoscaler, KubernetesObject } from "@kubewright/api";

import { ageCell, table } from "../table-cells.js";
import type { Metric } from "./defaults.js";

type MetricStatus = NonNullable<NonNullable<HorizontalPodAutoscaler["status"]>["currentMetrics"]>[number];
type Values = NonNullable<MetricStatus["resource"]>["current"];
type Target = NonNullable<Metric["resource"]>["target"];

const MAX_SHOWN_METRICS = 2;

/** An object that was decoded from empty data has no spec. */
type PrintedAutoscaler = KubernetesObject & Partial<Pick<HorizontalPodAutoscaler, "spec" | "status">>;

/** Upstream: `printHorizontalPodAutoscaler`. */
export const autoscalerPrinter = table<PrintedAutoscaler>({
  Reference: ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ""}/${spec?.scaleTargetRef?.name ?? ""}`,
  Targets: ({ spec, status }) => targetsCell(spec?.metrics ?? [], status?.currentMetrics ?? []),
  MinPods: ({ spec }) => String(spec?.minReplicas ?? "<unset>"),
  MaxPods: ({ spec }) => spec?.maxReplicas ?? 0,
  Replicas: ({ status }) => status?.currentReplicas ?? 0,
  Age: ageCell,
});

function targetsCell(metrics: readonly Metric[], current: readonly MetricStatus[]): string {
  if (metrics.length === 0) return "<none>";
  const shown = metrics.slice(0, MAX_SHOWN_METRICS).map((metric, index) => targetText(metric, current[index]));
  const more = metrics.length - shown.length;
  return more > 0 ? `${shown.join(", ")} + ${more} more...` : shown.join(", ");
}

function targetText(metric: Metric, status: MetricStatus | undefined): string {
  const { type, object, external, pods, resource, containerResource } = metric;
  if (type === "Object" && object !== undefined) return valueText(object.target, status?.object?.current);
  if (type === "External" && external !== undefined) return valueText(external.target, status?.external?.current);
  if (type === "Pods" && pods !== undefined)
    return `${status?.pods?.current.averageValue ?? "<unknown>"}/${pods.target.averageValue}`;
  if (type === "Resource" && resource !== undefined)
    return `${resource.name}: ${utilizationText(resource.target, status?.resource?.current)}`;
  if (type === "ContainerResource" && containerResource !== undefined)
    return `${containerResource.name}: ${utilizationText(containerResource.target, status?.containerResource?.current)}`;
  return "<unknown type>";
}

function valueText({ value, averageValue }: Target, current: Values | undefined): string {
  return averageValue === undefined
    ? `${current?.value ?? "<unknown>"}/${value}`
    : `${current?.averageValue ?? "<unknown>"}/${averageValue} (avg)`;
}

function utilizationText({ averageValue, averageUtilization }: Target, current: Values | undefined): string {
  if (averageValue !== undefined) return `${current?.averageValue ?? "<unknown>"}/${averageValue}`;
  const now = current?.averageUtilization === undefined ? "<unknown>" : `${current.averageUtilization}%`;
  return `${now}/${averageUtilization === undefined ? "<auto>" : `${averageUtilization}%`}`;
}
