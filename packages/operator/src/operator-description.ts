import type { ResourceDefinition } from "@kubewright/api";

/**
 * What an operator is, as data: nothing here runs. Its manifests, and the rights in them, are worked out from it.
 * `createOperator` answers `describe()` with it; `kubewright-operator manifests FILE` asks every export that has one.
 */
export interface OperatorDescription {
  /** A DNS label, such as `backup-operator`: of its Deployment, ServiceAccount, roles, Lease and field manager. */
  readonly name: string;
  /** Namespaces that it watches; absent: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** Name of the Lease that replicas elect a leader by, in the operator's own namespace; absent: no election. */
  readonly lease?: string | undefined;
  readonly controllers: readonly ControllerDescription[];
  readonly webhooks?: readonly WebhookDescription[] | undefined;
  /** What the operator does that belongs to no controller. */
  readonly permissions?: readonly Permission[] | undefined;
}

/** What a controller reads and writes. */
export interface ControllerDescription {
  readonly name: string;
  /** Whose objects it reconciles: read, and written with their status and finalizers. */
  readonly for: ResourceDefinition;
  /** Whose objects belong to those: read, created, changed and deleted. */
  readonly owns: readonly ResourceDefinition[];
  /** Whose objects it only reads and follows. */
  readonly watches: readonly ResourceDefinition[];
  /** What else its `reconcile` does, as `.writes(…)` says. */
  readonly writes: readonly Permission[];
}

/** Something that an operator may do. */
export interface Permission {
  readonly resource: Pick<ResourceDefinition, "group" | "resource" | "namespaced">;
  /** Default: `create`, `update`, `patch`, `delete`. */
  readonly verbs?: readonly string[] | undefined;
  /** Such as `status`. Default: the objects themselves. */
  readonly subresource?: string | undefined;
  /** Default: objects of any name. */
  readonly resourceNames?: readonly string[] | undefined;
}

/** Whoever can say what it is. */
export interface Described {
  describe(): OperatorDescription;
}

/** Where the API server finds a webhook, and what it is asked about. */
export interface WebhookDescription {
  readonly type: "validating" | "mutating" | "conversion";
  /** With at least two dots, as the API server wants it: `validate.backups.example.com`. */
  readonly name: string;
  readonly for: ResourceDefinition;
  /** Where it is served: `/validate/example.com/v1/backups`. */
  readonly path: string;
  /** What the API server does with it, as configurations have it. Absent: of a conversion. */
  readonly rules?: WebhookRules | undefined;
}

/** The rest of a webhook in a ValidatingWebhookConfiguration or MutatingWebhookConfiguration. */
export interface WebhookRules {
  /** Default: `CREATE`, `UPDATE`. */
  readonly operations?: readonly ("CREATE" | "UPDATE" | "DELETE")[] | undefined;
  /** Of the objects themselves, unless it says so: `status`. */
  readonly subresource?: string | undefined;
  /** What happens when the webhook cannot be asked. Default: `Fail`. */
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;
  /** 1 to 30. Default: 10. */
  readonly timeoutSeconds?: number | undefined;
  /** Whether asking it changes anything elsewhere. Default: `None`; `NoneOnDryRun` for one that looks at `dryRun`. */
  readonly sideEffects?: "None" | "NoneOnDryRun" | undefined;
  /** Of mutating webhooks: whether it is asked again after others have changed the object. Default: `Never`. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded" | undefined;
  readonly namespaceSelector?: object | undefined;
  readonly objectSelector?: object | undefined;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[] | undefined;
}
