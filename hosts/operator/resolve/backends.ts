import { completeKind } from '../kinds/cluster-plugins.ts';
import { mcpExternalAuthConfig } from '../kinds/mcp-external-auth-config.ts';
import type { Context } from './context.ts';
import { conditionSuffix, envName } from './env-name.ts';
import type { SecretKey } from './lookups.ts';
import type { Candidate } from './members.ts';
import { caProblem } from './pod-parts.ts';
import { type Converted, convertExternalAuth, type Strategy, type StrategyContext } from './strategy.ts';

/** A backend with its credentials, or why it is left out. */
export interface ResolvedBackend {
  readonly candidate: Candidate;
  /** Absent: no credentials. */
  readonly strategy?: Strategy;
  readonly authConfigRef?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Names of secrets by header. */
  readonly headersEnv: Readonly<Record<string, string>>;
  /** Secrets by name: those of the strategy and those of headers. */
  readonly secrets: Readonly<Record<string, SecretKey>>;
  /** PEM text with CA certificates. */
  readonly caText?: string;
  readonly problem?: string;
  /** The condition that has the problem. */
  readonly condition?: string;
}

/** Conditions about single backends; more are told by BackendsDiscovered alone. */
const MAX_CONDITIONS = 200;

/**
 * The backends with the strategy that each one gets: the override in `spec.outgoingAuth.backends`, else its own configuration, else
 * the default, else none. With the source `inline` the own one is used only when the default, or the override, is `discovered`.
 *
 * A backend whose strategy cannot be made is left out.
 */
export async function resolveBackends(
  candidates: readonly Candidate[],
  context: Context,
  strategyContext: Pick<StrategyContext, 'upstreams' | 'allowed'>,
): Promise<readonly ResolvedBackend[]> {
  const convert = createConverter(context, strategyContext);
  await tellReferences(candidates, context, convert);
  const resolved: ResolvedBackend[] = [];
  for (const candidate of candidates) resolved.push(await resolveOne(candidate, context, convert));
  return resolved;
}

type Convert = (name: string, by: string) => Promise<Converted>;

/** Converts each configuration once. */
function createConverter(
  { lookups, spec }: Context,
  strategyContext: Pick<StrategyContext, 'upstreams' | 'allowed'>,
): Convert {
  const converted = new Map<string, Promise<Converted>>();
  const withoutInjection = spec.authServerConfig?.disableUpstreamTokenInjection === true;
  const conversion = async (name: string): Promise<Converted> => {
    const found = lookups.find(await completeKind(mcpExternalAuthConfig), name, 'externalAuthConfigRef');
    if (found.is !== 'valid') return { reason: 'ConversionFailed', message: found.message };
    const at = `MCPExternalAuthConfig ${name}`;
    const made = await convertExternalAuth(found.spec, {
      ...strategyContext,
      withoutInjection,
      async nameSecret(prefix, key, by) {
        const value = await lookups.secret(key, `spec.${by}`);
        return 'problem' in value ? value : { name: envName(prefix, name) };
      },
    });
    return 'reason' in made ? { ...made, message: `${at}: ${made.message}` } : made;
  };
  return (name) => {
    const known = converted.get(name) ?? conversion(name);
    converted.set(name, known);
    return known;
  };
}

/** The conditions of all configurations that are used; the failed ones first, up to {@link MAX_CONDITIONS}. */
async function tellReferences(candidates: readonly Candidate[], context: Context, convert: Convert): Promise<void> {
  const { spec, findings } = context;
  const uses: { readonly type: string; readonly ref: string; readonly note: string }[] = [];
  const { default: byDefault, backends: overrides = {} } = spec.outgoingAuth ?? {};
  const names = new Set(candidates.map(({ name }) => name));
  if (byDefault?.externalAuthConfigRef !== undefined) {
    uses.push({ type: 'DefaultAuthConfig', ref: byDefault.externalAuthConfigRef.name, note: '' });
  }
  for (const name of Object.keys(overrides).sort()) {
    const ref = overrides[name]?.externalAuthConfigRef?.name;
    const note = names.has(name) ? '' : `; no backend of the group is named ${name}`;
    if (ref !== undefined) uses.push({ type: `BackendAuthConfig-${conditionSuffix(name)}`, ref, note });
  }
  for (const candidate of candidates) {
    const { name, authConfigRef: ref } = candidate;
    if (ref === undefined || sourceOf(candidate, context) !== 'own') continue;
    uses.push({ type: `DiscoveredAuthConfig-${conditionSuffix(name)}`, ref, note: '' });
  }
  const ofSpec = uses.filter(({ type }) => !type.startsWith('DiscoveredAuthConfig'));
  const told = await Promise.all(uses.map(async (use) => ({ ...use, made: await convert(use.ref, use.type) })));
  for (const { made } of told.slice(0, ofSpec.length)) {
    if (!('isExcluded' in made)) continue;
    findings.fail('AuthServerConfigValidated', 'AuthServerConfigInvalid', `spec.outgoingAuth: ${made.message}`);
  }
  const inOrder = [...told.filter(({ made }) => 'reason' in made), ...told.filter(({ made }) => 'strategy' in made)];
  for (const { type, ref, note, made } of inOrder.slice(0, MAX_CONDITIONS)) {
    if ('reason' in made) findings.tell(type, 'False', made.reason, made.message + note);
    else
      findings.tell(
        type,
        'True',
        'ConversionSucceeded',
        `MCPExternalAuthConfig ${ref} is ${made.strategy.type}${note}`,
      );
  }
}

