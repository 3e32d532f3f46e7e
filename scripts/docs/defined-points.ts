import { code, table } from './markdown.ts';
import { sourceTexts } from './sources.ts';

/** A slot or hook that a package defines with `defineSlot` or `defineHook`. */
interface DefinedPoint {
  readonly what: 'slot' | 'hook';
  readonly name: string;
  /** Type of an implementation, or of the value. */
  readonly type: string;
  /** Kind of a hook. */
  readonly kind: string;
  /** Its documentation comment. */
  readonly purpose: string;
  readonly path: string;
}

const FOLDERS = ['plugins', 'hosts'];
const DEFINED =
  /\/\*\* ([^\n]*) \*\/\nexport const \w+ = define(Slot|Hook)<([\s\S]*?)>\(\s*'(\w+)'(?:, '(\w+)')?,?\s*\);/g;

/** Slots or hooks of packages, with the folders that use them, as a table. */
export function definedTable(what: DefinedPoint['what']): string {
  const points = definedPoints().filter((point) => point.what === what);
  const [uses, users] = what === 'slot' ? ['register', 'filled by'] : ['tap', 'tapped by'];
  const rows = points.map(({ name, type, kind, purpose, path }) => [
    code(name),
    what === 'hook' ? `${kind}: ${purpose}` : purpose,
    code(type.replace(/\s+/g, ' ')),
    `[${code(path)}](../../${path})`,
    foldersThat(uses, name).map(code).join(', ') || 'none yet',
  ]);
  return table([what, 'what it is for', what === 'slot' ? 'contract' : 'value', 'defined in', users], rows);
}

function definedPoints(): readonly DefinedPoint[] {
  const found = [...sourceTexts(FOLDERS)].flatMap(([path, text]) =>
    [...text.matchAll(DEFINED)].map(([, purpose = '', made = '', type = '', name = '', kind = '']) => ({
      ...{ what: made === 'Slot' ? ('slot' as const) : ('hook' as const), name, type, kind, purpose, path },
    })),
  );
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Folders with a call such as `core.slot(embedders).register(`. */
function foldersThat(use: string, name: string): readonly string[] {
  const call = new RegExp(`\\((?:${name})\\)\\s*\\.${use}`);
  const folders = [...sourceTexts(FOLDERS)].flatMap(([path, text]) =>
    call.test(text) ? [path.slice(0, path.lastIndexOf('/'))] : [],
  );
  return [...new Set(folders)].sort();
}
