// Runs SCXML documents with SCION: one JSON line {id, document, events} in, one line {id, steps} out.
// A step is the leaf configuration after the start and after each event.
'use strict'
const readline = require('node:readline')
const scxml = require('@scion-scxml/scxml')

function model (document) {
  return new Promise((resolve, reject) => {
    scxml.documentStringToModel('chart.scxml', document, (failed, found) => {
      if (failed) return reject(failed)
      found.prepare((wrong, made) => (wrong ? reject(wrong) : resolve(made)))
    })
  })
}

async function play ({ id, document, events }) {
  const silent = { log () {}, error () {}, info () {} }
  const session = new scxml.core.Statechart(await model(document), { console: silent })
  const seen = []
  const look = () => seen.push(session.getConfiguration().slice().sort())
  session.start()
  look()
  for (const event of events) {
    session.gen(event)
    look()
  }
  return { id, steps: seen }
}

async function main () {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (!line.trim()) continue
    const request = JSON.parse(line)
    let answer
    try {
      answer = await play(request)
    } catch (error) {
      answer = { id: request.id, error: String(error && error.message ? error.message : error) }
    }
    process.stdout.write(JSON.stringify(answer) + '\n')
  }
  process.exit(0)
}

main()
