import { type Quantity, QUANTITY_FORMAT_ERROR, parseQuantity } from "@kubewright/api";
import {
  type Cidr,
  type IpAddress,
  type IpAddressScope,
  cidrContains,
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  formatIpAddress,
  ipAddressScope,
  isIPv4Mapped,
  labelValueErrors,
  maskedCidr,
  parseCidr,
  parseIpAddress,
  qualifiedNameErrors,
} from "@kubewright/api/validation";

import { addressArgumentCost, traversalCost, formatValidationCost } from "./cost.js";
import { type FunctionLibrary, type Overload, global, member } from "./functions.js";
import { formatError } from "./string-formats.js";
import { BOOL, DOUBLE, INT, STRING, type Type, listOf, mapOf, opaque, optionalOf, typeName } from "./types.js";
import { type ParsedUrl, parseUrl } from "./urls.js";
import { MutableMapValue, EvaluationProblem, ArrayListValue, OpaqueValue, Optional, type Value } from "./values.js";
import { type Version, compareVersions, parseVersion } from "./versions.js";

const URL_TYPE = opaque("kubernetes.URL");
const QUANTITY = opaque("kubernetes.Quantity");
const IP = opaque("net.IP");
const CIDR = opaque("net.CIDR");
const SEMVER = opaque("kubernetes.Semver");
const FORMAT = opaque("kubernetes.NamedFormat");

/** Returns the constructor of the values of an opaque type. */
function constructorOf<T>(type: Type, isSame: (a: T, b: T) => boolean): (content: T) => OpaqueValue<T> {
  return (content) => new OpaqueValue(typeName(type), content, isSame);
}

const urlValue = constructorOf<ParsedUrl>(URL_TYPE, (a, b) => a.text === b.text);
const quantityValue = constructorOf<Quantity>(QUANTITY, (a, b) => a.nanos === b.nanos);
const addressValue = constructorOf<IpAddress>(IP, isSameAddress);
const cidrValue = constructorOf<Cidr>(CIDR, (a, b) => a.prefix === b.prefix && isSameAddress(a.address, b.address));
const versionValue = constructorOf<Version>(SEMVER, (a, b) => compareVersions(a, b) === 0);
const formatValue = constructorOf<string>(FORMAT, Object.is);

function isSameAddress(a: IpAddress, b: IpAddress): boolean {
  return a.family === b.family && a.bits === b.bits;
}

/** Returns what was parsed. */
function parsed<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw new EvaluationProblem(problem);
  return value;
}

