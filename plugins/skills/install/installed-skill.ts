import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { isSkillName, SKILL_NAME_RULE } from '../artifact/skill-name.ts';
import { readLock } from '../lock/lock-file.ts';
import type { LockedProvenance } from '../lock/locked-skill.ts';
import {
  readRecord,
  readRecords,
  recordKey,
  type SkillRecord,
  type SkillScope,
  scopeOf,
} from '../records/skill-record.ts';
import { unfinishedSkills } from './change.ts';
import { notInstalled } from './uninstall.ts';

/** An installed skill as the API has it. Source: workload API spec §2 InstalledSkill; `provenance` and `unsigned` are further ones. */
export interface InstalledSkill {
  readonly metadata: {
    readonly name: string;
    readonly description: string;
    readonly version?: string;
    readonly author?: string;
    readonly tags?: readonly string[];
  };
  readonly scope: 'user' | 'project';
  readonly project_root?: string;
  /** `pending`: it is changed at this moment. `failed`: a change was interrupted, and the next command reverts it. */
  readonly status: 'installed' | 'pending' | 'failed';
  readonly reference: string;
  readonly tag?: string;
  readonly digest: string;
  readonly clients: readonly string[];
  readonly dependencies: readonly { readonly name: string; readonly reference: string; readonly digest: string }[];
  readonly installed_at: string;
  /** Whether the lock file of its project has it. */
  readonly managed: boolean;
  readonly group?: string;
  readonly provenance?: Readonly<Record<string, string | boolean>>;
  readonly unsigned?: boolean;
}

/** Filters of a list; all of them must match. */
export interface SkillFilter {
  readonly scope?: 'user' | 'project';
  readonly client?: string;
  readonly projectRoot?: string;
  readonly group?: string;
}

/** The installed skills that match, sorted by name, then scope and project. Read-only. */
export async function listSkills(state: string, filter: SkillFilter = {}): Promise<readonly InstalledSkill[]> {
  const records = (await readRecords(state)).filter((record) => matches(record, filter));
  return views(state, records);
}

/** One installed skill. */
export async function skillDetails(
  state: string,
  name: string,
  scope: SkillScope,
): Promise<{ readonly skill: InstalledSkill } | Problem> {
  if (!isSkillName(name))
    return problem('bad_request', `${JSON.stringify(name)} is not a name of a skill: ${SKILL_NAME_RULE}`);
  const record = await readRecord(state, recordKey(scope, name));
  if (record === undefined) return notInstalled(name, scope);
  const [skill] = await views(state, [record]);
  return skill === undefined ? notInstalled(name, scope) : { skill };
}

/** The view of one record. */
export async function installedSkill(state: string, record: SkillRecord): Promise<InstalledSkill> {
  const [skill] = await views(state, [record]);
  return skill as InstalledSkill;
}

function matches(record: SkillRecord, { scope, client, projectRoot, group }: SkillFilter): boolean {
  return (
    (scope === undefined || record.scope === scope) &&
    (client === undefined || record.clients.includes(client)) &&
    (projectRoot === undefined || record.root === projectRoot) &&
    (group === undefined || record.group === group)
  );
}

async function views(state: string, records: readonly SkillRecord[]): Promise<readonly InstalledSkill[]> {
  const unfinished = await unfinishedSkills(state);
  const managed = new Map<string, ReadonlySet<string>>();
  for (const root of new Set(records.flatMap((record) => record.root ?? []))) {
    // a project that was removed, or a lock file with a fault: nothing is managed
    const lock = await readLock(root);
    managed.set(root, new Set('problem' in lock ? [] : lock.skills.map(({ name }) => name)));
  }
  return records.map((record) => {
    const change = unfinished.get(recordKey(scopeOf(record), record.name));
    const status = change === undefined ? 'installed' : change.isRunning ? 'pending' : 'failed';
    return viewOf(record, status, record.root !== undefined && managed.get(record.root)?.has(record.name) === true);
  });
}

function viewOf(record: SkillRecord, status: InstalledSkill['status'], managed: boolean): InstalledSkill {
  const { name, description, version, author, tags, root, tag, group, signer, unsigned } = record;
  return {
    metadata: {
      name,
      description,
      ...(version === undefined ? {} : { version }),
      ...(author === undefined ? {} : { author }),
      ...(tags === undefined ? {} : { tags }),
    },
    scope: record.scope,
    ...(root === undefined ? {} : { project_root: root }),
    status,
    reference: record.reference,
    ...(tag === undefined ? {} : { tag }),
    digest: record.digest,
    clients: record.clients,
    dependencies: record.dependencies,
    installed_at: record.installedAt,
    managed,
    ...(group === undefined ? {} : { group }),
    ...(signer === undefined ? {} : { provenance: provenanceView(signer) }),
    ...(unsigned === undefined ? {} : { unsigned }),
  };
}

/** Who signed, with the names of the API. */
export function provenanceView(claims: LockedProvenance): Readonly<Record<string, string | boolean>> {
  return Object.fromEntries(
    PROVENANCE.flatMap(([key, name]) => {
      const value = claims[key];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const PROVENANCE = [
  ['signerIdentity', 'signer_identity'],
  ['certIssuer', 'cert_issuer'],
  ['repositoryUri', 'repository_uri'],
  ['repositoryRef', 'repository_ref'],
  ['runnerEnvironment', 'runner_environment'],
  ['sigstoreUrl', 'sigstore_url'],
  ['provisional', 'provisional'],
] as const;
