// H5: a long log keeps its first and last lines, on each store, and says what is missing.

import { expect, it } from 'vitest'
import { onEachStore } from './stores.ts'

interface Line {
  readonly message: string
  readonly level: string
  readonly fields: { readonly left_out?: number } | null
}

onEachStore((store, start) => {
  it(`H5 a log of 12,000 lines keeps its beginning and its end on ${store}`, async () => {
    const s = await start({
      handlers: {
        talks: async ({ log }) => {
          for (let n = 1; n <= 12_000; n++) {
            log.info(`line ${n}`)
            if (n % 3_000 === 0) await s.clock.sleep(10_000)
          }
          throw new Error('the last word')
        },
      },
    })
    const made = await s.as().post('/api/v1/jobs', {
      name: 'talks',
      handler: 'talks',
      retry: { limit: 0 },
    })
    const run = `${made.body.id}.1`
    await s.advance('15s')
    const early = (await s.as().get(`/api/v1/runs/${run}/log`)).body
    expect(early.is_over).toBe(false)
    expect(early.lines).toHaveLength(250)
    await s.advance('1m')
    const lines: Line[] = []
    for (let offset = 0; ;) {
      const { body } = await s.as().get(`/api/v1/runs/${run}/log?offset=${offset}`)
      lines.push(...(body.lines as Line[]))
      offset = Number(body.next_offset)
      if (body.is_over) break
    }
    expect(lines).toHaveLength(1_000)
    expect(lines[499]!.message).toBe('line 500')
    expect(lines[500]).toMatchObject({
      level: 'warn',
      message: '11,001 lines left out: the first 500 and the last 499 are kept',
      fields: { left_out: 11_001 },
    })
    expect(lines.at(-1)!.message).toBe('line 12000')
  })
})
