import { isObject } from '@toolmgr/core';
import { typedMiddleware } from './middleware-configs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A configuration with the members of this program, or what cannot be translated. */
export type Translated = { readonly value: unknown } | { readonly problems: readonly string[] };

/**
 * Translates what other implementations of the contract write: nanoseconds, empty members, durations as objects, their own labels of
 * containers, defaults of local servers for remote ones, and middleware in place of typed fields. Other values are returned unchanged.
 *
 * Source: reference workload-api §2.8.
 */
export function fromForeignFormat(given: unknown): Translated {
  if (!isObject(given)) return { value: given };
  const fields = withoutServerDefaults(withoutEmpty(given));
  const middleware = typedMiddleware(fields);
  if ('problems' in middleware) return middleware;
  const { session_ttl: ttl, ...others } = withOwnBundle(middleware.fields);
  const { remote_auth_config: auth, rate_limit_config: limits, container_labels: labels } = others;
  return {
    value: {
      ...others,
      ...(ttl === undefined ? {} : { session_ttl: typeof ttl === 'number' ? durationText(ttl) : ttl }),
      ...(isObject(auth) && typeof auth.timeout === 'number'
        ? { remote_auth_config: { ...auth, timeout: durationText(auth.timeout) } }
        : {}),
      ...(isObject(limits) ? { rate_limit_config: withDurations(limits) } : {}),
      ...(isObject(labels) ? { container_labels: ownLabels(labels) } : {}),
    },
  };
}

/** The field of the CA bundle is called after the product that writes it. */
function withOwnBundle(fields: Fields): Fields {
  const bundle = Object.keys(fields).find((name) => /^[a-z]+_ca_bundle$/.test(name));
  if (bundle === undefined) return fields;
  const { [bundle]: path, ...others } = fields;
  return { ...others, tool_ca_bundle: path };
}

/** Maps whose empty texts are values, and fields that no other implementation has. */
const KEPT: ReadonlySet<string> = new Set([
  ...['env_vars', 'container_labels', 'customAttributes', 'header_forward', 'cedar', 'oauth_params', 'runtime_env'],
  ...['additional_authorization_params', 'additional_headers', 'tools_override'],
  ...['plugins', 'outgoing_auth', 'remote_headers'],
]);

/** Members that are there without a value, also in lists: `null`, and an empty text or a zero where that is no value. */
function withoutEmpty(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || (value === '' && !name.startsWith('env_'))) return [];
    if (value === 0 && ZERO_IS_NONE.has(name)) return [];
    if (KEPT.has(name)) return [[name, value]];
    if (Array.isArray(value)) return [[name, value.map((each) => (isObject(each) ? withoutEmpty(each) : each))]];
    return [[name, isObject(value) ? withoutEmpty(value) : value]];
  });
  return Object.fromEntries(entries);
}

const ZERO_IS_NONE: ReadonlySet<string> = new Set([
  ...['target_port', 'callback_port', 'mcpserver_generation', 'session_ttl'],
]);

/** Other implementations write members of local servers with their defaults for remote servers too, where they mean nothing. */
function withoutServerDefaults(fields: Fields): Fields {
  const isRemote = fields.remote_url !== undefined;
  if (!isRemote && fields.transport !== 'stdio') return fields;
  const { target_host: host, target_port: port, env_vars: variables, permission_profile: profile, ...others } = fields;
  return {
    ...others,
    ...(host === undefined || host === '127.0.0.1' ? {} : { target_host: host }),
    ...(port === undefined || (isRemote && isChosenPort(port, variables)) ? {} : { target_port: port }),
    ...(profile === undefined || (isRemote && isBuiltInProfile(profile)) ? {} : { permission_profile: profile }),
    ...(variables === undefined ? {} : { env_vars: isRemote ? withoutServerVariables(variables) : variables }),
  };
}

function isBuiltInProfile(profile: unknown): boolean {
  return isObject(profile) && (profile.name === 'none' || profile.name === 'network');
}

/** An implementation that chose the port itself tells the server. */
function isChosenPort(port: unknown, variables: unknown): boolean {
  return isObject(variables) && variables.MCP_PORT === String(port);
}

/** The variables that tell a local server how it is reached. */
const SERVER_VARIABLES: ReadonlySet<string> = new Set(['MCP_TRANSPORT', 'MCP_PORT', 'FASTMCP_PORT']);

function withoutServerVariables(variables: unknown): unknown {
  if (!isObject(variables)) return variables;
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !SERVER_VARIABLES.has(name)));
}

/** Labels that an implementation sets itself (`PRODUCT: 'true'`, `PRODUCT-name`, …) are not those of the user. */
function ownLabels(labels: Fields): Fields {
  const marks = Object.keys(labels).filter((name) => labels[name] === 'true' && `${name}-name` in labels);
  return Object.fromEntries(
    Object.entries(labels).filter(
      ([name]) =>
        !/^(dev\.)?toolmgr([.-]|$)/.test(name) && !marks.some((mark) => name === mark || name.startsWith(`${mark}-`)),
    ),
  );
}

/** `refillPeriod` as the object of a Go duration, in buckets at any depth. */
function withDurations(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDurations);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'refillPeriod' ? periodOf(member) : withDurations(member),
    ]),
  );
}

function periodOf(value: unknown): unknown {
  const inner = isObject(value) ? (value.Duration ?? value.duration) : value;
  return typeof inner === 'number' ? durationText(inner) : inner;
}

/** Nanoseconds as a Go duration. */
function durationText(nanoseconds: number): string {
  const [size, unit] = UNITS.find(([size]) => nanoseconds % size === 0) ?? [1, 'ns'];
  return `${nanoseconds / size}${unit}`;
}

const UNITS = [
  [3_600_000_000_000, 'h'],
  [60_000_000_000, 'm'],
  [1_000_000_000, 's'],
  [1_000_000, 'ms'],
] as const;
