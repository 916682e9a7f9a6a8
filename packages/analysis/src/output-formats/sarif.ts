import type { Rule } from "../fail-on/rule.js";
import { violationText } from "../fail-on/rule-counts.js";
import { type CheckReport, type Place, placeOf } from "./check-report.js";

/** The repository, which also has the documentation. */
export const REPOSITORY_URL = "https://github.com/kubewright/kubewright";

/** One result of a SARIF file. */
export interface SarifResult {
  readonly ruleId: string;
  readonly level: "error" | "warning" | "note";
  readonly text: string;
  /** `default/report`; absent for a result about several objects. */
  readonly object?: string;
  readonly place?: Place;
}

export interface SarifRule {
  readonly id: string;
  readonly text: string;
  /** URL of its documentation. */
  readonly help?: string;
}

/**
 * Returns the results of a check as SARIF: violations as errors and highlights as notes, at the positions of their
 * CronJobs or Jobs.
 */
export function checkSarif({ rules, violations, highlights, manifests }: CheckReport): string {
  const results: SarifResult[] = [
    ...violations.map((violation) => ({
      ruleId: ruleId(violation.rule),
      level: "error" as const,
      text: violationText(violation),
      ...locate(violation.object, manifests),
    })),
    ...highlights.map(({ object, text }) => ({
      ruleId: "highlights",
      level: "note" as const,
      text: `${object}: ${text}`,
      ...locate(object, manifests),
    })),
  ];
  const known = new Map(
    rules.map((rule) => [ruleId(rule), { id: ruleId(rule), text: `${ruleId(rule)} must not occur` }]),
  );
  const highlightRule = { id: "highlights", text: "A result that deserves attention, although no rule forbids it" };
  return sarif([...known.values(), ...(highlights.length === 0 ? [] : [highlightRule])], results);
}

function ruleId({ condition }: Rule): string {
  return condition.type === "run" ? condition.incident.kind : condition.type === "pods" ? "peak-pods" : "changed";
}

function locate(
  object: string | undefined,
  manifests: CheckReport["manifests"],
): Pick<SarifResult, "object" | "place"> {
  if (object === undefined) return {};
  const place = placeOf(object, manifests);
  return { object, ...(place === undefined ? {} : { place }) };
}

/** @see https://docs.oasis-open.org/sarif/sarif/v2.1.0 */
export function sarif(rules: readonly SarifRule[], results: readonly SarifResult[]): string {
  const document = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "kubewright",
            informationUri: REPOSITORY_URL,
            rules: rules.map(({ id, text, help }) => ({
              id,
              shortDescription: { text },
              helpUri: help,
            })),
          },
        },
        results: results.map(({ ruleId: id, level, text, object, place }) => ({
          ruleId: id,
          level,
          message: { text },
          locations: place === undefined && object === undefined ? undefined : [locationOf(place, object)],
        })),
      },
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function locationOf(place: Place | undefined, object: string | undefined): object {
  return {
    physicalLocation: place && {
      artifactLocation: { uri: uriOf(place.file) },
      region: { startLine: place.line, startColumn: place.column },
    },
    logicalLocations: object === undefined ? undefined : [{ fullyQualifiedName: object, kind: "resource" }],
  };
}

/** Converts a path into a relative URI reference. */
function uriOf(file: string): string {
  return file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
}
