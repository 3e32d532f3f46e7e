import { createTwoFilesPatch } from 'diff';
import { bare } from './plan-entries.ts';

/**
 * A unified diff of the text of a file. Values in lines that toolmgr did not write are replaced by `…`, because they may be
 * secrets. Empty when nothing changes.
 */
export function maskedDiff(path: string, before: string, after: string, own: ReadonlySet<string>): string {
  if (before === after) return '';
  const patch = createTwoFilesPatch(path, path, before, after, '', '', { context: 2 });
  const lines = patch.split('\n').slice(2); // `Index:` and a line of `=`
  return lines.map((line) => maskedLine(line, own)).join('\n');
}

function maskedLine(line: string, own: ReadonlySet<string>): string {
  if (/^(---|\+\+\+) |^@@ |^\\ /.test(line)) return line.replace(/\t$/, '');
  const [mark, text] = [line.slice(0, 1), line.slice(1)];
  if (own.has(bare(text)) || /^[\s{}[\],]*$/.test(text)) return line;
  const [, name] = NAME.exec(text) ?? [];
  if (name === undefined) return `${mark}${/^\s*/.exec(text)?.[0] ?? ''}…`;
  const rest = text.slice(name.length);
  return mark + name + (/^[\s{}[\],]*\r?$/.test(rest) ? rest : `…${/,?\s*$/.exec(rest)?.[0] ?? ''}`);
}

/** The name of a member with its `:` or `=`, or the header of a table. */
const NAME = /^(\s*(?:- )?(?:"[^"\\]{1,100}"|[A-Za-z0-9_.-]{1,100})\s*[:=]\s*|\s*\[{1,2}[A-Za-z0-9_."-]{1,200}\]{1,2})/;
