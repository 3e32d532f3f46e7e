// Imported before a program: prints the V8 flags that it sets to stderr.
import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';

const set = v8.setFlagsFromString;
v8.setFlagsFromString = (flag) => {
  process.stderr.write(`engine flag ${flag}\n`);
  set(flag);
};
syncBuiltinESMExports();
