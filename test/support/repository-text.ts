/**
 * Paths of the build environment, which no file of the repository may contain.
 *
 * They are concatenated here so that this file does not contain them. Imports of `plugins/kit` and a property named
 * `library` are allowed.
 */
const WORDS = [
  { word: '/wor'.concat('k/'), after: '(?<![\\w.}-])' },
  { word: '.lib'.concat('rary'), after: '(?<![\\w)\\]])' },
  { word: '../sha'.concat('red'), after: `(?<!(?:from |import |import\\()['"])(?<!\\.\\./)` },
].map(({ word, after }) => ({ word, pattern: new RegExp(`${after}${word.replaceAll('.', '\\.')}`) }));

/** Finds the lines with such a path. */
export function repositoryTextFaults(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => lineFaults(path, line, index + 1)),
  );
}

function lineFaults(path: string, line: string, at: number): readonly string[] {
  return WORDS.filter(({ pattern }) => pattern.test(line)).map(({ word }) => `${path}:${at} says '${word}'`);
}
