import { Worker } from 'node:worker_threads';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { addressProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { skillFrom } from '../artifact/read-skill.ts';
import type { ResolveOptions, SkillResolution } from '../artifact/resolve-options.ts';
import { type GitReference, gitReferenceText } from '../artifact/skill-reference.ts';
import { LIMITS } from '../limits.ts';
import { gitAuthorization } from './git-credentials.ts';
import type { GitJob, GitOutcome } from './git-job.ts';

/** Heap of the thread; packs and files are outside of it, and have limits of their own. */
const HEAP_MB = 512;

/**
 * Reads a skill from a git repository over https.
 *
 * Source: reference workload-api §5.3.
 */
export async function fetchGitSkill(
  reference: GitReference,
  source: string,
  options: ResolveOptions,
): Promise<SkillResolution> {
  const { host, repository, ref, path } = reference;
  const { allowPrivateAddresses = false, env, isNamedByUser = false } = options;
  const refused = (code: Problem['problem'], why: string): Problem =>
    problem(code, `The skill ${JSON.stringify(source)} could not be read: ${why}.`);
  // a rig of a test has no certificate
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host);
  const url = `${isLocal && allowPrivateAddresses ? 'http' : 'https'}://${host}/${repository}`;
  const { hostname } = new URL(url);
  const isName = hostname === 'localhost' && !allowPrivateAddresses;
  const wrong = isName
    ? 'leads to a loopback address, which is not allowed'
    : addressProblem(hostname, { allowPrivateAddresses });
  if (wrong !== undefined) return refused('bad_request', `its host ${wrong}`);
  const authorization = gitAuthorization(host, env, isNamedByUser);
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(LIMITS.gitMs)]);
  const outcome = await inThread(
    {
      url,
      allowPrivateAddresses,
      ...(ref === undefined ? {} : { ref }),
      ...(path === undefined ? {} : { path }),
      ...(authorization === undefined ? {} : { authorization }),
    },
    signal,
  );
  if (outcome === undefined) return refused('upstream_timeout', 'there was no answer in time');
  if ('problem' in outcome) {
    const isWithheld = outcome.problem === 'upstream_unauthorized' && authorization === undefined && env.GIT_TOKEN;
    return refused(outcome.problem, isWithheld ? `${outcome.detail}; ${withheld(host)}` : outcome.detail);
  }
  const files = outcome.files.map((file) => {
    const { buffer, byteOffset, length } = file.content;
    return { path: file.path, mode: file.mode, size: length, content: Buffer.from(buffer, byteOffset, length) };
  });
  const made = skillFrom(files, {
    kind: 'git',
    digest: outcome.commit,
    resolvedReference: gitReferenceText({ ...reference, ref: outcome.commit }),
    source,
  });
  const folder = path?.slice(path.lastIndexOf('/') + 1);
  if ('problem' in made || folder === undefined || made.artifact.name === folder) return made;
  return problem(
    'unprocessable',
    `${JSON.stringify(source)} is not accepted: its SKILL.md has the name ${JSON.stringify(made.artifact.name)}, its folder ${JSON.stringify(folder)}.`,
  );
}

function withheld(host: string): string {
  return `GIT_TOKEN is not sent to ${host}, which you did not name: GIT_TOKEN_HOST=${host} says that it is for this host`;
}

/** `undefined`: the signal ended it. @throws Error when the thread fails */
function inThread(job: GitJob, signal: AbortSignal): Promise<GitOutcome | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  return new Promise<GitOutcome | undefined>((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread that reads git ended with code ${code}`)));
  }).finally(() => void worker.terminate());
}
