/** A word or phrase that is not used in this repository, and what to write instead. */
interface Refused {
  /** Matches a lower-case line; for a single word, one whose identifiers are split into words. */
  readonly pattern: RegExp;
  readonly instead: string;
  readonly isPhrase: boolean;
}

/** A place that may use a refused word, with the reason. */
interface Allowed {
  /** Matches the path of the file. */
  readonly path: RegExp;
  /** Matches the refused word or phrase. */
  readonly word: RegExp;
  readonly why: string;
}

/** A refused word and its place: `PATH` for a name of a file, else `PATH:LINE`. */
interface Finding {
  readonly path: string;
  readonly place: string;
  readonly word: string;
  readonly instead: string;
}

/**
 * Finds private vocabulary in names of files and folders, in identifiers, comments, messages, test names and pages.
 *
 * Shape: `files` maps a path from the root to its text; the result is one sentence per fault, with the place and the word
 * to use instead.
 */
export function vocabularyFaults(files: ReadonlyMap<string, string>): readonly string[] {
  return findingsIn(files)
    .filter((finding) => !ALLOWED.some((allowed) => allows(allowed, finding)))
    .map(({ place, word, instead }) => `${place}: '${word}', write ${instead}`);
}

/** Entries of the allow-list that no place needs. */
export function unusedAllowances(files: ReadonlyMap<string, string>): readonly string[] {
  const findings = findingsIn(files);
  return ALLOWED.filter((allowed) => !findings.some((finding) => allows(allowed, finding))).map(({ why }) => why);
}

function allows({ path, word }: Allowed, finding: Finding): boolean {
  return path.test(finding.path) && word.test(finding.word);
}

function findingsIn(files: ReadonlyMap<string, string>): readonly Finding[] {
  return [...files]
    .filter(([path]) => SOURCES.test(path) && !OWN_FILES.has(path))
    .flatMap(([path, text]) => [
      ...findingsInLine(path, path, path),
      ...text.split('\n').flatMap((line, index) => findingsInLine(path, `${path}:${index + 1}`, line)),
    ]);
}

function findingsInLine(path: string, place: string, line: string): readonly Finding[] {
  const words = splitIdentifiers(line);
  const sentence = line.toLowerCase();
  return REFUSED.flatMap(({ pattern, instead, isPhrase }) => {
    const word = pattern.exec(isPhrase ? sentence : words)?.[0];
    return word === undefined ? [] : [{ path, place, word, instead }];
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

const SOURCES =
  /^(?:(?:core|plugins|hosts|examples|scripts|test|docs)\/.*\.(?:tsx?|css|html|js|mjs|cjs|md|ya?ml|go|py)|README\.md|CONTRIBUTING\.md)$/;

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
  ['faces?', 'server description, public exports or response'],
  ['sought', 'searched or requested'],
  ['stands? twice', 'is a duplicate', 'phrase'],
  ['(?:cannot|to|can) be had', 'is unavailable or is available', 'phrase'],
  [
    'lets? (?:(?:nobody|everybody|everyone|others|callers|calls|requests|them|it) )?in(?! (?:flight|the|a|an)\\b)',
    'accepts',
    'phrase',
  ],
  ['(?:hears?|heard|told) of', 'is notified of or receives', 'phrase'],
  ['goes on', 'continues', 'phrase'],
].map(([words = '', instead = '', kind]) => ({
  pattern: new RegExp(`\\b${words}\\b`),
  instead,
  isPhrase: kind === 'phrase',
}));

const ALLOWED: readonly Allowed[] = [
  {
    path: /^test\/plugins\/(?:optimizer|telemetry)\//,
    word: /^(?:rooms?|doors?|somebody)$/,
    why: 'descriptions of tools in searches, such as "book a room"',
  },
  { path: /^test\/support\/container-engine\.ts$/, word: /^nobody$/, why: 'the Unix user of that name' },
];
