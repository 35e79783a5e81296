// The frame of a benchmark that is measured on each store: its options, its turns, its figures.

import { openGround, type Ground, type GroundName } from './ground.ts'
import { show, type Figure } from './support.ts'

export const isQuick = process.argv.includes('--quick')

type Part = () => Promise<Figure[]>

const isJson = process.argv.includes('--json')

function storesAsked(): GroundName[] {
  const at = process.argv.indexOf('--store')
  const asked = at < 0 ? 'sqlite,postgres,redis' : (process.argv[at + 1] ?? '')
  return asked.split(',') as GroundName[]
}

export async function onStores(parts: (ground: Ground) => readonly Part[]): Promise<void> {
  const figures: (Figure & { store: string })[] = []
  for (const name of storesAsked()) {
    const ground = await openGround(name)
    try {
      if (!isJson) console.log(`\n  on ${ground.name}`)
      for (const part of parts(ground)) {
        const measured = await part()
        figures.push(...measured.map(figure => ({ ...figure, store: ground.name })))
        if (!isJson) measured.forEach(show)
      }
    } finally {
      await ground.end()
    }
  }
  if (isJson) console.log(JSON.stringify(figures, null, 2))
}