type Source = 'override' | 'own' | 'default' | 'none';

/** Where the strategy of a backend comes from. */
function sourceOf({ name, authConfigRef }: Candidate, { spec }: Context): Source {
  const { source = 'discovered', default: byDefault, backends: overrides = {} } = spec.outgoingAuth ?? {};
  const override = Object.hasOwn(overrides, name) ? overrides[name] : undefined;
  const hasOwn = authConfigRef !== undefined;
  if (override !== undefined) {
    if (override.type === 'externalAuthConfigRef') return 'override';
    return hasOwn ? 'own' : 'none';
  }
  const hasDefault = byDefault?.type === 'externalAuthConfigRef';
  if (hasOwn && (source === 'discovered' || !hasDefault)) return 'own';
  return hasDefault ? 'default' : 'none';
}

async function resolveOne(candidate: Candidate, context: Context, convert: Convert): Promise<ResolvedBackend> {
  const { name } = candidate;
  const base = { candidate, headers: {}, headersEnv: {}, secrets: {} };
  const source = sourceOf(candidate, context);
  const ref = refOf(candidate, source, context);
  const shown = ref === undefined ? {} : { authConfigRef: ref };
  if (candidate.problem !== undefined) return { ...base, ...shown, problem: candidate.problem };
  const made = ref === undefined ? undefined : await convert(ref, name);
  if (made !== undefined && 'reason' in made) {
    return { ...base, ...shown, problem: made.message, condition: conditionOf(candidate, source) };
  }
  const extras = await extrasOf(candidate, context);
  if ('problem' in extras) return { ...base, ...shown, problem: extras.problem };
  const strategy = made?.strategy;
  return {
    ...base,
    ...shown,
    ...extras,
    ...(strategy === undefined || strategy.type === 'unauthenticated' ? {} : { strategy }),
    secrets: { ...strategy?.secrets, ...extras.secrets },
    condition: conditionOf(candidate, source),
  };
}

function refOf({ name, authConfigRef }: Candidate, source: Source, { spec }: Context): string | undefined {
  if (source === 'override') return spec.outgoingAuth?.backends?.[name]?.externalAuthConfigRef?.name;
  if (source === 'default') return spec.outgoingAuth?.default?.externalAuthConfigRef?.name;
  return source === 'own' ? authConfigRef : undefined;
}

function conditionOf({ name }: Candidate, source: Source): string {
  if (source === 'override') return `BackendAuthConfig-${conditionSuffix(name)}`;
  return source === 'default' ? 'DefaultAuthConfig' : `DiscoveredAuthConfig-${conditionSuffix(name)}`;
}

type Extras = Pick<ResolvedBackend, 'headers' | 'headersEnv' | 'secrets' | 'caText'>;

/** Headers and CA certificates of an entry. */
async function extrasOf(
  { name, headerForward, caBundle }: Candidate,
  { lookups }: Context,
): Promise<Extras | { readonly problem: string }> {
  const headersEnv: Record<string, string> = {};
  const secrets: Record<string, SecretKey> = {};
  for (const { headerName, valueSecretRef } of headerForward?.addHeadersFromSecret ?? []) {
    const value = await lookups.secret(valueSecretRef, `headerForward.addHeadersFromSecret ${headerName}`);
    if ('problem' in value) return value;
    const variable = envName('TOOLMGR_SECRET_HEADER_FORWARD', `${headerName.toLowerCase()}--${name}`);
    headersEnv[headerName] = variable;
    secrets[variable] = valueSecretRef;
  }
  const headers = headerForward?.addPlaintextHeaders ?? {};
  if (caBundle === undefined) return { headers, headersEnv, secrets };
  const found = await lookups.configMap(caBundle, 'caBundleRef');
  const problem = caProblem(found, caBundle.name, caBundle.key, 'caBundleRef');
  if (problem !== undefined) return { problem };
  return { headers, headersEnv, secrets, ...('text' in found ? { caText: found.text } : {}) };
}
