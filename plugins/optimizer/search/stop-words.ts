import { stem } from './stem.ts';

/** Function words, which say nothing about a tool. */
const GRAMMAR =
  'a an the and or but nor if then else so than that this these those there here it its is are was were be been being am ' +
  'do does did done doing has have had having can could may might must shall should will would i me my mine we us our ' +
  'ours you your yours he him his she her hers they them their theirs who whom whose which what when where why how of in ' +
  'on at by for to from with without within into onto upon about above below over under between among through during ' +
  'before after until since as such not no yes any some each every both few more most other another own same only just ' +
  'very too also again once please let lets want wants wanted need needs needed like would help helps using use used ' +
  'via per etc eg ie thank thanks hello hi tell know give something anything everything thing things some up out off ' +
  'im ive id dont doesnt cant isnt whats';

/** Words that most tool definitions contain. Of the verbs only `get`, with which half of all names begin. */
const INTERFACE =
  'name description schema input output type property properties required title id tool server meta data content text ' +
  'value field column table index key primary mcp parameter argument optional default string number boolean object array ' +
  'get';

/** Stemmed and unstemmed function words. */
export const GRAMMAR_TERMS: ReadonlySet<string> = new Set([...GRAMMAR.split(' '), ...GRAMMAR.split(' ').map(stem)]);

/** Terms of tool definitions in general, with a lower weight in a query. */
export const INTERFACE_TERMS: ReadonlySet<string> = new Set(INTERFACE.split(' ').map(stem));
