// G7: workers that claim over HTTP serve users in exact turns, on every store and across restarts.

import { expect, test } from 'vitest'
import { freshStore, signToken, startService, workFolder, type Service } from './harness/index.ts'

interface Task {
  readonly user_id: string
}

const token = signToken({ tenant: 'acme' })

async function push(service: Service, users: readonly string[], each: number): Promise<void> {
  const tasks = users.flatMap(user_id =>
    Array.from({ length: each }, (_, i) => ({ user_id, payload: i })),
  )
  for (let from = 0; from < tasks.length; from += 1_000) {
    const body = { tasks: tasks.slice(from, from + 1_000) }
    const { status } = await service.request('POST', '/api/v1/tasks/batch', body, { token })
    expect(status).toBeLessThan(300)
  }
}

async function claim(service: Service, worker: string, limit = 1): Promise<string[]> {
  const body = { worker, limit }
  const answer = await service.request('POST', '/api/v1/tasks/claim', body, { token })
  return (answer.body['tasks'] as unknown as Task[]).map(({ user_id }) => user_id)
}

/** Claims of one task each, by so many workers at the same time. */
async function claimAll(service: Service, workers: number, claims: number): Promise<string[]> {
  const served: string[] = []
  let left = claims
  const work = async (name: string) => {
    while (left-- > 0) served.push(...(await claim(service, name)))
  }
  await Promise.all(Array.from({ length: workers }, (_, i) => work(`w${i}`)))
  return served
}

const users = Array.from({ length: 100 }, (_, i) => `u${String(i).padStart(3, '0')}`)

function sharesOf(served: readonly string[]): number[] {
  const counts = new Map(users.map(user => [user, 0]))
  for (const user of served) counts.set(user, (counts.get(user) ?? 0) + 1)
  return [...counts.values()]
}

test.each(['postgres', 'redis'] as const)(
  'G7 eight workers serve a hundred users alike while one floods, on %s',
  async kind => {
    const service = await startService(['--store', await freshStore(kind)])
    await push(service, ['u042'], 500)
    await push(service, users, 4)
    const served = await claimAll(service, 8, 250)
    const shares = sharesOf(served)
    expect([Math.min(...shares), Math.max(...shares)]).toEqual([2, 3])
    // Answers may overtake each other; nobody comes twice before all others came once.
    expect(new Set(served.slice(0, 108)).size).toBe(100)
  },
)

test('G7 eight workers serve a hundred users alike on sqlite (guard)', async () => {
  const service = await startService()
  await push(service, ['u042'], 500)
  await push(service, users, 4)
  const shares = sharesOf(await claimAll(service, 8, 250))
  expect([Math.min(...shares), Math.max(...shares)]).toEqual([2, 3])
})

test.each(['sqlite', 'postgres'] as const)(
  'G7 after a restart the next user is served, on %s',
  async kind => {
    const folder = workFolder()
    const args = ['--store', await freshStore(kind)]
    const served: string[] = []
    for (let start = 0; start < 4; start++) {
      const service = await startService(args, { folder })
      if (start === 0) await push(service, ['a', 'b', 'c', 'd'], 3)
      served.push(...(await claim(service, 'w')))
      if (start % 2 === 0) await service.stop()
      else await service.program.kill('SIGKILL')
    }
    expect(served).toEqual(['a', 'b', 'c', 'd'])
  },
)

test('G7 workers that take several at once are given whole rounds, on postgres', async () => {
  const service = await startService(['--store', await freshStore('postgres')])
  await push(service, ['u042'], 500)
  await push(service, users, 6)
  const batches = await Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      const served: string[] = []
      for (let n = 0; n < 10; n++) served.push(...(await claim(service, `w${i}`, 10)))
      return served
    }),
  )
  const shares = sharesOf(batches.flat())
  expect([Math.min(...shares), Math.max(...shares)]).toEqual([4, 4])
})

test('G7 workers of some users do not move the turn of the others (guard)', async () => {
  const service = await startService(['--store', await freshStore('redis')])
  await push(service, ['a', 'b', 'c'], 4)
  const some = async (names: readonly string[]) => {
    const body = { worker: 'some', users: names, limit: 1 }
    const answer = await service.request('POST', '/api/v1/tasks/claim', body, { token })
    return (answer.body['tasks'] as unknown as Task[]).map(({ user_id }) => user_id)
  }
  expect(await claim(service, 'w')).toEqual(['a'])
  expect(await some(['b', 'c'])).toEqual(['b'])
  expect(await claim(service, 'w')).toEqual(['b'])
  expect(await some(['b', 'c'])).toEqual(['c'])
  expect(await claim(service, 'w')).toEqual(['c'])
})
