// A process of its own for a share of the seeds: `node --import tsx seeds-child.ts from to`.

import { runSeeds } from './seeds.ts'

const [from, to] = process.argv.slice(2).map(Number)
const seeds = Array.from({ length: to! - from! + 1 }, (_, i) => from! + i)
process.stdout.write(JSON.stringify(await runSeeds(seeds)))
