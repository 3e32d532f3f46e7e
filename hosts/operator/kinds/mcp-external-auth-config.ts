import { kube, onlyWithType } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { configStatus } from './fields.ts';
import { type ClusterPlugin, COLUMNS, defineKind, OF_PLUGIN } from './kind.ts';

interface ExternalAuthSpec {
  readonly type: string;
  /** A value of `type` and what its plugin reads. */
  readonly [member: string]: unknown;
}

/** Every value of `type` with the member of its name, when it has one. */
function specOf(plugins: readonly ClusterPlugin[]): z.ZodType<ExternalAuthSpec, ExternalAuthSpec> {
  const all = plugins
    .flatMap(({ fromCluster }) => Object.entries(fromCluster.externalAuth ?? {}))
    .sort(([, a], [, b]) => a.order - b.order);
  const members = all.flatMap(([name, { schema }]) => (schema === undefined ? [] : [[name, schema] as const]));
  const type = z.enum(all.map(([name]) => name)).describe('which member is set; unauthenticated has none');
  const options = members.map(([name, schema]) => [name, schema.optional()] as const);
  return kube(z.strictObject({ type, ...Object.fromEntries(options) }), {
    rules: members.map(([name]) => onlyWithType(name)),
  }) as unknown as z.ZodType<ExternalAuthSpec, ExternalAuthSpec>;
}

/** MCPExternalAuthConfig: how backends are authenticated to. */
export const mcpExternalAuthConfig = defineKind({
  kind: 'MCPExternalAuthConfig',
  plural: 'mcpexternalauthconfigs',
  singular: 'mcpexternalauthconfig',
  shortNames: ['extauth', 'mcpextauth'],
  summary: 'MCPExternalAuthConfig is a way to authenticate to backends.',
  spec: OF_PLUGIN as unknown as z.ZodType<ExternalAuthSpec, ExternalAuthSpec>,
  specOf,
  status: z.strictObject(configStatus),
  columns: [COLUMNS.type, COLUMNS.valid, COLUMNS.age],
});
