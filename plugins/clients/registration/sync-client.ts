import { withLock } from '@toolmgr/plugins/kit/files';
import { isFault } from '../edit/entry-text.ts';
import type { Entry } from '../entry.ts';
import { editClientFile, UnreadableText } from '../file/edit-client-file.ts';
import { removeMadeFolders } from '../file/replace-client-file.ts';
import { configPath, type UserPlace } from '../table/client-paths.ts';
import type { ClientType } from '../table/client-table.ts';
import { type ClientRecord, readClientRecord, writeClientRecord } from './client-record.ts';
import { maskedDiff } from './masked-diff.ts';
import { type EntryConflict, type EntryPlan, type PlanOptions, planEntries } from './plan-entries.ts';

/** Where clients and the state of toolmgr are. */
export interface ClientPlaces {
  readonly state: string;
  readonly user: UserPlace;
  readonly nowMs: () => number;
}

/** What was written into the file of a client, or would be. */
export interface SyncedClient {
  readonly client: ClientType;
  readonly path: string;
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly removed: readonly string[];
  readonly conflicts: readonly EntryConflict[];
  /** Unified diff; values of the user are masked. */
  readonly diff: string;
}

/** How a client is synchronised. */
export interface SyncOptions extends PlanOptions {
  /** Plans only. */
  readonly dryRun?: boolean;
}

/**
 * Makes the file of a client hold exactly these entries of toolmgr.
 *
 * What will be written is recorded first: after a kill at any moment the next call knows which entries are ours.
 * @throws ClientFileError when the file is not valid or cannot be written; it is unchanged
 */
export async function syncClient(
  { state, user, nowMs }: ClientPlaces,
  type: ClientType,
  wanted: readonly Entry[],
  options: SyncOptions = {},
): Promise<SyncedClient> {
  const path = configPath(type, user);
  const edit = (record: ClientRecord | undefined) => (text: string, isNew: boolean) => {
    const plan = planEntries(type, text, wanted, record, options);
    if (isFault(plan)) throw new UnreadableText(faultOf(path, plan));
    // a file that toolmgr made is removed with its last entry
    const isEmptied = record?.isNew === true && plan.text === '' && text !== '';
    const change = isNew && plan.text === '' ? {} : { text: isEmptied ? undefined : plan.text };
    return { ...change, result: { plan, before: text } };
  };
  const planned = async (record: ClientRecord | undefined) =>
    (await editClientFile(path, edit(record), { nowMs, writes: false })).result;
  if (options.dryRun) {
    const { plan, before } = await planned(await readClientRecord(state, type, path));
    return summary(type, path, plan, before);
  }
  return withLock(state, `.client-${type}`, async () => {
    const record = await readClientRecord(state, type, path);
    const first = await planned(record);
    if (first.plan.text === first.before) {
      await settle(state, type, path, record, first.plan, {});
      return summary(type, path, first.plan, first.before);
    }
    const base = record ?? { path, isNew: false, made: {}, entries: {}, pending: false };
    await writeClientRecord(state, type, {
      ...base,
      made: first.plan.made,
      entries: bothValues(base.entries, first.plan.entries),
      pending: true,
    });
    // a file that toolmgr made has nothing of the user to keep
    const done = await editClientFile(path, edit(record), { nowMs, backsUp: record?.isNew !== true });
    const isGone = record?.isNew === true && done.result.plan.text === '';
    await settle(state, type, path, record, done.result.plan, done);
    if (isGone && record?.madeFolder !== undefined) await removeMadeFolders(path, record.madeFolder);
    return summary(type, path, done.result.plan, done.result.before);
  });
}

/** Writes what the file holds now. */
async function settle(
  state: string,
  type: ClientType,
  path: string,
  record: ClientRecord | undefined,
  plan: EntryPlan,
  { isNew, madeFolder }: { readonly isNew?: boolean; readonly madeFolder?: string },
): Promise<void> {
  const folder = madeFolder ?? record?.madeFolder;
  await writeClientRecord(state, type, {
    path,
    ...(record?.endpoint === undefined ? {} : { endpoint: record.endpoint }),
    isNew: record?.isNew === true || isNew === true,
    ...(folder === undefined ? {} : { madeFolder: folder }),
    made: plan.made,
    entries: { ...plan.entries },
    pending: false,
  });
}

function bothValues(before: ClientRecord['entries'], after: EntryPlan['entries']): ClientRecord['entries'] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...names].map((name) => [name, [...new Set([...(before[name] ?? []), ...(after[name] ?? [])])]]),
  );
}

function summary(client: ClientType, path: string, plan: EntryPlan, before: string): SyncedClient {
  const { added, updated, removed, conflicts } = plan;
  return { client, path, added, updated, removed, conflicts, diff: maskedDiff(path, before, plan.text, plan.own) };
}

function faultOf(path: string, { fault, line, column }: { fault: string; line?: number; column?: number }): string {
  const at = line === undefined ? '' : `:${line}:${column}`;
  return `${path}${at}: ${fault}: the file was not changed`;
}
