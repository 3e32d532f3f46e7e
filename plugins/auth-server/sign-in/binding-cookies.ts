import { createHash, randomBytes } from 'node:crypto';
import type { Inbound } from '@toolmgr/core';

/**
 * A cookie with a random value that binds one sign-in, or the page of connections, to one browser. Records have only
 * {@link bindingHash} of the value.
 */
export interface BindingCookies {
  /** The value that the browser sent. */
  read(inbound: Inbound, id: string): string | undefined;
  /** The value that the browser sent, else a new one with the cookies that set it. */
  ensure(inbound: Inbound, id: string): Binding;
  /** Removes the cookie. */
  clear(id: string): string;
  /** Removes the cookie in a minute: a form that is sent twice by a double click gets the same answer. */
  clearSoon(id: string, value: string): string;
}

/** What a browser has or gets. */
export interface Binding {
  readonly value: string;
  readonly cookies: readonly string[];
}

/**
 * `isSecure`: the issuer is https. The cookie is sent to all paths, because providers may redirect to a path outside of the
 * issuer's; `__Host-` keeps other hosts of the domain from setting it.
 */
export function createBindingCookies(isSecure: boolean): BindingCookies {
  const prefix = `${isSecure ? '__Host-' : ''}toolmgr-sign-in-`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const nameOf = (id: string): string => `${prefix}${bindingHash(id).slice(0, NAME_CHARACTERS)}`;
  const expired = (name: string): string => `${name}=; ${attributes}; Max-Age=0`;
  const read: BindingCookies['read'] = (inbound, id) => {
    const name = nameOf(id);
    const values = cookiesOf(inbound).filter(([each]) => each === name);
    const [, value = ''] = values[0] ?? [];
    return values.length === 1 && VALUE.test(value) ? value : undefined;
  };
  return {
    read,
    ensure(inbound, id) {
      const known = read(inbound, id);
      if (known !== undefined) return { value: known, cookies: [] };
      const value = randomBytes(32).toString('base64url');
      const others = cookiesOf(inbound).filter(([name]) => name.startsWith(prefix) && name !== nameOf(id));
      // pages of others could open many sign-ins in a browser, until its requests are too large
      const surplus = others.length < MAX_COOKIES ? [] : others.map(([name]) => expired(name));
      return { value, cookies: [`${nameOf(id)}=${value}; ${attributes}; Max-Age=${BINDING_SECONDS}`, ...surplus] };
    },
    clear: (id) => expired(nameOf(id)),
    clearSoon: (id, value) => `${nameOf(id)}=${value}; ${attributes}; Max-Age=${DOUBLE_CLICK_SECONDS}`,
  };
}

/** What records keep of a cookie's value. */
export function bindingHash(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}

const NAME_CHARACTERS = 16;
const BINDING_SECONDS = 3_600;
const DOUBLE_CLICK_SECONDS = 60;
const MAX_COOKIES = 20;
const VALUE = /^[\w-]{43}$/;

function cookiesOf({ headers: { cookie = '' } }: Inbound): readonly (readonly [string, string])[] {
  return cookie.split(';').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
}
