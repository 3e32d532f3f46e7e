import { isObject } from '@toolmgr/core';
import { authServerOf } from './auth-server.ts';
import { type CompositeTools, compositeToolsOf } from './composite-tools.ts';
import type { Context, Section } from './context.ts';
import { type IncomingAuth, incomingAuthOf } from './incoming-auth.ts';
import { pluginSections } from './plugin-sections.ts';
import { mountSecrets, sessionStorageOf } from './session-storage.ts';
import { withoutUndefined } from './strategy.ts';
import { telemetryOf } from './telemetry.ts';

/** The vmcp file without `backends` and `outgoingAuth`. */
export interface BaseFile {
  readonly file: Section;
  readonly compositeRefs: CompositeTools['refOf'];
  readonly hashes: {
    readonly oidcConfigHash?: string;
    readonly authzConfigHash?: string;
    readonly telemetryConfigHash?: string;
  };
}

/** Backends are monitored in a cluster unless the config says how: the status would not notice one that stopped. */
function monitored(operational: unknown): unknown {
  return isObject(operational) || operational === undefined ? { failureHandling: {}, ...operational } : operational;
}

/**
 * Makes the parts of the file that do not depend on the group, in the order in which their checks count. `undefined`: a check
 * failed; all have run.
 */
export async function baseFileOf(context: Context): Promise<BaseFile | undefined> {
  const { spec } = context;
  const composite = compositeToolsOf(context);
  const first = await pluginSections(context, true);
  const incoming = await incomingAuthOf(context);
  const authServer = await authServerOf(context, incoming);
  const telemetry = await telemetryOf(context);
  const sessionStorage = await sessionStorageOf(context);
  const others = await pluginSections(context, false);
  if (composite === undefined || first === undefined || incoming === undefined || authServer === undefined) {
    return undefined;
  }
  if (telemetry === undefined || sessionStorage === undefined || others === undefined) return undefined;
  const { config = {} } = spec;
  if (!(await mountSecrets(context, config.audit, 'spec.config.audit'))) return undefined;
  const headers = spec.passthroughHeaders ?? config.passthroughHeaders;
  return {
    file: withoutUndefined({
      ...config,
      // what other parts of the operator make of the group and of references
      ...{ backends: undefined, outgoingAuth: undefined, kubernetes: undefined, compositeToolRefs: undefined },
      operational: monitored(config.operational),
      name: config.name ?? context.name,
      groupRef: spec.groupRef.name,
      incomingAuth: incoming.section,
      authServerConfig: authServer.section,
      passthroughHeaders: headers,
      ...first,
      ...others,
      compositeTools: composite.tools.length === 0 ? undefined : composite.tools,
      sessionStorage: sessionStorage.section,
      telemetry: telemetry.section,
      audit: isObject(config.audit) ? { component: context.name, ...config.audit } : undefined,
    }),
    compositeRefs: composite.refOf,
    hashes: hashesOf(incoming, telemetry),
  };
}

/** Hashes of the configurations that were found. */
export function hashesOf(
  { oidcConfigHash, authzConfigHash }: Partial<IncomingAuth> = {},
  { telemetryConfigHash }: BaseFile['hashes'] = {},
): BaseFile['hashes'] {
  return withoutUndefined({ oidcConfigHash, authzConfigHash, telemetryConfigHash }) as BaseFile['hashes'];
}
