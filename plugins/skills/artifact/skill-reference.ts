import { type ImageReference, parseImageReference } from '@toolmgr/plugins/kit/oci';
import { LIMITS } from '../limits.ts';
import { isSkillName } from './skill-name.ts';

/** A git reference: `git://host/owner/repo[@ref][#path]`, read over https. */
export interface GitReference {
  readonly kind: 'git';
  /** Host, with a port if given. */
  readonly host: string;
  /** For example `owner/repo`. */
  readonly repository: string;
  /** A commit, tag or branch. Absent: the default branch. */
  readonly ref?: string;
  /** Folder in the repository. Absent: its root. */
  readonly path?: string;
}

/** What a text names. A `name` may have a namespace, and is then also an OCI reference. */
export type SkillReference =
  | GitReference
  | {
      readonly kind: 'oci';
      readonly image: ImageReference;
      /** `namespace/name` in a registry of skills. */
      readonly inRegistry?: { readonly namespace: string; readonly name: string };
    }
  | { readonly kind: 'name'; readonly name: string };

/**
 * Reads a reference. `problem` is a sentence part that says what is wrong.
 *
 * A text that begins with https is a git repository, also as a page of a folder (`/tree/REF/PATH`).
 * Source: reference workload-api §5.3, §5.4.
 */
export function parseSkillReference(text: string): SkillReference | { readonly problem: string } {
  if (text === '') return { problem: 'it is empty' };
  if (text.length > LIMITS.referenceLength)
    return { problem: `it is longer than ${LIMITS.referenceLength} characters` };
  if (text.startsWith('git://')) return gitReference(text.slice('git://'.length));
  if (/^https?:\/\//i.test(text)) return fromUrl(text);
  if (!/[/:@]/.test(text)) {
    return isSkillName(text) ? { kind: 'name', name: text } : { problem: 'it is no name of a skill' };
  }
  const image = parseImageReference(text);
  if (image === undefined) return { problem: 'it is neither an OCI reference, a git reference nor a name' };
  const [namespace = '', name = '', ...more] = text.split('/');
  const isBare = more.length === 0 && !/[:@]/.test(text) && isSkillName(name);
  return { kind: 'oci', image, ...(isBare ? { inRegistry: { namespace, name } } : {}) };
}

/** The text of a git reference. */
export function gitReferenceText({ host, repository, ref, path }: Omit<GitReference, 'kind'>): string {
  return `git://${host}/${repository}${ref === undefined ? '' : `@${ref}`}${path === undefined ? '' : `#${path}`}`;
}

const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;
const REPOSITORY_PART = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const REF = /^[A-Za-z0-9._/-]+$/;
const MIN_PARTS = 2;
const MAX_PARTS = 8;

function gitReference(rest: string): GitReference | { readonly problem: string } {
  const [, where = '', ref, path] = /^([^@#]*)(?:@([^#]*))?(?:#(.*))?$/s.exec(rest) ?? [];
  const [host = '', ...parts] = where.replace(/\/$/, '').split('/');
  return checked(host, parts, ref, path);
}

function fromUrl(text: string): GitReference | { readonly problem: string } {
  const url = URL.parse(text);
  if (url === null) return { problem: 'it is not a URL' };
  if (url.protocol !== 'https:') return { problem: 'a git repository is read over https only' };
  if (url.username !== '' || url.password !== '')
    return { problem: 'credentials in it are not allowed: set GITHUB_TOKEN, GITLAB_TOKEN or GIT_TOKEN' };
  if (url.search !== '') return { problem: 'a query is not allowed' };
  const [, repository = '', ref, folder] =
    /^(.+?)(?:\/-)?(?:\/tree\/([^/]+)(?:\/(.+))?)?\/?$/.exec(url.pathname.slice(1)) ?? [];
  const path = folder ?? (url.hash === '' ? undefined : url.hash.slice(1));
  return checked(url.host, repository.split('/'), ref, path);
}

function checked(
  host: string,
  parts: readonly string[],
  ref: string | undefined,
  path: string | undefined,
): GitReference | { readonly problem: string } {
  if (!HOST.test(host) || !URL.canParse(`https://${host}`))
    return { problem: `the host ${JSON.stringify(host)} is not valid` };
  if (parts.length < MIN_PARTS || parts.length > MAX_PARTS || !parts.every((part) => REPOSITORY_PART.test(part)))
    return { problem: 'expected git://host/owner/repository[@ref][#path]' };
  if (ref !== undefined && (!REF.test(ref) || /^[-/.]|\.\.|\/\/|\/$|\.lock$/.test(ref)))
    return { problem: `the ref ${JSON.stringify(ref)} is not valid: expected letters, digits and . _ / - without ..` };
  const folder = path?.replace(/^\/+|\/+$/g, '');
  const isPath =
    folder === undefined ||
    (REF.test(folder) &&
      folder.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !part.startsWith('-')));
  if (!isPath) return { problem: `the path ${JSON.stringify(path)} is not valid` };
  return {
    kind: 'git',
    host: host.toLowerCase(),
    repository: parts.join('/').replace(/\.git$/, ''),
    ...(ref === undefined ? {} : { ref }),
    ...(folder === undefined ? {} : { path: folder }),
  };
}
