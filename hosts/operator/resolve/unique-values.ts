import { isObject } from '@toolmgr/core';
import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';

/** Values that two VirtualMCPServers of a namespace must not share. */
export const UNIQUE_FIELDS = {
  /** A token for one server would be accepted by the other. */
  audience: {
    path: 'spec.incomingAuth.oidcConfigRef.audience',
    condition: 'OIDCConfigRefValidated',
    reason: 'AudienceNotUnique',
  },
  /** Telemetry of the servers could not be told apart. */
  serviceName: {
    path: 'spec.telemetryConfigRef.serviceName',
    condition: 'TelemetryConfigRefValidated',
    reason: 'ServiceNameNotUnique',
  },
} as const;

export type UniqueField = keyof typeof UNIQUE_FIELDS;

const NAMES = Object.keys(UNIQUE_FIELDS) as readonly UniqueField[];

/** The values of a VirtualMCPServer, which may be unchecked. An audience without OIDC has no effect. */
export function uniqueValuesOf(server: KubeObject): readonly (readonly [UniqueField, string])[] {
  const { spec } = server as KubeObject & { readonly spec?: unknown };
  if (!isObject(spec)) return [];
  const isOidc = isObject(spec.incomingAuth) && spec.incomingAuth.type === 'oidc';
  return NAMES.filter((field) => field !== 'audience' || isOidc).flatMap((field) => {
    const [, ...keys] = UNIQUE_FIELDS[field].path.split('.');
    const value = keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), spec);
    return typeof value === 'string' ? [[field, value] as const] : [];
  });
}
