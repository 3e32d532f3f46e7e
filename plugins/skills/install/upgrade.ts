import { explainCause } from '@toolmgr/core';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import type { SkillArtifact } from '../artifact/artifact.ts';
import type { LockedSkill } from '../lock/locked-skill.ts';
import type { SkillScope } from '../records/skill-record.ts';
import { dependencyTree } from './dependency-tree.ts';
import { acceptAll, changeScope } from './install.ts';
import { type AcceptedSkill, withSkillsPut } from './put-skills.ts';
import { readScope, type ScopeState } from './scope-plan.ts';
import { type Refused, refusedBy, type SkillDeps, type SkillReason } from './skill-deps.ts';
import { reasonOfFault, targetsOf } from './sync.ts';
import { type SkillTarget, skillTargets } from './targets.ts';

/** What to upgrade. */
export interface UpgradeRequest {
  readonly root: string;
  /** Default: every skill of the lock file. */
  readonly names?: readonly string[];
  /** Computes outcomes and installs nothing. */
  readonly preview?: boolean;
  /** As `preview`; callers treat a change as a failure. */
  readonly failOnChanges?: boolean;
  readonly allowRefChange?: boolean;
  readonly allowSignerChange?: boolean;
  readonly clients?: readonly string[];
}

/** Outcomes of an upgrade. Source: reference workload-api §4.4. */
export const UPGRADE_STATUSES = [
  'upgraded',
  'up-to-date',
  'not-upgradable',
  'ref-change-blocked',
  'signer-change-blocked',
  'failed',
] as const;

/** What an upgrade did with one skill. With a preview, `upgraded` means that there is something newer. */
export interface UpgradeOutcome {
  readonly name: string;
  readonly status: (typeof UPGRADE_STATUSES)[number];
  readonly old_digest: string;
  readonly new_digest?: string;
  readonly new_resolved_reference?: string;
  readonly new_signer_identity?: string;
  readonly error?: string;
  readonly reason?: SkillReason;
}

/** Reads the sources of the skills of a project again and installs what is newer. One that fails does not stop the others. */
export async function upgradeSkills(
  deps: SkillDeps,
  request: UpgradeRequest,
  signal: AbortSignal,
): Promise<{ readonly outcomes: readonly UpgradeOutcome[] } | Problem> {
  const scope: SkillScope = { scope: 'project', root: request.root };
  const now = await readScope(deps.state, scope);
  if ('problem' in now) return now;
  const unknown = request.names?.filter((name) => !now.locked.has(name)) ?? [];
  if (unknown.length > 0) return problem('not_found', `the lock file has no skill ${unknown.join(', ')}`);
  const clients = await deps.clients();
  const given = request.clients === undefined ? undefined : await skillTargets(request.clients, clients, scope);
  if (given !== undefined && 'problem' in given) return given;
  const chosen = [...now.locked.values()].filter(({ name }) => request.names?.includes(name) ?? true);
  const outcomes: UpgradeOutcome[] = [];
  for (const entry of chosen) {
    signal.throwIfAborted();
    const record = now.records.get(entry.name);
    const targets = async () =>
      given ?? (record === undefined ? await skillTargets(undefined, clients, scope) : targetsOf(record));
    outcomes.push(await upgradeOne(deps, { entry, scope, targets }, request, signal));
  }
  return { outcomes };
}

interface UpgradeItem {
  readonly entry: LockedSkill;
  readonly scope: SkillScope;
  readonly targets: () => Promise<readonly SkillTarget[] | Problem>;
}

