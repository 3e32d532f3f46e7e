// Imported before a program: says on stderr which engine flags it sets.
import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';

const set = v8.setFlagsFromString;
v8.setFlagsFromString = (flag) => {
  process.stderr.write(`engine flag ${flag}\n`);
  set(flag);
};
syncBuiltinESMExports();
