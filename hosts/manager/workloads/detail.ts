import { createHash } from 'node:crypto';
import { type RunConfig, secretNameOf, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { secretTargetOf } from '../../workloads/config/collect-secrets.ts';
import {
  API_FIELDS,
  type ApiField,
  emptyValue,
  isReference,
  placeOf,
  shownMembers,
} from '../../workloads/fields/member-schemas.ts';
import { summaryOf } from '../../workloads/planning/summary.ts';
import { hide, valueAt } from './redaction.ts';
import type { WorkloadListItem } from './shapes.ts';

/** `WorkloadDetail` of the contract: every member is there; what a workload does not have is empty, 0 or false. */
export const workloadDetail = z
  .strictObject({ name: z.string(), ...shownMembers() })
  .describe('a workload with its configuration');

/** What a configuration calls its server. */
export function imageOf({ image, process: program }: RunConfig): string {
  return image ?? program?.target ?? '';
}

/** Converts a configuration. `port`: that of the last start. */
export function detailOf(config: RunConfig, port = 0): Readonly<Record<string, unknown>> {
  const overrides = Object.entries(config.tools_override ?? {});
  return {
    name: config.name,
    ...shownFields(config),
    image: imageOf(config),
    proxy_port: config.port || port,
    secrets: (config.secrets ?? []).map(refOf),
    tools_override: Object.fromEntries(
      overrides.map(([tool, { name = '', description = '' }]) => [tool, { name, description }]),
    ),
    registry: config.registry_server_name === undefined ? '' : 'default',
  };
}

/** The members that show one field each. */
function shownFields(config: RunConfig): Readonly<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  for (const field of API_FIELDS.filter(({ stored }) => stored !== undefined)) {
    const value = shownValue(field, valueAt(config, field.stored));
    const [section, name] = placeOf(field.body.name);
    if (section === '') shown[name] = value;
    else if (value !== undefined) shown[section] = { ...(shown[section] as object), [name]: value };
  }
  return shown;
}

function shownValue(field: ApiField, value: unknown): unknown {
  if (value === undefined) return emptyValue(field);
  if (field.as === 'secret') return isReference(field) ? refOf(String(value)) : secretNameOf(String(value));
  return field.hidden === undefined ? value : hide(field.hidden, value);
}

function refOf(reference: string): { name: string; target: string } {
  return { name: secretNameOf(reference), target: secretTargetOf(reference) };
}

/** Converts a record to the item of a list. */
export function listItemOf(record: WorkloadRecord): WorkloadListItem {
  const { target: _, pid: __, restarts: ___, status_context = '', ...summary } = summaryOf(record);
  return {
    ...summary,
    status: summary.status as WorkloadListItem['status'],
    status_context,
    port: summary.port ?? record.config?.port ?? 0,
    labels: { ...summary.labels },
    tools: [...summary.tools],
    created_at: summary.created_at ?? '',
    started_at: summary.started_at ?? '',
  };
}

/** Entity tag of a configuration: another one after each change. */
export function etagOf(config: RunConfig): string {
  const { remote_auth_config: _, ...stable } = config; // tokens of a login change without an edit
  return `"${createHash('sha256').update(JSON.stringify(stable)).digest('base64url').slice(0, 22)}"`;
}