async function upgradeOne(
  deps: SkillDeps,
  item: UpgradeItem,
  request: UpgradeRequest,
  signal: AbortSignal,
): Promise<UpgradeOutcome> {
  const { entry, scope } = item;
  const known = { name: entry.name, old_digest: entry.digest };
  try {
    if (isPinned(entry.source)) return { ...known, status: 'not-upgradable' };
    const resolved = await deps.resolve(entry.source, { signal });
    if ('problem' in resolved) return failed(known, refusedBy(resolved));
    const { artifact } = resolved;
    if (artifact.name !== entry.name)
      return failed(known, refusedBy(problem('unprocessable', `${entry.source} is the skill ${artifact.name} now`)));
    const next = { ...known, new_digest: artifact.digest, new_resolved_reference: artifact.resolvedReference };
    const [from, to] = [repositoryOf(entry.resolvedReference), repositoryOf(artifact.resolvedReference)];
    if (from !== to && request.allowRefChange !== true)
      return {
        ...next,
        status: 'ref-change-blocked',
        error: `${entry.name} comes from ${to} now, and from ${from} before`,
      };
    if (artifact.digest === entry.digest && from === to) return { ...known, status: 'up-to-date' };
    const latest = await readScope(deps.state, scope);
    if ('problem' in latest) return failed(known, refusedBy(latest));
    const root = { artifact, source: entry.source, parents: [] };
    const rules = request.allowSignerChange === true ? { allowSignerChange: true } : {};
    const judged = await acceptAll(deps, [root], latest, scope, rules, signal);
    if ('refused' in judged) return await blocked(deps, next, judged, artifact, signal);
    const identity = identityOf(judged, latest, entry.name);
    const done = { ...next, status: 'upgraded', ...(identity && { new_signer_identity: identity }) } as const;
    if (request.preview === true || request.failOnChanges === true) return done;
    const refused = await install(deps, item, judged, latest, signal);
    return refused === undefined ? done : failed(next, refused);
  } catch (cause) {
    signal.throwIfAborted();
    return { ...known, status: 'failed', error: explainCause(cause), reason: reasonOfFault(cause) };
  }
}

async function install(
  deps: SkillDeps,
  { entry, scope, targets }: UpgradeItem,
  judged: readonly AcceptedSkill[],
  latest: ScopeState,
  signal: AbortSignal,
): Promise<Refused | undefined> {
  const chosen = await targets();
  if ('problem' in chosen) return refusedBy(chosen);
  const [root] = judged;
  if (root === undefined) return undefined;
  const tree = await dependencyTree(deps, root, signal);
  if ('problem' in tree) return refusedBy(tree);
  const children = await acceptAll(deps, tree.slice(1), latest, scope, {}, signal);
  if ('refused' in children) return children;
  const put = await changeScope(deps, scope, (now) =>
    now.locked.get(entry.name)?.digest === entry.digest
      ? withSkillsPut(now, [root, ...children], { scope, targets: chosen, isAsked: false, now: new Date() })
      : problem('conflict', 'the lock file was changed at the same time: try again'),
  );
  return 'problem' in put ? refusedBy(put) : undefined;
}

async function blocked(
  deps: SkillDeps,
  next: Omit<UpgradeOutcome, 'status'>,
  refused: Refused,
  artifact: SkillArtifact,
  signal: AbortSignal,
): Promise<UpgradeOutcome> {
  if (!SIGNER_REASONS.has(refused.reason)) return failed(next, refused);
  const found = await deps.verify(artifact, signal);
  return {
    ...failed(next, refused),
    status: 'signer-change-blocked',
    ...(found.kind === 'signed' ? { new_signer_identity: found.signer.identity } : {}),
  };
}

const SIGNER_REASONS: ReadonlySet<SkillReason> = new Set([
  'signer-mismatch',
  'provenance-field-mismatch',
  'unsigned-rejected',
]);

function failed(known: Omit<UpgradeOutcome, 'status'>, { refused, reason }: Refused): UpgradeOutcome {
  return { ...known, status: 'failed', error: refused.detail, reason };
}

/** The new signer when it is another one than before. */
function identityOf([skill]: readonly AcceptedSkill[], { locked }: ScopeState, name: string): string | undefined {
  const trust = skill?.trust;
  if (trust === undefined || !('provenance' in trust)) return undefined;
  const { signerIdentity } = trust.provenance;
  return signerIdentity === locked.get(name)?.provenance?.signerIdentity ? undefined : signerIdentity;
}

/** Whether a source names one version for ever: an OCI digest or a git commit. Pure. */
export function isPinned(source: string): boolean {
  if (source.startsWith('git://')) return /@([0-9a-f]{40}|[0-9a-f]{64})(#|$)/.test(source);
  return /@sha256:[0-9a-f]{64}$/.test(source);
}

/** A reference without its tag, digest or commit: of a git reference with its folder. Pure. */
export function repositoryOf(reference: string): string {
  if (reference.startsWith('git://')) return reference.replace(/@[^#]*/, '');
  return reference.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}
