/**
 * Words of the place where the project was built, which no file of the repository may carry.
 *
 * The words are put together here so that this file does not carry them either. The plugins have a room named shared,
 * so an import of it is not meant, nor is a property called library.
 */
const WORDS = [
  { word: '/wor'.concat('k/'), after: '(?<![\\w.}-])' },
  { word: '.lib'.concat('rary'), after: '(?<![\\w)\\]])' },
  { word: '../sha'.concat('red'), after: `(?<!(?:from |import |import\\()['"])(?<!\\.\\./)` },
].map(({ word, after }) => ({ word, pattern: new RegExp(`${after}${word.replaceAll('.', '\\.')}`) }));

/** Names every line that carries such a word. */
export function repositoryTextFaults(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => lineFaults(path, line, index + 1)),
  );
}

function lineFaults(path: string, line: string, at: number): readonly string[] {
  return WORDS.filter(({ pattern }) => pattern.test(line)).map(({ word }) => `${path}:${at} says '${word}'`);
}
