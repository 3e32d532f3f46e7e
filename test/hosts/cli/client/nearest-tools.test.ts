import { expect } from 'vitest';
import { nearestTools } from '../../../../hosts/cli/client/nearest-tools.ts';
import { proves } from '../../../support/proves.ts';

proves(
  'ask.hints.nearest-tool',
  'a tool that is not there has its nearest name: a misspelling, or the name with, without or with another prefix of a backend',
  () => {
    const plain = ['read_graph', 'create_entities', 'open_nodes'];
    expect(nearestTools('memory_read_graph', plain)).toEqual(['read_graph']);
    expect(nearestTools('memory.read_graph', plain)).toEqual(['read_graph']);
    expect(nearestTools('memory_read_grap', plain)).toEqual(['read_graph']);
    expect(nearestTools('raed_graph', plain)).toEqual(['read_graph']);
    const prefixed = ['memory_read_graph', 'memory_open_nodes', 'files_read_file'];
    expect(nearestTools('read_graph', prefixed)).toEqual(['memory_read_graph']);
    expect(nearestTools('knowledge_read_graph', prefixed)).toEqual(['memory_read_graph']);
    expect(nearestTools('opn_nodes', prefixed)).toEqual(['memory_open_nodes']);
    expect(nearestTools('memory.read_graph', prefixed)).toEqual(['memory_read_graph']);
    expect(nearestTools('send_mail', prefixed)).toEqual([]);
  },
);
