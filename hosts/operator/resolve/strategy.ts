import { durationMs } from '@toolmgr/plugins/kit/settings';
import type { z } from 'zod';
import type { mcpExternalAuthConfig } from '../kinds/mcp-external-auth-config.ts';
import type { SecretKey } from './lookups.ts';
import type { EnvName } from './pod-parts.ts';

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
  | {
      readonly reason: 'ConversionFailed' | 'AmbiguousSubjectProvider' | 'EnterpriseRequired';
      readonly message: string;
      /** `disableUpstreamTokenInjection` excludes the strategy. */
      readonly isExcluded?: true;
    };

/** What a conversion needs. */
export interface StrategyContext {
  /** Names of the upstream providers; absent without an authorization server. */
  readonly upstreams: readonly string[] | undefined;
  /** Whether the vmcp file switches `obo` on. */
  readonly allowsObo: boolean;
  /** The name under which the value is read, or why it cannot be. */
  nameSecret(prefix: string, key: SecretKey, by: string): Promise<EnvName>;
}

type Spec = z.output<typeof mcpExternalAuthConfig.spec>;

/** The strategy of an MCPExternalAuthConfig. */
export async function convertExternalAuth(spec: Spec, context: StrategyContext): Promise<Converted> {
  const collected: Record<string, SecretKey> = {};
  const problems: string[] = [];
  const named: Named = async (prefix, key, by) => {
    if (key === undefined) return undefined;
    const found = await context.nameSecret(prefix, key, by);
    if ('problem' in found) {
      problems.push(found.problem);
      return undefined;
    }
    collected[found.name] = key;
    return found.name;
  };
  const made = await CONVERSIONS[spec.type](spec, named, context);
  if ('reason' in made) return made;
  if (problems.length > 0) return failed(problems.join('; '));
  const { type, options } = made;
  const given = options === undefined ? {} : { options: withoutUndefined(options) };
  return { strategy: { type, ...given, secrets: collected } };
}

type Named = (prefix: string, key: SecretKey | undefined, by: string) => Promise<string | undefined>;
type Made =
  | { readonly type: string; readonly options?: Readonly<Record<string, unknown>> }
  | Exclude<Converted, { strategy: Strategy }>;
type Conversion = (spec: Spec, named: Named, context: StrategyContext) => Promise<Made>;

const CONVERSIONS: Readonly<Record<Spec['type'], Conversion>> = {
  async unauthenticated() {
    return { type: 'unauthenticated' };
  },
  async embeddedAuthServer() {
    return failed('type embeddedAuthServer is an authorization server for MCPServer and MCPRemoteProxy, no strategy');
  },
  async headerInjection({ headerInjection: given }, named) {
    if (given === undefined) return absent('headerInjection');
    const headerValueEnv = await named(
      'TOOLMGR_HEADER_INJECTION_VALUE',
      given.valueSecretRef,
      'headerInjection.valueSecretRef',
    );
    return { type: 'header_injection', options: { headerName: given.headerName, headerValueEnv } };
  },
  async bearerToken({ bearerToken: given }, named) {
    if (given === undefined) return absent('bearerToken');
    const headerValueEnv = await named('TOOLMGR_BEARER_TOKEN', given.tokenSecretRef, 'bearerToken.tokenSecretRef');
    return {
      type: 'header_injection',
      options: { headerName: 'Authorization', headerValueEnv, valuePrefix: 'Bearer ' },
    };
  },
  async tokenExchange({ tokenExchange: given }, named) {
    if (given === undefined) return absent('tokenExchange');
    const { clientSecretRef, externalTokenHeaderName: headerName, ...rest } = given;
    const clientSecretEnv = await named(
      'TOOLMGR_TOKEN_EXCHANGE_CLIENT_SECRET',
      clientSecretRef,
      'tokenExchange.clientSecretRef',
    );
    return { type: 'token_exchange', options: { ...rest, headerName, clientSecretEnv } };
  },
  async awsSts({ awsSts: given }) {
    return given === undefined ? absent('awsSts') : { type: 'aws_sts', options: { ...given } };
  },
  async upstreamInject({ upstreamInject: given }) {
    return given === undefined ? absent('upstreamInject') : { type: 'upstream_inject', options: { ...given } };
  },
  async obo({ obo: given }, named, { allowsObo }) {
    if (given === undefined) return absent('obo');
    if (!allowsObo) {
      const message =
        'obo is refused as enterprise-required; to use it, add {use: outgoing-auth/obo, with: {allow: true}} to spec.config.plugins';
      return { reason: 'EnterpriseRequired', message };
    }
    const { tenantId, authority = 'https://login.microsoftonline.com', cacheSkew, clientSecretRef, ...rest } = given;
    if (tenantId === undefined) return failed('obo.tenantId: missing, expected a tenant');
    const clientSecretEnv = await named('TOOLMGR_OBO_CLIENT_SECRET', clientSecretRef, 'obo.clientSecretRef');
    const skewMs = cacheSkew === undefined ? undefined : durationMs(cacheSkew);
    const tokenUrl = `${authority.replace(/\/+$/, '')}/${tenantId}/oauth2/v2.0/token`;
    const cacheSkewSeconds = skewMs === undefined ? undefined : Math.ceil(skewMs / 1000);
    return { type: 'obo', options: { ...rest, tokenUrl, clientSecretEnv, cacheSkewSeconds } };
  },
  async xaa({ xaa: given }, named, { upstreams = [] }) {
    if (given === undefined) return absent('xaa');
    if (given.subjectProviderName === undefined && upstreams.length > 1) {
      const message = `xaa.subjectProviderName: missing, the authorization server has several providers: ${upstreams.join(', ')}`;
      return { reason: 'AmbiguousSubjectProvider', message };
    }
    const { idpClientSecretRef, targetClientSecretRef, ...rest } = given;
    const idpClientSecretEnv = await named(
      'TOOLMGR_XAA_IDP_CLIENT_SECRET',
      idpClientSecretRef,
      'xaa.idpClientSecretRef',
    );
    const targetClientSecretEnv = await named(
      'TOOLMGR_XAA_TARGET_CLIENT_SECRET',
      targetClientSecretRef,
      'xaa.targetClientSecretRef',
    );
    return { type: 'xaa', options: { ...rest, idpClientSecretEnv, targetClientSecretEnv } };
  },
};

function failed(message: string): Made & Converted {
  return { reason: 'ConversionFailed', message };
}

function absent(member: string): Made {
  return failed(`${member}: missing, type needs it`);
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
