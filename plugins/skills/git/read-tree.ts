import { explainCause, GatewayFault } from '@toolmgr/core';
import git from 'isomorphic-git';
import { upstreamCode, upstreamProblem } from '../artifact/upstream-problem.ts';
import { isHidden, pathProblem, pathRegister } from '../files/file-paths.ts';
import { LIMITS } from '../limits.ts';
import { PackRefused } from './check-pack.ts';
import { type GitTransport, gitTransport } from './git-http.ts';
import type { GitJob, GitOutcome, SentFile } from './git-job.ts';
import { memoryFiles } from './memory-files.ts';

type Refusal = Extract<GitOutcome, { readonly problem: unknown }>;

interface Repository {
  readonly fs: ReturnType<typeof memoryFiles>;
  readonly gitdir: string;
  readonly cache: object;
}

/**
 * Reads the files of a folder at a commit, tag or branch. Nothing is checked out, so no hook, filter or submodule of the
 * repository has an effect.
 */
export async function readGitTree(job: GitJob): Promise<GitOutcome> {
  const repository: Repository = { fs: memoryFiles(), gitdir: '/repository', cache: {} };
  await using http = gitTransport(job);
  try {
    const commit = await fetchCommit(repository, http, job);
    if (typeof commit !== 'string') return commit;
    return await filesAt(repository, commit, job.path);
  } catch (cause) {
    return refusalOf(cause);
  }
}

async function fetchCommit(
  repository: Repository,
  http: GitTransport,
  { url, ref }: GitJob,
): Promise<string | Refusal> {
  await git.init({ ...repository, bare: true });
  await git.addRemote({ ...repository, remote: 'origin', url });
  const refs = await git.listServerRefs({ http, url, protocolVersion: 1, symrefs: true });
  const isCommit = ref !== undefined && /^[0-9a-f]{40}$/.test(ref);
  const found = refs.find((each) =>
    isCommit ? each.oid === ref : each.ref === (ref === undefined ? 'HEAD' : undefined),
  );
  const named =
    isCommit || ref === undefined ? found : namesOf(ref).flatMap((name) => refs.filter((each) => each.ref === name))[0];
  if (named === undefined && !isCommit) {
    const detail =
      ref === undefined ? 'the repository has no commit' : `the repository has no tag or branch ${JSON.stringify(ref)}`;
    return { problem: 'not_found', detail };
  }
  const wanted = named?.ref ?? ref ?? 'HEAD';
  const options = { ...repository, http, url, remote: 'origin', tags: false };
  try {
    await git.fetch({ ...options, ref: wanted, remoteRef: wanted, singleBranch: true, depth: 1 });
  } catch (cause) {
    // a server may refuse a commit that no branch ends at
    if (named !== undefined || cause instanceof PackRefused || cause instanceof GatewayFault) throw cause;
    await git.fetch({ ...options, tags: true });
  }
  const { oid } = await git.readCommit({ ...repository, oid: named?.oid ?? ref ?? '' });
  return oid;
}

/** Tags first for a version, branches first for other names. */
function namesOf(ref: string): readonly string[] {
  const names = [`refs/tags/${ref}`, `refs/heads/${ref}`];
  return /^v\d/.test(ref) ? names : names.reverse();
}

const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

async function filesAt(repository: Repository, commit: string, path: string | undefined): Promise<GitOutcome> {
  const files: SentFile[] = [];
  const register = pathRegister();
  let entries = 0;
  let bytes = 0;
  const refused = (detail: string): Refusal => ({ problem: 'unprocessable', detail });
  const walk = async (oid: string, folder: string): Promise<Refusal | undefined> => {
    const { tree } = await git.readTree({ ...repository, oid });
    for (const { mode, path: name, oid: inside, type } of tree) {
      const file = folder === '' ? name : `${folder}/${name}`;
      const shown = JSON.stringify(file);
      if (++entries > LIMITS.entries) return refused(`the folder has more than ${LIMITS.entries} entries`);
      if (mode === '120000') return refused(`${shown} is a symbolic link`);
      if (type === 'commit') return refused(`${shown} is a submodule, which is not read`);
      if (isHidden(file)) continue;
      const problem = pathProblem(file) ?? (type === 'blob' ? register.add(file) : undefined);
      if (problem !== undefined) return refused(problem);
      if (type === 'tree') {
        const deeper = await walk(inside, file);
        if (deeper !== undefined) return deeper;
        continue;
      }
      if (files.length === LIMITS.files) return refused(`the folder has more than ${LIMITS.files} files`);
      const { blob } = await git.readBlob({ ...repository, oid: inside });
      bytes += blob.length;
      if (blob.length > LIMITS.fileBytes) return refused(`${shown} is larger than ${LIMITS.fileBytes / 1024 ** 2} MB`);
      if (bytes > LIMITS.extractedBytes) return refused('the files are too large together');
      if (Buffer.from(blob.subarray(0, LFS_POINTER.length)).toString('latin1') === LFS_POINTER)
        return refused(`${shown} is stored in Git LFS, which is not read`);
      files.push({ path: file, mode: 0o644, content: blob });
    }
    return undefined;
  };
  const { oid } = await git.readTree({ ...repository, oid: commit, ...(path === undefined ? {} : { filepath: path }) });
  return (await walk(oid, '')) ?? { commit, files };
}

function refusalOf(cause: unknown): Refusal {
  if (cause instanceof PackRefused) return { problem: 'unprocessable', detail: cause.message };
  const { code, data } = cause as { readonly code?: unknown; readonly data?: { readonly statusCode?: unknown } };
  if (code === 'HttpError') {
    const status = Number(data?.statusCode);
    // a server that does not have the repository gave no answer about what was asked for
    const problem = status === 404 ? 'upstream_failed' : upstreamCode(status);
    return { problem, detail: `the server answered with status ${status}` };
  }
  if (code === 'GIT_REDIRECT') return { problem: 'upstream_failed', detail: 'the server redirects to another origin' };
  if (code === 'NotFoundError')
    return { problem: 'not_found', detail: 'the repository does not have this commit or folder' };
  if (code === 'ObjectTypeError') return { problem: 'not_found', detail: 'the path or commit is of another kind' };
  if (cause instanceof GatewayFault) {
    const { problem, detail } = upstreamProblem('', cause, NEVER);
    return { problem, detail: detail.replace(/^: /, '').replace(/\.$/, '') };
  }
  return {
    problem: 'upstream_failed',
    detail: `the server gave no usable answer (${explainCause(cause).split('\n')[0]})`,
  };
}

const NEVER = new AbortController().signal;
