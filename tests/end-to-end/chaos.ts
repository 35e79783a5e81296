// npm run chaos [-- --kills 5000 --seed 7]: the kill test for as long as one likes.

import { parseArgs } from 'node:util'
import { killLoop } from './kill-loop.ts'

/** A database is given up after so many kills, so that looking at all of it stays quick. */
const KILLS_PER_DATABASE = 200

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
})
const kills = Number(values.kills)
const began = process.hrtime.bigint()
let [done, acknowledged, lost, duplicates, violations] = [0, 0, 0, 0, 0]

while (done < kills) {
  const batch = Math.min(KILLS_PER_DATABASE, kills - done)
  const summary = await killLoop(batch, Number(values.seed) * 1_000_003 + done)
  done += summary.kills
  acknowledged += summary.acknowledged
  lost += summary.lost.length
  duplicates += summary.duplicates.length
  violations += summary.violations.length
  for (const text of [...summary.lost, ...summary.duplicates, ...summary.violations]) {
    console.log(text)
  }
  const seconds = Number((process.hrtime.bigint() - began) / 1_000_000_000n)
  console.log(
    `${done} kills, ${acknowledged} acknowledged writes checked, ${lost} lost, ` +
      `${duplicates} duplicates, ${violations} violations, ${seconds} s`,
  )
}
process.exitCode = lost + duplicates + violations > 0 ? 1 : 0
