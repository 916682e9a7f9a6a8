import type { Event } from "@kubewright/api";
import { dnsSubdomainErrors, qualifiedNameErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { addInvalid } from "../../validation/rules.js";

const MAX_NAME_LENGTH = 128;
const MAX_MESSAGE_LENGTH = 1024;
const IMMUTABLE_IN_EVENTS_V1 = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "reportingComponent",
  "reportingInstance",
  "action",
  "related",
  "type",
  "eventTime",
] as const;

/** The API version of the request. */
export type EventApi = "v1" | "events.k8s.io/v1";

/**
 * Validates an Event in its stored form, as upstream validates both versions in its internal form. The field names are
 * those of v1, with one exception.
 *
 * Upstream: `ValidateEventCreate`.
 */
export function validateEvent(event: Event, api: EventApi, errors: FieldErrors): void {
  validateAnyEvent(event, api, errors);
  if (api === "v1") return;
  validateSeries(event, errors);
  if (!event.eventTime) errors.required("eventTime");
  if (event.type !== "Normal" && event.type !== "Warning")
    errors.invalid("type", "", `has invalid value: ${event.type ?? ""}`);
  const unset = "needs to be unset";
  if (event.firstTimestamp) errors.invalid("firstTimestamp", "", unset);
  if (event.lastTimestamp) errors.invalid("lastTimestamp", "", unset);
  if (event.count) errors.invalid("count", "", unset);
  if (event.source?.component || event.source?.host) errors.invalid("source", "", unset);
}

/** Upstream: `ValidateEventUpdate`. */
export function validateEventUpdate(event: Event, stored: Event, api: EventApi, errors: FieldErrors): void {
  validateAnyEvent(event, api, errors);
  if (api === "v1") return;
  if (!jsonEqual(event.series, stored.series)) validateSeries(event, errors);
  for (const field of IMMUTABLE_IN_EVENTS_V1) {
    if (jsonEqual(event[field], stored[field])) continue;
    const name = field === "reportingComponent" ? "reportingController" : field;
    errors.invalid(name, event[field], "field is immutable");
  }
}

/** Upstream: `legacyValidateEvent`. */
function validateAnyEvent(event: Event, api: EventApi, errors: FieldErrors): void {
  const namespace = event.metadata.namespace ?? "";
  const involved = event.involvedObject?.namespace ?? "";
  const mismatch = "does not match event.namespace";
  if (!event.eventTime) {
    const matches = involved === "" ? namespace === "" || namespace === "default" : namespace === involved;
    if (!matches) errors.invalid("involvedObject.namespace", involved, mismatch);
  } else {
    if (involved === "" && namespace !== "default" && namespace !== "kube-system") {
      errors.invalid("involvedObject.namespace", involved, mismatch);
    }
    const reporter = event.reportingComponent ?? "";
    const reporterField = api === "v1" ? "reportingComponent" : "reportingController";
    if (reporter === "") errors.required(reporterField);
    addInvalid(errors, reporterField, reporter, qualifiedNameErrors(reporter));
    for (const field of ["reportingInstance", "action", "reason"] as const) {
      const value = event[field] ?? "";
      if (value === "") errors.required(field);
      if (value.length > MAX_NAME_LENGTH) errors.invalid(field, "", `can have at most ${MAX_NAME_LENGTH} characters`);
    }
    if ((event.message ?? "").length > MAX_MESSAGE_LENGTH) {
      errors.invalid("message", "", `can have at most ${MAX_MESSAGE_LENGTH} characters`);
    }
  }
  addInvalid(errors, "namespace", namespace, dnsSubdomainErrors(namespace));
}

function validateSeries({ series }: Event, errors: FieldErrors): void {
  if (!series) return;
  if ((series.count ?? 0) <= 1) errors.invalid("series.count", "", "should be at least 2");
  if (!series.lastObservedTime) errors.required("series.lastObservedTime");
}
