import { type Quantity, QUANTITY_FORMAT_ERROR, parseQuantity } from "@kubewright/api";
import {
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from "@kubewright/api/validation";

import {
  type Address,
  type Cidr,
  containsAddress,
  formatAddress,
  masked,
  parseAddress,
  parseCidr,
} from "./addresses.js";
import { constantCost, addressArgumentCost, traversalCost, formatValidationCost } from "./cost.js";
import { type FunctionLibrary, type Overload, global, member } from "./functions.js";
import { formatError } from "./string-formats.js";
import { BOOL, DOUBLE, INT, STRING, type Type, listOf, mapOf, opaque, optionalOf } from "./types.js";
import { type ParsedUrl, parseUrl } from "./urls.js";
import {
  MutableMapValue,
  EvaluationProblem,
  ArrayListValue,
  type OpaqueValue,
  Optional,
  type Value,
} from "./values.js";
import { type Version, compareVersions, parseVersion } from "./versions.js";

const URL_TYPE = opaque("kubernetes.URL");
const QUANTITY = opaque("kubernetes.Quantity");
const IP = opaque("net.IP");
const CIDR = opaque("net.CIDR");
const SEMVER = opaque("kubernetes.Semver");
const FORMAT = opaque("kubernetes.NamedFormat");

class UrlValue implements OpaqueValue {
  readonly opaqueType = "kubernetes.URL";
  constructor(readonly url: ParsedUrl) {}
  equals(other: OpaqueValue): boolean {
    return (other as UrlValue).url.text === this.url.text;
  }
}

class QuantityValue implements OpaqueValue {
  readonly opaqueType = "kubernetes.Quantity";
  constructor(readonly quantity: Quantity) {}
  equals(other: OpaqueValue): boolean {
    return (other as QuantityValue).quantity.nanos === this.quantity.nanos;
  }
}

class AddressValue implements OpaqueValue {
  readonly opaqueType = "net.IP";
  constructor(readonly address: Address) {}
  get text(): string {
    return formatAddress(this.address);
  }
  equals(other: OpaqueValue): boolean {
    const { family, bits } = (other as AddressValue).address;
    return family === this.address.family && bits === this.address.bits;
  }
}

class CidrValue implements OpaqueValue {
  readonly opaqueType = "net.CIDR";
  constructor(readonly cidr: Cidr) {}
  get text(): string {
    return `${formatAddress(this.cidr.address)}/${this.cidr.prefix}`;
  }
  equals(other: OpaqueValue): boolean {
    return (other as CidrValue).text === this.text;
  }
}

class VersionValue implements OpaqueValue {
  readonly opaqueType = "kubernetes.Semver";
  constructor(readonly version: Version) {}
  equals(other: OpaqueValue): boolean {
    return compareVersions((other as VersionValue).version, this.version) === 0;
  }
}

class FormatValue implements OpaqueValue {
  readonly opaqueType = "kubernetes.NamedFormat";
  constructor(
    readonly name: string,
    readonly errorsOf: (text: string) => readonly string[],
  ) {}
  equals(other: OpaqueValue): boolean {
    return (other as FormatValue).name === this.name;
  }
}

/** @throws EvaluationProblem */
function url(text: string): UrlValue {
  const parsed = parseUrl(text);
  if (typeof parsed === "string")
    throw new EvaluationProblem(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${parsed}`,
    );
  return new UrlValue(parsed);
}

function quantity(text: string): QuantityValue {
  const parsed = parseQuantity(text);
  if (parsed === undefined) throw new EvaluationProblem(QUANTITY_FORMAT_ERROR);
  return new QuantityValue(parsed);
}

function address(text: string): AddressValue {
  const parsed = parseAddress(text);
  if (parsed === undefined)
    throw new EvaluationProblem(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    );
  return new AddressValue(parsed);
}

function cidr(text: string): CidrValue {
  const parsed = parseCidr(text);
  if (parsed === undefined)
    throw new EvaluationProblem(
      `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${text.includes("/") ? "unable to parse IP" : "no '/'"}`,
    );
  return new CidrValue(parsed);
}

function version(text: string, normalize = false): VersionValue {
  const parsed = parseVersion(text, normalize);
  if (parsed === undefined) throw new EvaluationProblem(`invalid semantic version: ${JSON.stringify(text)}`);
  return new VersionValue(parsed);
}

const NANO = 1_000_000_000n;

function toInteger({ quantity: { nanos } }: QuantityValue): bigint {
  if (nanos % NANO !== 0n) throw new EvaluationProblem("cannot convert value to integer");
  return nanos / NANO;
}

function addNanos(value: QuantityValue, by: bigint): QuantityValue {
  return new QuantityValue({ ...value.quantity, nanos: value.quantity.nanos + by });
}

function signOf(difference: bigint): bigint {
  return difference < 0n ? -1n : difference > 0n ? 1n : 0n;
}

/** The comparison functions that quantities and versions share. */
function comparisons<T extends Value>(type: Type, compare: (a: T, b: T) => bigint): FunctionLibrary {
  return {
    isGreaterThan: [member([type, type], BOOL, (a: T, b: T) => compare(a, b) > 0n)],
    isLessThan: [member([type, type], BOOL, (a: T, b: T) => compare(a, b) < 0n)],
    compareTo: [member([type, type], INT, compare)],
  };
}

function urlGetter(part: "scheme" | "host" | "hostname" | "port" | "escapedPath"): Overload[] {
  return [member([URL_TYPE], STRING, (value: UrlValue) => value.url[part])];
}

function highBits(bits: bigint, shift: number): number {
  return Number(bits >> BigInt(shift));
}

function isMulticast({ family, bits }: Address): boolean {
  return family === 4 ? highBits(bits, 28) === 0xe : highBits(bits, 120) === 0xff;
}

function isUnspecified({ bits }: Address): boolean {
  return bits === 0n;
}

function isLoopback({ family, bits }: Address): boolean {
  return family === 4 ? highBits(bits, 24) === 127 : bits === 1n;
}

function isLinkLocalUnicast({ family, bits }: Address): boolean {
  return family === 4 ? highBits(bits, 16) === 0xa9fe : highBits(bits, 118) === 0x3fa;
}

function isLinkLocalMulticast({ family, bits }: Address): boolean {
  return family === 4 ? highBits(bits, 8) === 0xe00000 : (highBits(bits, 112) & 0xff0f) === 0xff02;
}

function isGlobalUnicast(value: Address): boolean {
  const broadcast = value.family === 4 && value.bits === 0xffffffffn;
  return !(isUnspecified(value) || isLoopback(value) || isMulticast(value) || isLinkLocalUnicast(value) || broadcast);
}

function addressPredicate(test: (address: Address) => boolean): Overload[] {
  return [member([IP], BOOL, (value: AddressValue) => test(value.address))];
}

function containsCidr(outer: CidrValue, inner: CidrValue): boolean {
  return outer.cidr.prefix <= inner.cidr.prefix && containsAddress(outer.cidr, inner.cidr.address);
}

const READ_COST = traversalCost(0);

const addresses: FunctionLibrary = {
  isIP: [global([STRING], BOOL, (text: string) => parseAddress(text) !== undefined, READ_COST)],
  ip: [
    global([STRING], IP, address, READ_COST),
    member([CIDR], IP, (value: CidrValue) => new AddressValue(value.cidr.address)),
  ],
  "ip.isCanonical": [
    global(
      [STRING],
      BOOL,
      (text: string) => address(text).text === text,
      (args) => {
        const { cost } = READ_COST(args);
        return { cost: { min: 2 * cost.min, max: 2 * cost.max } };
      },
    ),
  ],
  family: [member([IP], INT, (value: AddressValue) => BigInt(value.address.family))],
  isUnspecified: addressPredicate(isUnspecified),
  isLoopback: addressPredicate(isLoopback),
  isLinkLocalMulticast: addressPredicate(isLinkLocalMulticast),
  isLinkLocalUnicast: addressPredicate(isLinkLocalUnicast),
  isGlobalUnicast: addressPredicate(isGlobalUnicast),
  isCIDR: [global([STRING], BOOL, (text: string) => parseCidr(text) !== undefined, READ_COST)],
  cidr: [global([STRING], CIDR, cidr, READ_COST)],
  containsIP: [
    member(
      [CIDR, STRING],
      BOOL,
      (value: CidrValue, text: string) => containsAddress(value.cidr, address(text).address),
      addressArgumentCost,
    ),
    member([CIDR, IP], BOOL, (value: CidrValue, other: AddressValue) => containsAddress(value.cidr, other.address)),
  ],
  containsCIDR: [
    member(
      [CIDR, STRING],
      BOOL,
      (value: CidrValue, text: string) => containsCidr(value, cidr(text)),
      addressArgumentCost,
    ),
    member([CIDR, CIDR], BOOL, containsCidr),
  ],
  masked: [member([CIDR], CIDR, (value: CidrValue) => new CidrValue(masked(value.cidr)))],
  prefixLength: [member([CIDR], INT, (value: CidrValue) => BigInt(value.cidr.prefix))],
  string: [
    global([IP], STRING, (value: AddressValue) => value.text, constantCost),
    global([CIDR], STRING, (value: CidrValue) => value.text, constantCost),
  ],
};

const quantities: FunctionLibrary = {
  isQuantity: [global([STRING], BOOL, (text: string) => parseQuantity(text) !== undefined, READ_COST)],
  quantity: [global([STRING], QUANTITY, quantity, READ_COST)],
  isInteger: [member([QUANTITY], BOOL, (value: QuantityValue) => value.quantity.nanos % NANO === 0n)],
  asInteger: [member([QUANTITY], INT, toInteger)],
  asApproximateFloat: [member([QUANTITY], DOUBLE, (value: QuantityValue) => Number(value.quantity.nanos) / 1e9)],
  add: [
    member([QUANTITY, QUANTITY], QUANTITY, (a: QuantityValue, b: QuantityValue) => addNanos(a, b.quantity.nanos)),
    member([QUANTITY, INT], QUANTITY, (a: QuantityValue, b: bigint) => addNanos(a, b * NANO)),
  ],
  sub: [
    member([QUANTITY, QUANTITY], QUANTITY, (a: QuantityValue, b: QuantityValue) => addNanos(a, -b.quantity.nanos)),
    member([QUANTITY, INT], QUANTITY, (a: QuantityValue, b: bigint) => addNanos(a, -b * NANO)),
  ],
  // The name is known, but no overload takes a quantity.
  sign: [],
};

const versions: FunctionLibrary = {
  isSemver: [
    global([STRING], BOOL, (text: string) => parseVersion(text) !== undefined, READ_COST),
    global(
      [STRING, BOOL],
      BOOL,
      (text: string, normalize: boolean) => parseVersion(text, normalize) !== undefined,
      READ_COST,
    ),
  ],
  semver: [
    global([STRING], SEMVER, (text: string) => version(text), READ_COST),
    global([STRING, BOOL], SEMVER, version, READ_COST),
  ],
  major: [member([SEMVER], INT, (value: VersionValue) => value.version.major)],
  minor: [member([SEMVER], INT, (value: VersionValue) => value.version.minor)],
  patch: [member([SEMVER], INT, (value: VersionValue) => value.version.patch)],
};

const urls: FunctionLibrary = {
  isURL: [global([STRING], BOOL, (text: string) => typeof parseUrl(text) !== "string", READ_COST)],
  url: [global([STRING], URL_TYPE, url, traversalCost(0, true))],
  getScheme: urlGetter("scheme"),
  getHost: urlGetter("host"),
  getHostname: urlGetter("hostname"),
  getPort: urlGetter("port"),
  getEscapedPath: urlGetter("escapedPath"),
  getQuery: [
    member([URL_TYPE], mapOf(STRING, listOf(STRING)), (value: UrlValue) => {
      const entries = new MutableMapValue();
      for (const [key, values] of value.url.query) entries.add(key, new ArrayListValue([...values]));
      return entries;
    }),
  ],
};

/** Validates a name prefix: a trailing dash is permitted. */
function prefixErrors(errorsOf: (text: string) => readonly string[]): (text: string) => readonly string[] {
  return (text) => errorsOf(text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
}

function stringFormatErrors(name: string): (text: string) => readonly string[] {
  return (text) => (formatError(name, text) ? [`invalid ${name}`] : []);
}

/** Upstream: `library.ConstantFormats`. */
const FORMATS: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label: dnsLabelErrors,
  dns1123Subdomain: dnsSubdomainErrors,
  dns1035Label: dns1035LabelErrors,
  qualifiedName: qualifiedNameErrors,
  dns1123LabelPrefix: prefixErrors(dnsLabelErrors),
  dns1123SubdomainPrefix: prefixErrors(dnsSubdomainErrors),
  dns1035LabelPrefix: prefixErrors(dns1035LabelErrors),
  labelValue: labelValueErrors,
  uri: (text) => (typeof parseUrl(text) === "string" ? [`invalid URI: ${text}`] : []),
  uuid: (text) => (formatError("uuid", text) ? ["does not match the UUID format"] : []),
  byte: (text) => (formatError("byte", text) ? ["invalid base64"] : []),
  date: stringFormatErrors("date"),
  datetime: stringFormatErrors("date-time"),
};

function namedFormat(name: string): FormatValue {
  return new FormatValue(name, FORMATS[name]!);
}

const formats: FunctionLibrary = {
  ...Object.fromEntries(
    Object.keys(FORMATS).map((name) => [`format.${name}`, [global([], FORMAT, () => namedFormat(name))]]),
  ),
  "format.named": [
    global(
      [STRING],
      optionalOf(FORMAT),
      (name: string) => new Optional(Object.hasOwn(FORMATS, name) ? namedFormat(name) : undefined),
    ),
  ],
  validate: [
    member(
      [FORMAT, STRING],
      optionalOf(listOf(STRING)),
      (format: FormatValue, text: string) => {
        const errors = format.errorsOf(text);
        return new Optional(errors.length === 0 ? undefined : new ArrayListValue([...errors]));
      },
      formatValidationCost,
    ),
  ],
};

/** Upstream: apiserver's `pkg/cel/library`. */
export const kubernetesFunctions: readonly FunctionLibrary[] = [
  urls,
  quantities,
  comparisons<QuantityValue>(QUANTITY, (a, b) => signOf(a.quantity.nanos - b.quantity.nanos)),
  addresses,
  versions,
  comparisons<VersionValue>(SEMVER, (a, b) => BigInt(compareVersions(a.version, b.version))),
  formats,
];
