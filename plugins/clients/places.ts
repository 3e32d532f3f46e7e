// Where the files of clients are, without the code that changes them.

export { configPath, type UserPlace, userPlace } from './table/client-paths.ts';
export type { ClientType } from './table/client-table.ts';
