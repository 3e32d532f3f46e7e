import { createRequire } from 'node:module';
import type { Pool } from 'undici';

/**
 * Makes undici's pool of connections to one origin.
 *
 * Only the pool's own module is loaded: the front door of the package brings fetch, WebSocket and caches along, 13 MB
 * and 60 ms at every start, and nothing here uses them.
 */
export function createPool(origin: string, options: Pool.Options): Pool {
  return new PoolClass(origin, options);
}

const PoolClass = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof Pool;