function url(text: string): ParsedUrl {
  const found = parseUrl(text);
  if (typeof found !== "string") return found;
  throw new EvaluationProblem(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${found}`);
}

function quantity(text: string): Quantity {
  return parsed(parseQuantity(text), QUANTITY_FORMAT_ERROR);
}

function address(text: string): IpAddress {
  const shown = JSON.stringify(text);
  return parsed(
    parseUnmappedAddress(text),
    `IP Address ${shown} parse error during conversion from string: ParseAddr(${shown}): unable to parse IP`,
  );
}

function cidr(text: string): Cidr {
  return parsed(
    parseUnmappedCidr(text),
    `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${text.includes("/") ? "unable to parse IP" : "no '/'"}`,
  );
}

function version(text: string, normalize?: boolean): Version {
  return parsed(parseVersion(text, normalize), `invalid semantic version: ${JSON.stringify(text)}`);
}

/** Upstream's expressions refuse IPv4-mapped IPv6 addresses. Upstream: `library.parseIPAddr`. */
function parseUnmappedAddress(text: string): IpAddress | undefined {
  const found = parseIpAddress(text);
  return found === undefined || isIPv4Mapped(found) ? undefined : found;
}

function parseUnmappedCidr(text: string): Cidr | undefined {
  const found = parseCidr(text);
  return found === undefined || isIPv4Mapped(found.address) ? undefined : found;
}

const NANO = 1_000_000_000n;

function toInteger({ nanos }: Quantity): bigint {
  if (nanos % NANO !== 0n) throw new EvaluationProblem("cannot convert value to integer");
  return nanos / NANO;
}

/** A member function that adds a quantity, or subtracts it. */
function addition(sign: bigint): Overload[] {
  const call = ({ content }: OpaqueValue<Quantity>, other: OpaqueValue<Quantity> | bigint): Value =>
    quantityValue({
      ...content,
      nanos: content.nanos + sign * (typeof other === "bigint" ? other * NANO : other.content.nanos),
    });
  return [member([QUANTITY, QUANTITY], QUANTITY, call), member([QUANTITY, INT], QUANTITY, call)];
}

function signOf(difference: bigint): bigint {
  return difference < 0n ? -1n : difference > 0n ? 1n : 0n;
}

/** The comparison functions that quantities and versions share. */
function comparisons<T>(type: Type, compare: (a: T, b: T) => bigint): FunctionLibrary {
  const overload = (result: Type, read: (order: bigint) => Value): Overload[] => [
    member([type, type], result, (a: OpaqueValue<T>, b: OpaqueValue<T>) => read(compare(a.content, b.content))),
  ];
  return {
    isGreaterThan: overload(BOOL, (order) => order > 0n),
    isLessThan: overload(BOOL, (order) => order < 0n),
    compareTo: overload(INT, (order) => order),
  };
}

/** A member function that reads the content of an opaque value. */
function getter<T>(type: Type, result: Type, read: (content: T) => Value): Overload[] {
  return [member([type], result, ({ content }: OpaqueValue<T>) => read(content))];
}

function urlGetter(part: "scheme" | "host" | "hostname" | "port" | "escapedPath"): Overload[] {
  return getter<ParsedUrl>(URL_TYPE, STRING, (content) => content[part]);
}

function scopeGetter(scope: IpAddressScope): Overload[] {
  return getter<IpAddress>(IP, BOOL, (content) => ipAddressScope(content) === scope);
}

/** A function that checks whether a text can be parsed. */
function textPredicate(parse: (text: string) => unknown): Overload[] {
  return [global([STRING], BOOL, (text: string) => parse(text) !== undefined, READ_COST)];
}

/** A member function of a CIDR with an address or a CIDR as value or as text. */
function containment<T>(type: Type, parse: (text: string) => T, holds: (cidr: Cidr, other: T) => boolean): Overload[] {
  return [
    member(
      [CIDR, STRING],
      BOOL,
      ({ content }: OpaqueValue<Cidr>, text: string) => holds(content, parse(text)),
      addressArgumentCost,
    ),
    member([CIDR, type], BOOL, (outer: OpaqueValue<Cidr>, { content }: OpaqueValue<T>) =>
      holds(outer.content, content),
    ),
  ];
}

const READ_COST = traversalCost(0);

const addresses: FunctionLibrary = {
  isIP: textPredicate(parseUnmappedAddress),
  ip: [
    global([STRING], IP, (text: string) => addressValue(address(text)), READ_COST),
    ...getter<Cidr>(CIDR, IP, (content) => addressValue(content.address)),
  ],
  "ip.isCanonical": [
    global(
      [STRING],
      BOOL,
      (text: string) => formatIpAddress(address(text)) === text,
      (args) => {
        const { cost } = READ_COST(args);
        return { cost: { min: 2 * cost.min, max: 2 * cost.max } };
      },
    ),
  ],
  family: getter<IpAddress>(IP, INT, ({ family }) => BigInt(family)),
  isUnspecified: scopeGetter("unspecified"),
  isLoopback: scopeGetter("loopback"),
  isLinkLocalMulticast: scopeGetter("link-local-multicast"),
  isLinkLocalUnicast: scopeGetter("link-local"),
  isGlobalUnicast: scopeGetter("global"),
  isCIDR: textPredicate(parseUnmappedCidr),
  cidr: [global([STRING], CIDR, (text: string) => cidrValue(cidr(text)), READ_COST)],
  containsIP: containment(IP, address, cidrContains),
  containsCIDR: containment(
    CIDR,
    cidr,
    (outer, inner) => outer.prefix <= inner.prefix && cidrContains(outer, inner.address),
  ),
  masked: getter<Cidr>(CIDR, CIDR, (content) => cidrValue(maskedCidr(content))),
  prefixLength: getter<Cidr>(CIDR, INT, ({ prefix }) => BigInt(prefix)),
  string: [
    global([IP], STRING, ({ content }: OpaqueValue<IpAddress>) => formatIpAddress(content)),
    global([CIDR], STRING, ({ content }: OpaqueValue<Cidr>) => `${formatIpAddress(content.address)}/${content.prefix}`),
  ],
};

const quantities: FunctionLibrary = {
  isQuantity: textPredicate(parseQuantity),
  quantity: [global([STRING], QUANTITY, (text: string) => quantityValue(quantity(text)), READ_COST)],
  isInteger: getter<Quantity>(QUANTITY, BOOL, ({ nanos }) => nanos % NANO === 0n),
  asInteger: getter(QUANTITY, INT, toInteger),
  asApproximateFloat: getter<Quantity>(QUANTITY, DOUBLE, ({ nanos }) => Number(nanos) / 1e9),
  add: addition(1n),
  sub: addition(-1n),
  // The name is known, but no overload takes a quantity.
  sign: [],
};

/** A function of a version as text, and whether it is normalized. Default: it is not. */
function versionFunction(result: Type, call: (text: string, normalize?: boolean) => Value): Overload[] {
  return [[STRING], [STRING, BOOL]].map((parameters) => global(parameters, result, call, READ_COST));
}

const versions: FunctionLibrary = {
  isSemver: versionFunction(BOOL, (text, normalize) => parseVersion(text, normalize) !== undefined),
  semver: versionFunction(SEMVER, (text, normalize) => versionValue(version(text, normalize))),
  major: getter<Version>(SEMVER, INT, ({ major }) => major),
  minor: getter<Version>(SEMVER, INT, ({ minor }) => minor),
  patch: getter<Version>(SEMVER, INT, ({ patch }) => patch),
};

const urls: FunctionLibrary = {
  isURL: [global([STRING], BOOL, (text: string) => typeof parseUrl(text) !== "string", READ_COST)],
  url: [global([STRING], URL_TYPE, (text: string) => urlValue(url(text)), traversalCost(0, true))],
  getScheme: urlGetter("scheme"),
  getHost: urlGetter("host"),
  getHostname: urlGetter("hostname"),
  getPort: urlGetter("port"),
  getEscapedPath: urlGetter("escapedPath"),
  getQuery: getter<ParsedUrl>(URL_TYPE, mapOf(STRING, listOf(STRING)), ({ query }) => {
    const entries = new MutableMapValue();
    for (const [key, values] of query) entries.add(key, new ArrayListValue([...values]));
    return entries;
  }),
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

const formats: FunctionLibrary = {
  ...Object.fromEntries(
    Object.keys(FORMATS).map((name) => [`format.${name}`, [global([], FORMAT, () => formatValue(name))]]),
  ),
  "format.named": [
    global(
      [STRING],
      optionalOf(FORMAT),
      (name: string) => new Optional(Object.hasOwn(FORMATS, name) ? formatValue(name) : undefined),
    ),
  ],
  validate: [
    member(
      [FORMAT, STRING],
      optionalOf(listOf(STRING)),
      ({ content }: OpaqueValue<string>, text: string) => {
        const errors = FORMATS[content]!(text);
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
  comparisons<Quantity>(QUANTITY, (a, b) => signOf(a.nanos - b.nanos)),
  addresses,
  versions,
  comparisons<Version>(SEMVER, (a, b) => BigInt(compareVersions(a, b))),
  formats,
];
