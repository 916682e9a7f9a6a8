import { findCondition, formatTime, isConditionTrue, mutableCopy } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { jsonEqual } from "../json.js";
import { pendingNames } from "../pending-names.js";
import { UNCONDITIONAL_DELETE, markOrRemove } from "../registry/deletion.js";
import { type ResourceRegistry, storageKeyOf } from "../resource-registry.js";
import type { BuiltInSchemas } from "../schema/built-in-schemas.js";
import type { Change } from "../storage/change.js";
import type { ChangeListener, ResourceStorage } from "../storage/resource-storage.js";
import type { Store } from "../storage/store.js";
import { type ConversionContext, ConversionWebhook } from "./conversion-webhook.js";
import { serveCustomResource } from "./custom-resource.js";
import { RuleCompiler } from "./expression-rules.js";
import { Patterns } from "./patterns.js";
import {
  CLEANUP_FINALIZER,
  type Definition,
  type DefinitionCondition,
  type DefinitionNames,
  definitionCondition,
  withDefinitionCondition,
} from "./definition.js";

interface DefinitionRegistrarOptions {
  readonly clock: Clock;
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly schemas: BuiltInSchemas;
  readonly definitions: ResourceStorage;
  readonly conversionContext: ConversionContext;
  /** Called with the storage of each namespaced kind when it is first served. */
  readonly onStorage: (storage: ResourceStorage) => void;
}

interface Registered {
  readonly generation: number | undefined;
  /** Whether objects may exist that were stored with another schema. */
  readonly hasMixedSchemas: boolean;
  readonly versions: readonly string[];
}

/**
 * Serves the resources of CustomResourceDefinitions: accepts their names, establishes them, and on deletion removes
 * their objects first.
 *
 * Upstream: the naming, establishing and finalizer controllers of apiextensions-apiserver. They make several writes
 * where the registrar makes one.
 */
export class DefinitionRegistrar implements ChangeListener {
  readonly #options: DefinitionRegistrarOptions;
  readonly #definitions: ResourceStorage;
  readonly #registered = new Map<string, Registered>();
  readonly #patterns = new Patterns();
  readonly #compiler = new RuleCompiler();
  readonly #schedule: (name: string) => void;

  /** Starts the registrar. It runs until the server stops. */
  static start(options: DefinitionRegistrarOptions): void {
    const registrar = new DefinitionRegistrar(options);
    for (const { name } of options.definitions.list()) registrar.#sync(name);
    options.definitions.follow(registrar);
  }

  private constructor(options: DefinitionRegistrarOptions) {
    this.#options = options;
    this.#definitions = options.definitions;
    this.#schedule = pendingNames(options.clock, (name) => this.#sync(name));
  }

  onChange({ current, previous, subject }: Change): void {
    if (current === undefined) this.#unregister(previous!.object as Definition, true);
    else this.#schedule(subject.name);
  }

