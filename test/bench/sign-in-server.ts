// The authorization server that `sign-in.ts` measures: memory as storage, one person, no provider and no page.
import { authServerRig } from '../support/auth-server-rig.ts';

const { http } = await authServerRig();
console.log(`listening ${new URL(http.origin).port}`);
