import type { LookedUp } from '@toolmgr/plugins/registry';

/** Why a name is no entry of a registry. `title` is the registry that was searched. */
export function lookUpProblem(name: string, title: string, found: Exclude<LookedUp, { kind: 'found' }>): string {
  if (found.kind === 'leftOut') return `${title} has ${name}, which is not used: ${found.reason}`;
  if (found.kind === 'ambiguous') {
    const shown = found.names.slice(0, SHOWN).join(', ');
    return `${title} has several servers ${name}: ${shown}${found.names.length > SHOWN ? ', …' : ''}`;
  }
  const hint = found.nearest === undefined ? '' : ` (did you mean ${found.nearest}?)`;
  return `${title} has no server ${name}${hint}`;
}

const SHOWN = 10;
