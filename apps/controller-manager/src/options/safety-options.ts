import { type OptionsOf, option, optionGroup } from "../flag.js";
import { bool, list, textNamed } from "../flag-types.js";

/** Coexistence with kube-controller-manager. Upstream has none of these options. */
export const safetyOptions = optionGroup("Beside kube-controller-manager", {
  /** `""`: Jobs of the built-in controller. */
  managedBy: option(
    textNamed("name"),
    "",
    "handle exactly the Jobs whose spec.managedBy is this, and start no other controller that --controllers does not name",
  ),
  /** Start although a live kube-controller-manager holds its Lease. */
  takeOver: option(
    bool,
    false,
    "start although kube-controller-manager is running: these controllers are switched off there",
  ),
  /** Sorted by name, without duplicates. Empty: the whole cluster. */
  namespaces: option(
    list,
    [],
    "look after these namespaces only, with rights in them only; the Lease is in the first of them by name",
    "namespace",
  ),
});

export type SafetyOptions = OptionsOf<typeof safetyOptions>;

const MAX_MANAGED_BY_LENGTH = 63;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const MANAGED_BY = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

export function safetyErrors({ managedBy, namespaces }: SafetyOptions): string[] {
  const errors: string[] = [];
  if (managedBy === "kubernetes.io/job-controller") {
    errors.push(
      "--managed-by kubernetes.io/job-controller names the built-in controller: switch that off and pass --take-over instead",
    );
  } else if (managedBy !== "" && (!MANAGED_BY.test(managedBy) || managedBy.length > MAX_MANAGED_BY_LENGTH)) {
    errors.push(
      `--managed-by ${JSON.stringify(managedBy)} must be a domain-prefixed path of at most 63 characters (such as "acme.io/foo")`,
    );
  }
  for (const namespace of namespaces) {
    if (!NAMESPACE.test(namespace))
      errors.push(`--namespace ${JSON.stringify(namespace)} is not the name of a namespace`);
  }
  return errors;
}
