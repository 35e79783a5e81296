// A worker on the TypeScript helper: four tasks at once, and a clean stop on Ctrl-C.
//
//   CARILLON_URL=http://127.0.0.1:8080 CARILLON_TOKEN=... node worker.mjs

import { createWorker, GiveUp } from 'carillon/worker'

const worker = createWorker({
  url: process.env.CARILLON_URL ?? 'http://127.0.0.1:8080',
  token: process.env.CARILLON_TOKEN ?? '',
  name: `node-${process.pid}`,
  concurrency: 4,
  run: async (payload, { progress }) => {
    if (typeof payload?.text !== 'string') throw new GiveUp('there is no text')
    progress(0.5, 'counting')
    return { length: payload.text.length }
  },
})

process.once('SIGINT', () => void worker.stop())
await worker.start().finished
