import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/**
 * What a test that runs in the process of other tests does not use: it changes, or measures, something of the whole process. Variables
 * of the environment it may change: `unchanged-process.ts` sees that it changes them back.
 */
const OF_THE_PROCESS = [
  /(?<![-\w./])process\.(?!env|execPath|platform|arch|version|get|hrtime|cwd|nextTick|kill|pid|std(?:out|err)\.is|(?:on|off|once)\('exit')[a-z]\w*(?! [a-z])/,
  /\bvi\.(?!waitFor|fn|stubEnv|unstubAllEnvs)/,
  /\bglobalThis\b|\bfetch = |\.prototype\.\w+ = /,
  /'node:(?:async_hooks|diagnostics_channel|inspector|process|v8|vm)'/,
  /\b(?:PerformanceObserver|monitorEventLoopDelay|eventLoopUtilization|globalAgent|setGlobalDispatcher|setDefaultCACertificates)\b/,
];

/** What only the first of several test files does that import it: a module of theirs is evaluated once in a process. */
const ONCE_IN_A_PROCESS =
  /^(?:process\.env\b.* = |(?:export )?const .*\b(?:temporaryFolderOfFile|cliSession)\(|(?:before|after)(?:All|Each)\()/m;

/** The test files below `root` that can run one after another in one process, by what they and the test files that they import use. */
export function sharedProcessTests(root: string): readonly string[] {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => name.endsWith('.ts')).map((name) => join('test', name.replaceAll('\\', '/')));
  return sharable(new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])));
}

/** The tests among files (texts by path from the root) that use nothing of the whole process, nor does what they import of these files. */
export function sharable(texts: ReadonlyMap<string, string>): readonly string[] {
  const users = new Map<string, string[]>();
  for (const [path, text] of texts) {
    for (const [, from = ''] of text.matchAll(IMPORT)) {
      const target = join(dirname(path), from);
      users.set(target, [...(users.get(target) ?? []), path]);
    }
  }
  const isOwn = ([path, text]: readonly [string, string]): boolean =>
    OF_THE_PROCESS.some((use) => use.test(text)) || (!path.endsWith('.test.ts') && ONCE_IN_A_PROCESS.test(text));
  const own = new Set([...texts].filter(isOwn).map(([path]) => path));
  for (const path of own) for (const user of users.get(path) ?? []) own.add(user);
  return [...texts.keys()].filter((path) => path.endsWith('.test.ts') && !own.has(path));
}

const IMPORT = /(?:\bfrom |\bimport |\bimport\()'(\.[^']+)'/g;
