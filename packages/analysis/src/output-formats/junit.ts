import XMLBuilder from "fast-xml-builder";

import type { Rule } from "../fail-on/rule.js";
import { type Violation, violationText } from "../fail-on/rule-counts.js";
import { isSelectedBy } from "../input/selection.js";
import { printable } from "../text/style.js";
import type { CheckReport, Subject } from "./check-report.js";

/**
 * Returns a JUnit file. Each CronJob and Job has a test suite, with one test for each rule that selects it. A further
 * suite has the rules about all pods. Without rules each suite has one passing test.
 *
 * @see https://github.com/windyroad/JUnit-Schema
 */
export function junitXml({ title, subjects, rules, violations }: CheckReport): string {
  const own = rules.filter(({ condition }) => condition.type !== "pods");
  const common = rules.filter(({ condition }) => condition.type === "pods");
  const suites = [
    ...subjects.map((subject) => {
      const applicable = own.filter(({ selection }) => isSelectedBy(selection, subject));
      const name = `${subject.namespace}/${subject.name}`;
      const cases = applicable.map((rule) => testCase(name, rule, violations.filter(isViolationOf(rule, subject))));
      return suite(name, cases.length > 0 ? cases : [{ "@name": "played", "@classname": printable(name), "@time": 0 }]);
    }),
    ...(common.length === 0
      ? []
      : [
          suite(
            "all",
            common.map((rule) =>
              testCase(
                "all",
                rule,
                violations.filter((each) => each.rule === rule),
              ),
            ),
          ),
        ]),
  ];
  const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: "@", format: true });
  const total = { "@tests": sum(suites, "@tests"), "@failures": sum(suites, "@failures"), "@errors": 0, "@time": 0 };
  return builder.build({
    "?xml": { "@version": "1.0", "@encoding": "UTF-8" },
    testsuites: { "@name": `kubewright: ${title}`, ...total, testsuite: suites },
  });
}

interface Suite {
  readonly "@name": string;
  readonly "@tests": number;
  readonly "@failures": number;
  readonly "@errors": number;
  readonly "@skipped": number;
  readonly "@time": number;
  readonly testcase: readonly TestCase[];
}

interface TestCase {
  readonly "@name": string;
  readonly "@classname": string;
  readonly "@time": number;
  readonly failure?: { readonly "@message": string; readonly "@type": string; readonly "#text": string };
}

function suite(name: string, cases: readonly TestCase[]): Suite {
  return {
    "@name": printable(name),
    "@tests": cases.length,
    "@failures": cases.filter(({ failure }) => failure !== undefined).length,
    "@errors": 0,
    "@skipped": 0,
    "@time": 0,
    testcase: cases,
  };
}

function testCase(name: string, { text }: Rule, violations: readonly Violation[]): TestCase {
  const lines = violations.map((violation) => printable(violationText(violation)));
  const plain = { "@name": printable(text), "@classname": printable(name), "@time": 0 };
  if (lines.length === 0) return plain;
  return { ...plain, failure: { "@message": lines[0]!, "@type": "violation", "#text": lines.join("\n") } };
}

function isViolationOf(rule: Rule, { namespace, name }: Subject): (violation: Violation) => boolean {
  return (violation) => violation.rule === rule && violation.object === `${namespace}/${name}`;
}

function sum(suites: readonly Suite[], attribute: "@tests" | "@failures"): number {
  return suites.reduce((total, each) => total + each[attribute], 0);
}
