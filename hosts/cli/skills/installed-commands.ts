import { present } from '@toolmgr/core';
import { ownCommand } from '../../shared/own-command.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { callSkills, projectOf, type ScopeFlags, scopeOf } from './command-scope.ts';

interface Format {
  readonly format: 'text' | 'json';
}

/** A skill as the operations answer it. */
interface InstalledSkill {
  readonly metadata: {
    readonly name: string;
    readonly description: string;
    readonly version?: string;
    readonly author?: string;
    readonly tags?: readonly string[];
  };
  readonly scope: string;
  readonly project_root?: string;
  readonly status: string;
  readonly reference: string;
  readonly digest: string;
  readonly clients: readonly string[];
  readonly dependencies: readonly { readonly name: string }[];
  readonly provenance?: { readonly signer_identity?: string };
  readonly installed_at: string;
}

/** `toolmgr skill list`. */
export async function listInstalled(
  flags: ScopeFlags & Format & { readonly client?: string; readonly group?: string },
): Promise<void> {
  const { format, projectRoot, scope, client, group } = flags;
  const root = projectRoot === undefined ? undefined : await projectOf(projectRoot);
  const found = await callSkills('listSkills', present({ scope, client, group, project_root: root }));
  if (found === undefined) return;
  const { skills } = found.body as { readonly skills: readonly InstalledSkill[] };
  if (format === 'json') return stdout.json({ skills });
  if (skills.length === 0) return stderr.line(`no skills; install one: ${ownCommand('skill install NAME')}`);
  const rows = skills.map((skill) => [
    skill.metadata.name,
    skill.metadata.version ?? '-',
    skill.project_root ?? skill.scope,
    skill.status,
    skill.clients.join(', '),
  ]);
  for (const line of columns([['NAME', 'VERSION', 'SCOPE', 'STATUS', 'CLIENTS'], ...rows])) stdout.line(line);
}

/** `toolmgr skill info`. */
export async function showInstalled(name: string, { format, ...flags }: ScopeFlags & Format): Promise<void> {
  const found = await callSkills('getSkill', { name, ...(await scopeOf(flags)) });
  if (found === undefined) return;
  const { installed_skill: skill } = found.body as { readonly installed_skill: InstalledSkill };
  if (format === 'json') return stdout.json(skill);
  for (const line of columns(rowsOf(skill))) stdout.line(line);
}

function rowsOf(skill: InstalledSkill): string[][] {
  const { metadata, provenance } = skill;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['name', metadata.name],
    ['description', metadata.description],
    ['version', metadata.version],
    ['author', metadata.author],
    ['tags', metadata.tags?.join(', ')],
    ['scope', skill.project_root ?? skill.scope],
    ['status', skill.status],
    ['reference', skill.reference],
    ['digest', skill.digest],
    ['clients', skill.clients.join(', ')],
    ['needs', skill.dependencies.map(({ name }) => name).join(', ') || undefined],
    ['signed by', provenance === undefined ? undefined : String(provenance.signer_identity ?? 'an unknown signer')],
    ['installed at', skill.installed_at],
  ];
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]]));
}

/** `toolmgr skill install`. */
export async function install(
  name: string,
  flags: ScopeFlags &
    Format & {
      readonly client?: readonly string[];
      readonly tag?: string;
      readonly force?: boolean;
      readonly allowUnsigned?: boolean;
      readonly group?: string;
    },
): Promise<void> {
  const { format, client, tag, force, allowUnsigned, group } = flags;
  using stop = stopSignal();
  const wish = { name, version: tag, clients: client, force, allow_unsigned: allowUnsigned, group };
  const done = await callSkills('installSkill', present({ ...wish, ...(await scopeOf(flags)) }), stop.signal);
  if (done === undefined) return;
  const { skill, changed } = done.body as { readonly skill: InstalledSkill; readonly changed: readonly string[] };
  const { digest, clients, metadata } = skill;
  if (format === 'json') return stdout.json({ name: metadata.name, digest, changed });
  if (changed.length === 0) return stdout.line(`${metadata.name} is installed already`);
  stdout.line(`${metadata.name} is installed for ${clients.join(', ')}`);
  const others = changed.filter((one) => one !== metadata.name);
  if (others.length > 0) stdout.line(`changed with it: ${others.join(', ')}`);
}

/** `toolmgr skill uninstall`. */
export async function uninstall(names: readonly string[], { format, ...flags }: ScopeFlags & Format): Promise<void> {
  const scope = await scopeOf(flags);
  const removed: string[] = [];
  for (const name of new Set(names)) {
    if (removed.includes(name)) continue;
    const before = await namesIn(scope);
    if ((await callSkills('uninstallSkill', { name, ...scope })) === undefined) continue;
    const after = await namesIn(scope);
    const gone = [...new Set([...before.filter((one) => !after.includes(one)), name])].sort();
    removed.push(...gone);
    if (format === 'text') for (const one of gone) stdout.line(`${one} is uninstalled`);
  }
  if (format === 'json') stdout.json({ removed });
}

async function namesIn(scope: Awaited<ReturnType<typeof scopeOf>>): Promise<readonly string[]> {
  const found = await callSkills('listSkills', scope);
  const { skills } = (found?.body ?? { skills: [] }) as { readonly skills: readonly InstalledSkill[] };
  return skills.map(({ metadata }) => metadata.name);
}
