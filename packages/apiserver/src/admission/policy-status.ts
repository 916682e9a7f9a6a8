import type { DeepReadonly, ValidatingAdmissionPolicy } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { pendingNames } from "../pending-names.js";
import type { ResourceStorage } from "../storage/resource-storage.js";
import type { TypeChecker } from "./type-checking.js";

export interface PolicyStatusOptions {
  readonly clock: Clock;
  readonly policies: ResourceStorage;
  readonly checker: TypeChecker;
  /** Applies the status to the policy. Ignores errors. */
  readonly apply: (name: string, status: NonNullable<ValidatingAdmissionPolicy["status"]>) => void;
}

/**
 * Writes the type-checking warnings of each policy into its status, once per generation. Upstream:
 * `pkg/controller/validatingadmissionpolicystatus` of kube-controller-manager.
 */
export function maintainPolicyStatus({ clock, policies, checker, apply }: PolicyStatusOptions): void {
  const check = (name: string): void => {
    const policy = policies.get("", name)?.object as DeepReadonly<ValidatingAdmissionPolicy> | undefined;
    if (policy === undefined || isObserved(policy)) return;
    const expressionWarnings = checker.warnings(policy.spec ?? {});
    apply(name, {
      observedGeneration: policy.metadata.generation ?? 0,
      typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
    });
  };
  const enqueue = pendingNames(clock, check);
  for (const { name } of policies.list()) enqueue(name);
  policies.follow({
    onChange: ({ current }) => {
      if (current !== undefined && !isObserved(current.object)) enqueue(current.name);
    },
  });
}

function isObserved({ metadata, status }: DeepReadonly<ValidatingAdmissionPolicy>): boolean {
  return (metadata.generation ?? 0) <= (status?.observedGeneration ?? -1);
}
