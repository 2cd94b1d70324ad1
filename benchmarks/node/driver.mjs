// One task in (a file of JSON), one line of JSON out; see drivers/measuring.py.
import { measureAgent } from './agent.mjs';
import { measureBuild } from './build.mjs';
import { measureEvents } from './events.mjs';
import { readJson } from './measuring.mjs';
import { measureMemory } from './memory.mjs';
import { measureSnapshots } from './snapshots.mjs';

const KINDS = {
  events: measureEvents,
  agent: measureAgent,
  build: measureBuild,
  memory: measureMemory,
  snapshot: measureSnapshots
};

const task = readJson(process.argv[2]);
process.stdout.write(`${JSON.stringify(await KINDS[task.kind](task))}\n`);
