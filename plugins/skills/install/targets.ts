import { mkdir, realpath } from 'node:fs/promises';
import { nearest } from '@toolmgr/core';
import { type ClientPlace, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import type { FolderPlace } from '../folders/held-folder.ts';
import type { SkillScope } from '../records/skill-record.ts';

/** A folder that skills are put into. Clients may share one. */
export interface SkillTarget extends FolderPlace {
  readonly clients: readonly string[];
}

/**
 * The folders for the clients that a user named, each one once. Default: every client on this machine that has a folder for
 * skills; `all` means the same. In user scope the folders are made.
 */
export async function skillTargets(
  wanted: readonly string[] | undefined,
  known: readonly ClientPlace[],
  scope: SkillScope,
): Promise<readonly SkillTarget[] | Problem> {
  const chosen = chooseClients(wanted, known, scope);
  if ('problem' in chosen) return chosen;
  const targets = new Map<string, SkillTarget>();
  for (const client of chosen.clients) {
    const place = await placeOf(client, scope);
    const key = placeKey(place);
    targets.set(key, { ...place, clients: [...(targets.get(key)?.clients ?? []), client.name] });
  }
  return [...targets.values()];
}

/** Why {@link skillTargets} refuses these clients; `undefined` when it does not. Makes no folder. */
export function clientsProblem(
  wanted: readonly string[] | undefined,
  known: readonly ClientPlace[],
  scope: SkillScope,
): Problem | undefined {
  const chosen = chooseClients(wanted, known, scope);
  return 'problem' in chosen ? chosen : undefined;
}

/** The same for every path to a folder. */
export function placeKey({ base, segments }: FolderPlace): string {
  return [base, ...segments].join('/');
}

function chooseClients(
  wanted: readonly string[] | undefined,
  known: readonly ClientPlace[],
  scope: SkillScope,
): { readonly clients: readonly ClientPlace[] } | Problem {
  const refuse = (detail: string): Problem => problem('bad_request', detail, [{ in: 'body', path: 'clients', detail }]);
  const isAble = (client: ClientPlace): boolean => folderOf(client, scope) !== undefined;
  if (wanted === undefined || wanted.length === 0 || (wanted.length === 1 && wanted[0] === 'all')) {
    const clients = known.filter((client) => client.isInstalled && isAble(client));
    if (clients.length > 0) return { clients };
    return refuse(`no client that takes skills was found on this machine; name one of: ${names(known.filter(isAble))}`);
  }
  if (wanted.includes('all')) return refuse('"all" and names of clients exclude each other');
  const clients: ClientPlace[] = [];
  for (const name of new Set(wanted)) {
    const client = known.find((candidate) => candidate.name === name);
    if (client === undefined) {
      const hint = nearest(
        name,
        known.map((candidate) => candidate.name),
      );
      return refuse(
        `there is no client ${JSON.stringify(name)}${hint === undefined ? `; expected one of: ${names(known.filter(isAble))}` : `, did you mean ${hint}?`}`,
      );
    }
    if (!isAble(client))
      return refuse(`the client ${name} takes no skills; expected one of: ${names(known.filter(isAble))}`);
    clients.push(client);
  }
  return { clients };
}

function names(clients: readonly ClientPlace[]): string {
  return clients.map(({ name }) => name).join(', ');
}

function folderOf(client: ClientPlace, { scope }: SkillScope): string | undefined {
  return scope === 'user' ? client.userFolder : client.projectFolder;
}

/**
 * The user's own folders may be links, e.g. to a repository with settings: the real folder is used. In a project they must not
 * be: the project may come from someone else.
 */
async function placeOf(client: ClientPlace, scope: SkillScope): Promise<FolderPlace> {
  const folder = folderOf(client, scope) ?? '';
  if (scope.scope === 'project') return { base: scope.root, segments: folder.split('/') };
  await mkdir(folder, { recursive: true, mode: 0o750 });
  return { base: await realpath(folder), segments: [] };
}