  #sync(name: string): void {
    const definition = this.#definitions.get("", name)?.object as Definition | undefined;
    if (definition === undefined) return;
    if (definition.metadata.deletionTimestamp) {
      this.#deleteInstances(definition);
      return;
    }
    const { acceptedNames } = definition.status ?? {};
    if (!isEstablished(definition) || !jsonEqual(acceptedNames, definition.spec.names)) this.#acceptNames(definition);
    const current = this.#definitions.get("", name)?.object as Definition;
    if (isEstablished(current)) this.#register(current);
  }

  #acceptNames(definition: Definition): void {
    const now = formatTime(this.#options.clock.now());
    const conflict = this.#conflictOf(definition);
    const next = mutableCopy(definition) as Definition;
    const namesAccepted =
      conflict === undefined
        ? definitionCondition("NamesAccepted", true, "NoConflicts", "no conflicts found", now)
        : definitionCondition("NamesAccepted", false, conflict.reason, conflict.message, now);
    const established =
      conflict === undefined || isEstablished(definition)
        ? definitionCondition("Established", true, "InitialNamesAccepted", "the initial names have been accepted", now)
        : definitionCondition("Established", false, "NotAccepted", "not all names are accepted", now);
    let { conditions } = next.status ?? {};
    for (const condition of [namesAccepted, established])
      if (!hasCondition(definition, condition)) conditions = withDefinitionCondition(conditions, condition);
    if (conflict !== undefined && hasCondition(definition, namesAccepted)) return;
    next.status = {
      ...next.status,
      acceptedNames: conflict === undefined ? mutableCopy(definition.spec.names) : conflict.accepted,
      conditions: conditions ?? [],
    };
    this.#definitions.write(next);
  }

  #conflictOf(definition: Definition): { reason: string; message: string; accepted: DefinitionNames } | undefined {
    const { names, group } = definition.spec;
    const others = this.#definitions.list().map(({ object }) => object as Definition);
    const namesOfOthers = others
      .filter((other) => other.metadata.name !== definition.metadata.name && other.spec.group === group)
      .map((other) => other.status?.acceptedNames);
    const resources = new Set(
      namesOfOthers
        .flatMap((accepted) => [accepted?.plural, accepted?.singular, ...(accepted?.shortNames ?? [])])
        .filter((name) => name),
    );
    const kinds = new Set(
      namesOfOthers.flatMap((accepted) => [accepted?.kind, accepted?.listKind]).filter((name) => name),
    );
    const accepted: Record<string, unknown> = { plural: "", kind: "" };
    let conflict: { reason: string; message: string } | undefined;
    const check = (member: string, reason: string, name: string | undefined, used: ReadonlySet<unknown>): void => {
      if (name === undefined) return;
      if (used.has(name)) conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
      else accepted[member] = name;
    };
    check("plural", "PluralConflict", names.plural, resources);
    check("singular", "SingularConflict", names.singular, resources);
    const shortNames = names.shortNames ?? [];
    const usedShort = shortNames.filter((name) => resources.has(name));
    if (usedShort.length > 0)
      conflict = {
        reason: "ShortNamesConflict",
        message: usedShort.map((name) => `${JSON.stringify(name)} is already in use`).join(", "),
      };
    else if (shortNames.length > 0) accepted["shortNames"] = [...shortNames];
    check("kind", "KindConflict", names.kind, kinds);
    check("listKind", "ListKindConflict", names.listKind, kinds);
    return conflict === undefined ? undefined : { ...conflict, accepted: accepted as unknown as DefinitionNames };
  }

  #register(definition: Definition): void {
    const name = definition.metadata.name!;
    const { generation } = definition.metadata;
    const before = this.#registered.get(name);
    if (before !== undefined && before.generation === generation) return;
    const storage = this.#options.store.storage(
      storageKeyOf({ group: definition.spec.group, resource: definition.spec.names.plural }),
    );
    const hasMixedSchemas =
      before?.hasMixedSchemas === true ||
      definition.spec.versions.length > 1 ||
      ((generation ?? 1) > 1 && storage.size > 0);
    this.#unregister(definition, false);
    const versions = definition.spec.versions.filter(({ served }) => served);
    const isTerminating = (): boolean =>
      this.#definitions.get("", name)?.object.metadata.deletionTimestamp !== undefined;
    const context = {
      store: this.#options.store,
      schemas: this.#options.schemas,
      patterns: this.#patterns,
      compiler: this.#compiler,
      hasMixedSchemas,
      conversion: this.#conversionOf(definition),
      isTerminating,
    };
    for (const version of versions) this.#options.registry.add(serveCustomResource(definition, version, context));
    this.#registered.set(name, { generation, hasMixedSchemas, versions: versions.map((version) => version.name) });
    if (before !== undefined) return;
    if (definition.spec.scope === "Namespaced") this.#options.onStorage(storage);
    storage.follow({
      onChange: ({ current }) => {
        if (current === undefined && isTerminating()) this.#schedule(name);
      },
    });
  }

  /** With a single version there is nothing to convert. */
  #conversionOf({ spec: { conversion, versions } }: Definition): ConversionWebhook | undefined {
    const webhook = conversion?.strategy === "Webhook" ? conversion.webhook : undefined;
    return webhook === undefined || versions.length === 1
      ? undefined
      : new ConversionWebhook(webhook, this.#options.conversionContext);
  }

  #unregister({ metadata, spec }: Definition, isDeleted: boolean): void {
    const registered = this.#registered.get(metadata.name!);
    if (registered === undefined) return;
    for (const version of registered.versions) this.#options.registry.remove(spec.group, version, spec.names.plural);
    if (!isDeleted) return;
    this.#registered.delete(metadata.name!);
    const key = storageKeyOf({ group: spec.group, resource: spec.names.plural });
    this.#options.store.storage(key).endFollowers();
    this.#options.store.drop(key);
  }

  #deleteInstances(definition: Definition): void {
    const name = definition.metadata.name!;
    const { group, names } = definition.spec;
    const served = definition.spec.versions
      .map((version) => this.#options.registry.find(group, version.name, names.plural))
      .find((resource) => resource !== undefined);
    if (served !== undefined)
      for (const stored of served.storage.list())
        markOrRemove(served, stored, UNCONDITIONAL_DELETE, this.#options.clock.now());
    const remaining = served?.storage.size ?? 0;
    const next = mutableCopy(definition) as Definition;
    const now = formatTime(this.#options.clock.now());
    if (remaining > 0) {
      const message = "CustomResource deletion is in progress";
      const condition = definitionCondition("Terminating", true, "InstanceDeletionInProgress", message, now);
      if (hasCondition(definition, condition)) return;
      next.status = { ...next.status, conditions: withDefinitionCondition(next.status?.conditions, condition) };
      this.#definitions.write(next);
      return;
    }
    const finalizers = (next.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    const stored = this.#definitions.get("", name)!;
    if (finalizers.length === 0) this.#definitions.remove(stored);
    else if (finalizers.length !== (next.metadata.finalizers ?? []).length) {
      next.metadata.finalizers = finalizers;
      this.#definitions.write(next);
    }
  }
}

function isEstablished({ status }: Definition): boolean {
  return isConditionTrue(status?.conditions, "Established");
}

function hasCondition({ status }: Definition, wanted: DefinitionCondition): boolean {
  const condition = findCondition(status?.conditions, wanted.type);
  return condition?.status === wanted.status && condition.reason === wanted.reason;
}
