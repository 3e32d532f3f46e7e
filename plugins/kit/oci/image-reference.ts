/** A reference of a container image, with the registry that a short one means. */
export interface ImageReference {
  /** Host and port, for example `ghcr.io`; Docker Hub is `docker.io`. */
  readonly registry: string;
  /** For example `org/server`; `library/redis` for `redis`. */
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:` and 64 hex digits. */
  readonly digest?: string;
}

/** Host, path, tag and digest as the OCI distribution specification writes references. */
const IMAGE =
  /^[a-z0-9]+([._:-][a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;
const MAX_LENGTH = 512;

/** Whether a text is a reference of a container image. It never begins with `-`. */
export function isImageReference(text: string): boolean {
  return text.length <= MAX_LENGTH && IMAGE.test(text);
}

/** Splits a reference; `undefined` when it is not valid. The first part is a host when it has a dot or port, or is `localhost`. */
export function parseImageReference(text: string): ImageReference | undefined {
  if (!isImageReference(text)) return undefined;
  const [named = '', digest] = text.split('@');
  const tag = /:([^/:]+)$/.exec(named.slice(named.lastIndexOf('/') + 1))?.[1];
  const path = tag === undefined ? named : named.slice(0, -tag.length - 1);
  const slash = path.indexOf('/');
  const first = slash < 0 ? '' : path.slice(0, slash);
  const hasHost = /[.:]/.test(first) || first === 'localhost';
  const registry = hasHost ? first : 'docker.io';
  const rest = hasHost ? path.slice(slash + 1) : path;
  return {
    registry,
    repository: registry === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** The reference without its tag, by digest: `ghcr.io/org/server@sha256:…`. */
export function imageByDigest(image: string, digest: string): string {
  const named = image.replace(/@.*$/, '');
  const tag = /:[^/:]+$/.exec(named.slice(named.lastIndexOf('/') + 1))?.[0] ?? '';
  return `${named.slice(0, named.length - tag.length)}@${digest}`;
}
