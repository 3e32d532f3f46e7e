import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import type { SkillArtifact } from '../artifact/artifact.ts';
import { UnsafeFolder } from '../folders/held-folder.ts';
import { FolderInTheWay } from '../folders/skill-folder.ts';
import { MAX_REFERENCE_CHARS } from '../lock/locked-skill.ts';
import type { SkillRecord, SkillScope } from '../records/skill-record.ts';
import { makeChange, withSkills } from './change.ts';
import { dependencyTree, type SkillNode } from './dependency-tree.ts';
import { type AcceptedSkill, type PutOptions, withSkillsPut } from './put-skills.ts';
import { isEmptyChange, planChange, readScope, type ScopeState, type WantedScope } from './scope-plan.ts';
import type { Refused, SkillDeps } from './skill-deps.ts';
import { clientsProblem, skillTargets } from './targets.ts';
import { judgeSignature, type TrustRules } from './trust.ts';

/** What to install, and where. */
export interface InstallRequest {
  /** Name, `namespace/name`, OCI or git reference. */
  readonly name: string;
  readonly version?: string;
  /** The user chose the name, and not an agent. Default: no. */
  readonly isNamedByUser?: boolean;
  readonly scope: SkillScope;
  readonly clients?: readonly string[];
  readonly force?: boolean;
  readonly allowUnsigned?: boolean;
  /** Default: `default`. */
  readonly group?: string;
}

const DEFAULT_GROUP = 'default';

/** Installs a skill and what it needs. Everything is written, or nothing. `changed`: names of skills whose record changed. */
export async function installSkill(
  deps: SkillDeps,
  request: InstallRequest,
  signal: AbortSignal,
): Promise<{ readonly record: SkillRecord; readonly changed: readonly string[] } | Problem> {
  const { scope, group = DEFAULT_GROUP } = request;
  if ((await deps.groups.skillsOf(group)) === undefined) return problem('not_found', `there is no group ${group}`);
  const clients = await deps.clients();
  const wrong = clientsProblem(request.clients, clients, scope);
  if (wrong !== undefined) return wrong;
  const before = await readScope(deps.state, scope);
  if ('problem' in before) return before;
  const { version, isNamedByUser = false } = request;
  const asked = { signal, isNamedByUser, ...(version === undefined ? {} : { version }) };
  const resolved = await deps.resolve(request.name, asked);
  if ('problem' in resolved) return resolved;
  const { artifact } = resolved;
  const source = sourceOf(artifact, request);
  if (source.length > MAX_REFERENCE_CHARS)
    return problem('bad_request', `name has more than ${MAX_REFERENCE_CHARS} characters`);
  const tree = await dependencyTree(deps, { artifact, source }, signal);
  if ('problem' in tree) return tree;
  const rules = request.allowUnsigned === true ? { allowUnsigned: true } : {};
  const accepted = await acceptAll(deps, tree, before, scope, rules, signal);
  if ('refused' in accepted) return accepted.refused;
  const targets = await skillTargets(request.clients, clients, scope);
  if ('problem' in targets) return targets;
  const options: PutOptions = {
    scope,
    targets,
    group,
    isAsked: true,
    now: new Date(),
    ...(request.force === true ? { force: true } : {}),
  };
  const changed = await changeScope(deps, scope, (now) => withSkillsPut(now, accepted, options));
  if ('problem' in changed) return changed;
  const record = changed.records.get(artifact.name);
  if (record === undefined) throw new Error(`${artifact.name} has no record after its installation`);
  return { record, changed: changed.changed };
}

/** What an upgrade reads again: the version of the request belongs to it. */
function sourceOf({ kind, resolvedReference, digest, tag }: SkillArtifact, { name, version }: InstallRequest): string {
  const isBare = kind === 'oci' && resolvedReference === `${name}@${digest}`;
  return version !== undefined && isBare && tag === version ? `${name}:${version}` : name;
}

/** Checks the signatures of skills. In user scope there is no lock file that could hold signers: nothing is checked. */
export async function acceptAll(
  deps: SkillDeps,
  nodes: readonly SkillNode[],
  { locked }: ScopeState,
  { scope }: SkillScope,
  rules: TrustRules,
  signal: AbortSignal,
): Promise<readonly AcceptedSkill[] | Refused> {
  if (scope === 'user') return nodes;
  const accepted: AcceptedSkill[] = [];
  for (const node of nodes) {
    const { name } = node.artifact;
    const trust = judgeSignature(name, await deps.verify(node.artifact, signal), locked.get(name), rules);
    if ('refused' in trust) return trust;
    accepted.push({ ...node, trust });
  }
  return accepted;
}

/** Changes a scope from what it is at that moment to what `want` makes of it. Resolves with the records after it. */
export async function changeScope(
  deps: SkillDeps,
  scope: SkillScope,
  want: (now: ScopeState) => WantedScope | Problem,
): Promise<{ readonly records: ScopeState['records']; readonly changed: readonly string[] } | Problem> {
  try {
    return await withSkills(deps, async () => {
      const now = await readScope(deps.state, scope);
      if ('problem' in now) return now;
      const wanted = want(now);
      if ('problem' in wanted) return wanted;
      const change = await planChange(deps, scope, now, wanted);
      if ('problem' in change) return change;
      if (!isEmptyChange(change)) await makeChange(deps, change, ({ name }) => wanted.files.get(name) ?? []);
      const names = [
        ...change.records.map(({ before, after }) => (after ?? before)?.name ?? ''),
        ...change.folders.map(({ name }) => name),
      ];
      return { records: wanted.records, changed: [...new Set(names)].sort() };
    });
  } catch (cause) {
    if (cause instanceof FolderInTheWay) return problem('conflict', `${cause.message}: force replaces it`);
    if (cause instanceof UnsafeFolder) return problem('bad_request', cause.message);
    throw cause;
  }
}
