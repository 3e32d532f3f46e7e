/**
 * Takes the values out of a text: what stands in quotes, addresses, names and paths of files, ids, dates and numbers.
 *
 * They say what a tool is to work on, not which tool it is. Shape: the text without them, and they, parted by spaces.
 */
export function withoutValues(text: string): readonly [said: string, values: string] {
  const values: string[] = [];
  const said = text.replace(VALUE, (value) => {
    values.push(value);
    return ' ';
  });
  return [said, values.join(' ')];
}

/** Longer quotes are no values but what is asked for. */
const QUOTED = [
  '"[^"\\n]{1,120}"',
  '`[^`\\n]{1,120}`',
  '“[^”\\n]{1,120}”',
  '«[^»\\n]{1,120}»',
  '「[^」\\n]{1,120}」',
  "(?<![\\p{L}\\p{N}])'[^'\\n]{1,120}'(?![\\p{L}\\p{N}])",
];
const ADDRESS = '\\b[a-z][a-z0-9+.-]{1,20}:\\/\\/[^\\s"\'<>]{1,500}';
const MAIL = '(?<![\\w.+-])[\\w.+-]{1,64}@[\\w-]{1,64}(?:\\.[\\w-]{1,64}){1,4}';
const PATH = '(?<![\\w.@~/-])(?:[~.]{0,2}\\/)?(?:[\\w.@-]{1,64}\\/){1,16}[\\w.@*-]{0,64}';
const FILE = '(?<![\\w.*-])[\\w*-]{1,64}(?:\\.[\\w-]{1,20}){0,3}\\.[a-z][a-z0-9]{1,4}(?![\\w])';
/** With digits among letters, or digits alone. */
const ID = '(?<![\\p{L}\\p{N}_-])(?=[\\w#:.,+-]{0,40}[0-9])[\\w#][\\w#:.,+-]{1,80}';
const VALUE = new RegExp([...QUOTED, ADDRESS, MAIL, PATH, FILE, ID].join('|'), 'giu');
