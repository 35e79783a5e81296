// Places that tenants share.

import { expect, it } from 'vitest'
import { TenantTurns } from './tenant-turns.ts'

const forever = new AbortController().signal

/** Takes places one after the other and notes who got one. */
function places(limits: { all: number; each: number }) {
  const turns = new TenantTurns(limits)
  const got: string[] = []
  const held = new Map<string, () => void>()
  const ask = async (tenant: string, signal = forever, name = tenant) => {
    const giveBack = await turns.take(tenant, signal)
    got.push(name)
    held.set(name, giveBack)
  }
  const settle = async () => {
    for (let i = 0; i < 5; i++) await Promise.resolve()
  }
  return { turns, got, held, ask, settle }
}

it('S3: a tenant takes its share, and the others find the rest', async () => {
  const { turns, got, ask, settle } = places({ all: 5, each: 3 })
  for (let i = 0; i < 10; i++) void ask('evil', forever, `evil${i}`)
  await settle()
  expect(got).toEqual(['evil0', 'evil1', 'evil2'])
  expect(turns.waitingOf('evil')).toBe(7)
  await ask('good')
  expect(got.at(-1)).toBe('good')
})

it('S3: when all places are taken, the next free one goes to who holds the fewest', async () => {
  const { got, held, ask, settle } = places({ all: 4, each: 2 })
  for (const tenant of ['a', 'b']) for (const i of [1, 2, 3]) void ask(tenant, forever, tenant + i)
  await settle()
  void ask('good')
  void ask('good', forever, 'good2')
  await settle()
  expect(got).toEqual(['a1', 'a2', 'b1', 'b2'])
  held.get('a1')!()
  await settle()
  expect(got.at(-1)).toBe('good')
  held.get('b1')!()
  await settle()
  // Each of them holds one: whoever got none for the longest.
  expect(got.at(-1)).toBe('a3')
})

it('S3: who gives up holds nothing, and a place is given back once', async () => {
  const { turns, got, held, ask, settle } = places({ all: 1, each: 1 })
  await ask('a')
  const gone = new AbortController()
  const waiting = ask('b', gone.signal)
  void ask('c')
  gone.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(turns.waitingOf('b')).toBe(0)
  held.get('a')!()
  held.get('a')!()
  void ask('d')
  await settle()
  expect(got).toEqual(['a', 'c'])
})
