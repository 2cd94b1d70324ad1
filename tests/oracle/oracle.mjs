#!/usr/bin/env node
// Cases in, one JSON line each; what XState did with them out, one JSON line a step. See README.md.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { runCase } from './cases.mjs';

const CHUNK = 1 << 16;

/** Standard output, written in large pieces. */
class Printer {
  #lines = [];
  #length = 0;

  print = (text) => {
    this.#lines.push(text);
    this.#length += text.length;
  };

  get full() {
    return this.#length > CHUNK;
  }

  flush() {
    const text = this.#lines.map((each) => `${each}\n`).join('');
    this.#lines = [];
    this.#length = 0;
    return new Promise((written) => (text === '' ? written() : process.stdout.write(text, () => written())));
  }
}

function tellVersions() {
  const { version } = createRequire(import.meta.url)('xstate/package.json');
  console.log(JSON.stringify({ oracle: 1, xstate: version, node: process.version }));
}

async function main(options) {
  if (options.includes('--version')) return tellVersions();
  // Errors nobody listened for come back on a later turn of the event loop; the other cases go on.
  for (const kind of ['uncaughtException', 'unhandledRejection']) {
    process.on(kind, (error) => process.stderr.write(`${kind}: ${error?.message ?? error}\n`));
  }
  const printer = new Printer();
  const patient = !options.includes('--interactive');
  for await (const text of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (text.trim() === '') continue;
    await runCase(text, printer.print);
    if (!patient || printer.full) await printer.flush();
  }
  await printer.flush();
}

await main(process.argv.slice(2));
