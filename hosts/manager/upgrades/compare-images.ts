import { parseImageReference } from '@toolmgr/plugins/kit/oci';
import { isFloating as isFloatingTarget, isSchemeTarget, readScheme } from '@toolmgr/plugins/kit/workloads/schemes';
import { compareVersions, isVersion } from '@toolmgr/plugins/registry';

/** How the image of a workload compares with that of its registry entry. */
export type Comparison =
  | { readonly status: 'up-to-date' | 'upgrade-available' }
  | { readonly status: 'unknown'; readonly reason: string };

/**
 * Compares two images or packages by their references alone. Only versions of one repository are compared. Pure.
 *
 * Source: reference workload-api §8.
 */
export function compareImages(current: string, candidate: string): Comparison {
  const [now, next] = [partsOf(current), partsOf(candidate)];
  if (now === undefined) return unknown(`the image of the workload, ${current}, is not a reference`);
  if (next === undefined) return unknown(`the image of the registry entry, ${candidate}, is not a reference`);
  if (now.repository !== next.repository) {
    return unknown(`the registry entry has another repository: ${next.repository}, and not ${now.repository}`);
  }
  if (now.digest !== undefined) return unknown('the workload names its image by digest');
  if (next.digest !== undefined) return unknown('the registry entry names its image by digest');
  if (isFloating(now.tag)) return unknown(`the version of the workload is ${now.tag ?? 'not given'}`);
  if (isFloating(next.tag)) return unknown(`the version of the registry entry is ${next.tag ?? 'not given'}`);
  if (now.tag === next.tag) return { status: 'up-to-date' };
  const [from, to] = [versionOf(now.tag), versionOf(next.tag)];
  if (from === undefined || to === undefined) {
    return unknown(`the versions ${now.tag} and ${next.tag} cannot be compared`);
  }
  return { status: compareVersions(to, from) > 0 ? 'upgrade-available' : 'up-to-date' };
}

/**
 * The same image or package in another version: the part after `@`, `==` or the tag is replaced, or added. Pure.
 *
 * Shape: `undefined` when the version makes no reference with a fixed version of the same repository.
 */
export function withVersion(current: string, version: string): string | undefined {
  const at = versionPlace(current);
  const mark = isSchemeTarget(current) ? (current.includes('==') ? '==' : '@') : ':';
  const named = `${current.slice(0, at)}${mark}${version}`;
  const [now, next] = [partsOf(current), isExact(named) ? partsOf(named) : undefined];
  if (now === undefined || next === undefined || next.digest !== undefined || next.tag !== version) return undefined;
  return next.repository === now.repository && !isFloating(next.tag) ? named : undefined;
}

/** Where the version of a reference begins, with its mark. */
function versionPlace(reference: string): number {
  const { repository, tag } = isSchemeTarget(reference) ? packageParts(reference) : { repository: reference, tag: '' };
  if (tag !== '') return repository.length;
  const [named = ''] = reference.split('@');
  const colon = named.lastIndexOf(':');
  return colon > named.lastIndexOf('/') ? colon : named.length;
}

function isExact(text: string): boolean {
  if (!isSchemeTarget(text)) return parseImageReference(text) !== undefined;
  const read = readScheme(text);
  return read?.kind === 'target' && !isFloatingTarget(read.target);
}

interface Parts {
  readonly repository: string;
  readonly tag?: string | undefined;
  readonly digest?: string;
}

function partsOf(reference: string): Parts | undefined {
  if (isSchemeTarget(reference)) return packageParts(reference);
  const read = parseImageReference(reference);
  if (read === undefined) return undefined;
  const { registry, repository, tag, digest } = read;
  return {
    repository: `${registry}/${repository}`,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** `npx://@scope/name@1.2.3`, `uvx://name==1.2.3`, `go://example.com/module@v1.2.3`. */
function packageParts(reference: string): Parts {
  const at = reference.lastIndexOf('@');
  const isVersioned = at > reference.indexOf('://') + 3 && !reference.slice(at).includes('/');
  if (isVersioned) return { repository: reference.slice(0, at), tag: reference.slice(at + 1) };
  const [repository = reference, tag] = reference.split('==');
  return { repository, tag };
}

function isFloating(tag: string | undefined): tag is undefined | 'latest' {
  return tag === undefined || tag === 'latest';
}

/** `1.2` is `1.2.0`, and a leading v counts for nothing. */
function versionOf(tag: string): string | undefined {
  const text = tag.replace(/^[vV](?=\d)/, '');
  if (!isVersion(text)) return undefined;
  const [numbers = '', ...suffix] = text.split('-');
  const padded = [...numbers.split('.'), '0', '0'].slice(0, Math.max(3, numbers.split('.').length)).join('.');
  return [padded, ...suffix].join('-');
}

function unknown(reason: string): Comparison {
  return { status: 'unknown', reason };
}
