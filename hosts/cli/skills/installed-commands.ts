import { type InstalledSkill, installSkill, uninstallSkill } from '@toolmgr/plugins/skills';
import { ownCommand } from '../../shared/own-command.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import {
  callSkills,
  commandSkills,
  present,
  printRefusal,
  projectOf,
  type ScopeFlags,
  scopeOf,
} from './command-scope.ts';

interface Format {
  readonly format: 'text' | 'json';
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
  if (format === 'json') return stdout.line(JSON.stringify({ skills }, undefined, 2));
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
  const scope = await scopeOf(flags);
  const root = scope.scope === 'project' ? scope.root : undefined;
  const found = await callSkills('getSkill', present({ name, scope: scope.scope, project_root: root }));
  if (found === undefined) return;
  const { installed_skill: skill } = found.body as { readonly installed_skill: InstalledSkill };
  if (format === 'json') return stdout.line(JSON.stringify(skill, undefined, 2));
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
  const done = await installSkill(
    commandSkills(),
    {
      name,
      isNamedByUser: true,
      scope: await scopeOf(flags),
      ...(client === undefined ? {} : { clients: client }),
      ...(tag === undefined ? {} : { version: tag }),
      ...(force === undefined ? {} : { force }),
      ...(allowUnsigned === undefined ? {} : { allowUnsigned }),
      ...(group === undefined ? {} : { group }),
    },
    stop.signal,
  );
  if ('problem' in done) return printRefusal(done);
  const { record, changed } = done;
  if (format === 'json')
    return stdout.line(JSON.stringify({ name: record.name, digest: record.digest, changed }, undefined, 2));
  if (changed.length === 0) return stdout.line(`${record.name} is installed already`);
  stdout.line(`${record.name} is installed for ${record.clients.join(', ')}`);
  const others = changed.filter((one) => one !== record.name);
  if (others.length > 0) stdout.line(`changed with it: ${others.join(', ')}`);
}

/** `toolmgr skill uninstall`. */
export async function uninstall(names: readonly string[], { format, ...flags }: ScopeFlags & Format): Promise<void> {
  const scope = await scopeOf(flags);
  const removed: string[] = [];
  for (const name of new Set(names)) {
    if (removed.includes(name)) continue;
    const done = await uninstallSkill(commandSkills(), name, scope);
    if ('problem' in done) printRefusal(done);
    else {
      removed.push(...done.removed);
      if (format === 'text') for (const one of done.removed) stdout.line(`${one} is uninstalled`);
    }
  }
  if (format === 'json') stdout.line(JSON.stringify({ removed }, undefined, 2));
}
