import type { Secret } from '@toolmgr/core';
import { JSON_TYPES, type RemoteHttp } from '@toolmgr/plugins/kit/safe-http';

/** A client that sends a bearer token with every request. `token` is called for each, since the token may be renewed. */
export function withBearer(http: RemoteHttp, token: () => Secret): RemoteHttp {
  const send: RemoteHttp['send'] = (url, wanted = {}) =>
    http.send(url, { ...wanted, headers: { ...wanted.headers, authorization: `Bearer ${token().reveal()}` } });
  return {
    ...http,
    send,
    async getJson(url, signal) {
      const headers = { accept: JSON_TYPES };
      return http.json(await send(url, { headers, ...(signal === undefined ? {} : { signal }) }), url);
    },
  };
}
