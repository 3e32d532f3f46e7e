import { isObject } from '@toolmgr/core';
import type { EnvName, ExternalAuthRefusal } from '@toolmgr/plugins/kit/kubernetes';
import type { z } from 'zod';
import { clusterPlugins } from '../kinds/cluster-plugins.ts';
import type { mcpExternalAuthConfig } from '../kinds/mcp-external-auth-config.ts';
import type { SecretKey } from './lookups.ts';

/** A strategy as the vmcp file and the backends document have it. */
export interface Strategy {
  /** Name in the slot `authStrategies`. */
  readonly type: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Secrets by the names that the options use. */
  readonly secrets: Readonly<Record<string, SecretKey>>;
}

/** A strategy, or why there is none. Reasons: reference of conditions. */
export type Converted =
  | { readonly strategy: Strategy }
  | (ExternalAuthRefusal & {
      /** `disableUpstreamTokenInjection` excludes the strategy. */
      readonly isExcluded?: true;
    });

/** What a conversion needs. */
export interface StrategyContext {
  /** Names of the upstream providers; absent without an authorization server. */
  readonly upstreams: readonly string[] | undefined;
  /** Addresses of the plugins that the vmcp file allows, which are refused by default. */
  readonly allowed: readonly string[];
  /** The authorization server does not send tokens of upstream providers. */
  readonly withoutInjection: boolean;
  /** The name under which the value is read, or why it cannot be. */
  nameSecret(prefix: string, key: SecretKey, by: string): Promise<EnvName>;
}

type Spec = z.output<typeof mcpExternalAuthConfig.spec>;

/** The strategy of an MCPExternalAuthConfig. */
export async function convertExternalAuth(spec: Spec, context: StrategyContext): Promise<Converted> {
  const plugin = (await clusterPlugins()).find(({ fromCluster }) => fromCluster.externalAuth?.[spec.type]);
  const { strategy: type, address = '', fromCluster } = plugin ?? {};
  const member = fromCluster?.externalAuth?.[spec.type];
  if (type === undefined || member === undefined) {
    return failed(`type ${spec.type} is an authorization server for MCPServer and MCPRemoteProxy, no strategy`);
  }
  if (member.schema === undefined) return { strategy: { type, secrets: {} } };
  const given = spec[spec.type];
  if (!isObject(given)) return failed(`${spec.type}: missing, type needs it`);
  const refused = member.refuse?.(given, {
    upstreams: context.upstreams ?? [],
    isAllowed: context.allowed.includes(address),
  });
  if (refused !== undefined) return refused;
  const { secrets = {} } = member;
  const collected: Record<string, SecretKey> = {};
  const names: Record<string, string> = {};
  const problems: string[] = [];
  for (const [ref, prefix] of Object.entries(secrets)) {
    const key = given[ref] as SecretKey | undefined;
    if (key === undefined) continue;
    const found = await context.nameSecret(prefix, key, `${spec.type}.${ref}`);
    if ('problem' in found) problems.push(found.problem);
    else {
      names[ref] = found.name;
      collected[found.name] = key;
    }
  }
  if (problems.length > 0) return failed(problems.join('; '));
  if (member.needsInjection && context.withoutInjection) {
    const message = `${type} cannot be combined with spec.authServerConfig.disableUpstreamTokenInjection`;
    return { reason: 'ConversionFailed', message, isExcluded: true };
  }
  const rest = Object.fromEntries(Object.entries(given).filter(([key]) => !Object.hasOwn(secrets, key)));
  const options = withoutUndefined(member.options?.(rest, names) ?? rest);
  return { strategy: { type, options, secrets: collected } };
}

function failed(message: string): Converted {
  return { reason: 'ConversionFailed', message };
}

/** Members without a value are left out, as YAML and JSON do. */
export function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** The strategy as `outgoingAuth` of a vmcp file writes it: options under a key of the type's name. */
export function inFile({ type, options }: Pick<Strategy, 'type' | 'options'>): Readonly<Record<string, unknown>> {
  if (options === undefined) return { type };
  return { type, [type.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]: options };
}
