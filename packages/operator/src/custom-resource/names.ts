import { CustomResourceError } from "./schema-problem.js";

/** Names of a custom resource, the same for all versions. */
export interface CustomResourceNames {
  /** A domain that you own: `example.com`. */
  readonly group: string;
  /** In upper camel case: `Backup`. */
  readonly kind: string;
  /** In lower case. Default: the English plural of the kind with -s, -es or -ies: `backups`, `policies`. */
  readonly plural?: string | undefined;
  /** Default: the kind in lower case. */
  readonly singular?: string | undefined;
  readonly scope: "Namespaced" | "Cluster";
  /** Such as `bk`, for `kubectl get bk`. */
  readonly shortNames?: readonly string[] | undefined;
  /** Such as `all`, for `kubectl get all`. */
  readonly categories?: readonly string[] | undefined;
  /** Annotations of the CustomResourceDefinition. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Names with defaults applied. */
export type ResourceNames = CustomResourceNames & { readonly plural: string; readonly singular: string };

/**
 * Validates names and applies defaults.
 *
 * @throws CustomResourceError for an invalid name.
 */
export function resourceNames(options: CustomResourceNames): ResourceNames {
  const { group, kind, scope, shortNames, categories, annotations, labels } = options;
  const problem = (path: string, text: string): CustomResourceError => new CustomResourceError(kind, [{ path, text }]);
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind)) throw problem("kind", 'must be in upper camel case, such as "Backup"');
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group))
    throw problem(
      "group",
      `must be a domain with at least one dot, such as "example.com", not ${JSON.stringify(group)}`,
    );
  const singular = options.singular ?? kind.toLowerCase();
  const plural = options.plural ?? pluralOf(kind.toLowerCase());
  return { group, kind, plural, singular, scope, shortNames, categories, annotations, labels };
}

function pluralOf(word: string): string {
  if (/(?:[sxz]|[cs]h)$/.test(word)) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}
