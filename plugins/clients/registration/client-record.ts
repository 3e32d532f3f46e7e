import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, whenAbsent } from '@toolmgr/plugins/kit/files';
import { workloadName } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { CLIENT_TYPES, type ClientType, isClientType } from '../table/client-table.ts';

/** A text that is not a URL is refused by another check. */
function hasNoPassword(text: string): boolean {
  const url = URL.parse(text);
  return url === null || (url.username === '' && url.password === '');
}

/** One entry instead of one for each workload, e.g. the MCP endpoint of a group. */
export const endpointEntry = z.strictObject({
  name: workloadName.default('toolmgr').describe('name of the entry'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .refine(hasNoPassword, 'expected a URL without a password')
    .describe('MCP endpoint, e.g. of a group: http://127.0.0.1:8080/mcp/groups/default'),
  transport: z.enum(['streamable-http', 'sse']).default('streamable-http'),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('headers; each value has one reference, a dollar sign and the name of an environment variable in braces'),
});

/** See {@link endpointEntry}. */
export type EndpointEntry = z.output<typeof endpointEntry>;

const clientRecord = z.strictObject({
  format: z.literal(1),
  /** The file that was written. */
  path: z.string(),
  endpoint: endpointEntry.optional(),
  /** The file, and folders from this one on, were made by toolmgr. */
  isNew: z.boolean().default(false),
  madeFolder: z.string().optional(),
  made: z.strictObject({ root: z.string().optional(), container: z.string().nullable().optional() }).default({}),
  /** What was written: each entry as sorted JSON. During a change both the old and the new value. */
  entries: z.record(z.string(), z.array(z.string()).min(1)).default({}),
  /** The change was not finished. */
  pending: z.boolean().default(false),
});

/** What toolmgr wrote into the file of a client, so that it changes and removes nothing else. */
export type ClientRecord = Omit<z.output<typeof clientRecord>, 'format'>;

function folderOf(state: string): string {
  return join(state, 'clients');
}

/** The record of a client for a file; `undefined` when nothing was written there. A damaged record counts as none. */
export async function readClientRecord(
  state: string,
  type: ClientType,
  path: string,
): Promise<ClientRecord | undefined> {
  const text = await readFile(join(folderOf(state), `${type}.json`), 'utf8').catch(whenAbsent(undefined));
  const read = text === undefined ? undefined : clientRecord.safeParse(parsed(text));
  // another home folder is another user's place: its entries are not ours
  return read?.success && read.data.path === path ? read.data : undefined;
}

/** Writes the record; one without entries and endpoint is removed. */
export async function writeClientRecord(state: string, type: ClientType, record: ClientRecord): Promise<void> {
  const path = join(folderOf(state), `${type}.json`);
  if (Object.keys(record.entries).length === 0 && record.endpoint === undefined && !record.pending)
    return rm(path, { force: true });
  await mkdir(folderOf(state), { recursive: true, mode: 0o700 });
  await atomicWrite(path, `${JSON.stringify({ ...record, format: 1 }, undefined, 2)}\n`);
}

/** The clients with a record, in the order of the table. */
export async function recordedClients(state: string): Promise<readonly ClientType[]> {
  const files = await readdir(folderOf(state)).catch(() => []);
  const names = new Set(files.map((file) => file.replace(/\.json$/, '')).filter(isClientType));
  return CLIENT_TYPES.filter((type) => names.has(type));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
