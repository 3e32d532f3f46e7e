/** A word or phrase that is not used in this repository, and what to write instead. */
interface Refused {
  /** Matches a line whose identifiers are split into lower-case words. */
  readonly pattern: RegExp;
  readonly instead: string;
}

/** A place that may use a refused word, with the reason. */
interface Allowed {
  /** Matches the path of the file. */
  readonly path: RegExp;
  /** Matches the refused word or phrase. */
  readonly word: RegExp;
  readonly why: string;
}

/**
 * Finds private vocabulary in names of files and folders, in identifiers, comments, messages, test names and pages.
 *
 * Shape: `files` maps a path from the root to its text; the result is one sentence per fault, with the place and the word
 * to use instead.
 */
export function vocabularyFaults(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files]
    .filter(([path]) => SOURCES.test(path) && !OWN_FILES.has(path))
    .flatMap(([path, text]) => [
      ...faultsIn(path, path, path),
      ...text.split('\n').flatMap((line, index) => faultsIn(path, `${path}:${index + 1}`, line)),
    ]);
}

function faultsIn(path: string, place: string, line: string): readonly string[] {
  const words = splitIdentifiers(line);
  return REFUSED.flatMap(({ pattern, instead }) => {
    const word = pattern.exec(words)?.[0];
    return word === undefined || isAllowed(path, word) ? [] : [`${place}: '${word}', write ${instead}`];
  });
}

/** `ParkingLot` and `parking-lot` become `parking lot`. */
function splitIdentifiers(line: string): string {
  return line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[-_]/g, ' ')
    .toLowerCase();
}

function isAllowed(path: string, word: string): boolean {
  return ALLOWED.some((allowed) => allowed.path.test(path) && allowed.word.test(word));
}

const SOURCES =
  /^(?:(?:core|plugins|hosts|examples|scripts|test|docs)\/.*\.(?:ts|js|mjs|cjs|md|ya?ml|go|py|rs)|README\.md|CONTRIBUTING\.md)$/;

/** The list itself and its test. */
const OWN_FILES: ReadonlySet<string> = new Set(['test/support/vocabulary.ts', 'test/vocabulary.test.ts']);

const NAME_THE_SUBJECT = 'the subject: no client, no caller, no plugin, …';

const REFUSED: readonly Refused[] = [
  ['nobody(?: s)?', NAME_THE_SUBJECT],
  ['(?:somebody|anybody|whoever)', 'the subject: a client, a caller, the user, …'],
  ['houses?', 'gateway'],
  // "makes room for" and "no room left" are plain English
  ['(?<!(?:makes?|made|making|no|has|have|is) )rooms?(?! (?:for|left))', 'pipeline, stage or backend manager'],
  ['doors?', 'adapter, path, authenticator or gateway switch'],
  ['desks?', 'protocol router'],
  ['seats?', 'session holder'],
  ['keepers?', 'backend controller or manager'],
  ['rosters?', 'in-flight map'],
  ['errands?', 'auth context'],
  ['estates?', 'handover state'],
  ['askers?', 'client context'],
  ['journeys?', 'call or pipeline'],
  ['pulses?', 'heartbeat'],
  ['parking', 'suspended calls'],
  ['(?:shelf|shelves)', 'index cache'],
  ['(?:ladders?|rungs?)', 'checks'],
  ['sought', 'searched or requested'],
  ['stands? twice', 'is a duplicate'],
  ['(?:cannot|to|can) be had', 'is unavailable or is available'],
  ['lets? (?:\\w+ )?in(?! (?:the|a|an)\\b)', 'accepts or admits'],
  ['(?:hears?|heard|told) of', 'is notified of or receives'],
  ['goes on', 'continues'],
].map(([words, instead]) => ({ pattern: new RegExp(`\\b${words}\\b`), instead: instead ?? '' }));

const ALLOWED: readonly Allowed[] = [];
