/**
 * Separates the values of a text: quoted texts, addresses, file names and paths, ids, dates and numbers.
 *
 * They are the arguments of a tool and say little about which tool. Shape: the text without them, and the values with spaces.
 */
export function extractValues(text: string): readonly [words: string, values: string] {
  const values: string[] = [];
  const words = text.replace(VALUE, (value) => {
    values.push(value);
    return ' ';
  });
  return [words, values.join(' ')];
}

/** Longer quotes are not values but part of the request. */
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
/** Letters with digits, or digits only. */
const ID = '(?<![\\p{L}\\p{N}_-])(?=[\\w#:.,+-]{0,40}[0-9])[\\w#][\\w#:.,+-]{1,80}';
const VALUE = new RegExp([...QUOTED, ADDRESS, MAIL, PATH, FILE, ID].join('|'), 'giu');
