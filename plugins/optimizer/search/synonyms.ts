import { stem } from './stem.ts';

/**
 * Groups of words with similar meaning for any tool: verbs of interfaces and names of common formats.
 *
 * A group must hold for all tools: no terms of one domain, and none added for a single request.
 */
const GROUPS: readonly string[] = [
  'create make new generate add build produce compose insert',
  'delete remove erase drop discard clear destroy purge',
  'get fetch retrieve read load obtain show view give return',
  'find search query lookup locate discover seek get',
  'write add append insert compose',
  'list enumerate browse all',
  'update change edit modify alter adjust set replace amend',
  'send post publish submit deliver share',
  'start launch run execute begin trigger invoke',
  'stop end kill terminate cancel halt abort quit',
  'copy duplicate clone replicate',
  'move rename relocate transfer',
  'save store write persist keep export',
  'open access',
  'check verify validate test inspect confirm',
  'compare diff difference contrast',
  'convert transform translate turn',
  'calculate compute count evaluate',
  'join merge combine concatenate',
  'split divide separate',
  'explain describe summarize summary overview detail info information about',
  'schedule plan arrange book reserve',
  'allow grant permit enable activate',
  'forbid deny revoke block disable deactivate',
  'download pull',
  'upload push import',
  'buy purchase order',
  'folder directory',
  'picture image photo png jpg jpeg screenshot',
  'chart graph plot diagram draw visualize',
  'presentation slide slideshow powerpoint ppt pptx',
  'spreadsheet excel workbook sheet xls xlsx',
  'document doc docx',
  'markdown md',
  'email mail message',
  'event meeting appointment calendar',
  'user account member person people',
  'task todo issue ticket',
  'website site page webpage url link web',
  'video film movie',
  'audio sound music song',
  'price cost quote',
  'map route direction navigation',
  'recent latest newest current today now',
  'trend trending popular hot top rank ranking',
  'comment reply note annotation',
  'database db sql',
  'repository repo',
  'directory folder path',
];

/** Synonyms by stem; a term of two groups has the synonyms of both. */
export const SYNONYMS: ReadonlyMap<string, readonly string[]> = synonyms();

function synonyms(): Map<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const group of GROUPS) {
    const stems = [...new Set(group.split(' ').map(stem))];
    for (const each of stems) {
      const known = found.get(each) ?? new Set();
      for (const other of stems) if (other !== each) known.add(other);
      found.set(each, known);
    }
  }
  return new Map([...found].map(([term, others]) => [term, [...others]]));
}
