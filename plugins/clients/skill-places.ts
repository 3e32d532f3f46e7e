import type { ClientPlace } from '@toolmgr/plugins/kit/operations';
import { installedClients, projectSkillFolder, type UserPlace, userSkillFolder } from './table/client-paths.ts';
import { CLIENT_TYPES } from './table/client-table.ts';

/** Every known client, and its folders for skills. */
export async function skillPlaces(user: UserPlace): Promise<readonly ClientPlace[]> {
  const installed = new Set(await installedClients(CLIENT_TYPES, user));
  return CLIENT_TYPES.map((name): ClientPlace => {
    const [userFolder, projectFolder] = [userSkillFolder(name, user), projectSkillFolder(name)];
    return {
      name,
      isInstalled: installed.has(name),
      ...(userFolder === undefined ? {} : { userFolder }),
      ...(projectFolder === undefined ? {} : { projectFolder }),
    };
  });
}
