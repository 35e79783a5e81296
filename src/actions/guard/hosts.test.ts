// Permits of hosts: who waits for whom, and for how long one is kept for a job.

import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { HostPermits } from './hosts.ts'

const URL_A = 'http://a.example/x'

function permits(connectionsPerHost = 1) {
  const clock = new VirtualClock(0)
  return { clock, hosts: new HostPermits(clock, { connectionsPerHost, connectionsByHost: {} }) }
}

function waiter(jobId: string, isDue = true, priority = 3) {
  const seen: string[] = []
  return {
    seen,
    jobId,
    priority,
    recall: async () => (seen.push('recalled'), isDue),
    started: () => void seen.push('started'),
  }
}

describe('permits of a host', () => {
  it('are counted by host and port', () => {
    const { hosts } = permits()
    expect(hosts.of(URL_A, 'acme')!.tryTake('1')).not.toBeNull()
    expect(hosts.of('http://A.example:80/y', 'acme')!.tryTake('2')).toBeNull()
    expect(hosts.of('http://a.example:8080/y', 'acme')!.tryTake('2')).not.toBeNull()
    expect(hosts.of('no url', 'acme')).toBeNull()
  })

  it('are kept for the job that was made due, and given back only once', async () => {
    const { hosts } = permits()
    const permit = hosts.of(URL_A, 'acme')!.tryTake('1')!
    const next = waiter('2')
    hosts.of(URL_A, 'acme')!.enqueue(next)
    permit.release()
    permit.release()
    expect(next.seen).toEqual(['recalled'])
    expect(hosts.of(URL_A, 'acme')!.tryTake('3')).toBeNull()
    expect(hosts.of(URL_A, 'acme')!.tryTake('2')).not.toBeNull()
    expect(hosts.of(URL_A, 'acme')!.tryTake('3')).toBeNull()
  })

  it('go on to the next when the job is not claimed here, or no longer waits', async () => {
    const { clock, hosts } = permits()
    const permit = hosts.of(URL_A, 'acme')!.tryTake('1')!
    const [gone, elsewhere, last] = [waiter('2', false), waiter('3'), waiter('4')]
    for (const one of [gone, elsewhere, last]) hosts.of(URL_A, 'acme')!.enqueue(one)
    permit.release()
    await clock.settle()
    expect([gone.seen, elsewhere.seen, last.seen]).toEqual([['recalled'], ['recalled'], []])
    await clock.advance(2_000)
    expect(last.seen).toEqual(['recalled'])
  })

  it('go to the highest priority, then to whoever waits longest', async () => {
    const { hosts } = permits()
    const resource = hosts.of(URL_A, 'acme')!
    const permit = resource.tryTake('1')!
    const order: string[] = []
    const queue = (jobId: string, priority: number) =>
      resource.enqueue({
        ...waiter(jobId, true, priority),
        recall: async () => (order.push(jobId), false),
      })
    queue('normal-1', 3)
    const signal = new AbortController().signal
    const request = hosts.take(URL_A, 'acme', signal).then(taken => (order.push('request'), taken))
    queue('normal-2', 3)
    queue('critical', 6)
    queue('normal-1', 3)
    expect(resource.waiting).toBe(4)
    permit.release()
    ;(await request).release()
    await Promise.resolve()
    expect(order).toEqual(['critical', 'normal-1', 'request', 'normal-2'])
  })

  it('are not waited for by a request that was aborted', async () => {
    const { hosts } = permits()
    const permit = hosts.of(URL_A, 'acme')!.tryTake('1')!
    const controller = new AbortController()
    const request = hosts.take(URL_A, 'acme', controller.signal)
    controller.abort(new Error('cancelled'))
    await expect(request).rejects.toThrow('cancelled')
    expect(hosts.of(URL_A, 'acme')!.waiting).toBe(0)
    permit.release()
    expect(hosts.of(URL_A, 'acme')!.tryTake('2')).not.toBeNull()
  })
})

describe('S3: permits of a host that several tenants call', () => {
  const setup = (max: number) => {
    const { clock, hosts } = permits(max)
    const taken: string[] = []
    const take = async (tenant: string, url = URL_A) => {
      const permit = await hosts.take(url, tenant, new AbortController().signal)
      taken.push(tenant)
      return permit
    }
    return { clock, hosts, take, taken }
  }
  const many = (count: number, tenant: string, take: (tenant: string) => Promise<unknown>) => {
    for (let i = 0; i < count; i++) void take(tenant)
  }

  it('leave one of eight to others, also where only one of them calls', async () => {
    const { clock, hosts, take, taken } = setup(8)
    await take('globex', 'http://elsewhere.example/')
    many(10, 'acme', take)
    await clock.settle()
    expect(taken.filter(tenant => tenant === 'acme')).toHaveLength(7)
    expect(hosts.of(URL_A, 'acme')!.tryTake('1')).toBeNull()
    expect(hosts.of(URL_A, 'globex')!.tryTake('2')).not.toBeNull()
  })

  it('are all for a tenant alone, and for the service itself; an hour later it is alone again', async () => {
    const { clock, take, taken } = setup(8)
    await take('')
    many(8, 'acme', take)
    await clock.settle()
    expect(taken.filter(tenant => tenant === 'acme')).toHaveLength(7)
    await take('globex', 'http://elsewhere.example/')
    await clock.advance(3_600_001)
    many(8, 'initech', tenant => take(tenant, 'http://other.example/'))
    await clock.settle()
    expect(taken.filter(tenant => tenant === 'initech')).toHaveLength(8)
  })

  it('go to the tenant that holds the fewest, whatever the priorities and numbers', async () => {
    const { clock, hosts, take, taken } = setup(2)
    const first = await take('acme')
    const second = await take('globex')
    for (let i = 0; i < 100; i++) {
      hosts.of(URL_A, 'acme')!.enqueue({ ...waiter(`a${i}`, true, 6), recall: async () => true })
    }
    const other = waiter('b', true, 1)
    hosts.of(URL_A, 'globex')!.enqueue(other)
    second.release()
    expect(other.seen).toEqual(['recalled'])
    expect(hosts.of(URL_A, 'globex')!.tryTake('b')).not.toBeNull()
    void take('initech')
    first.release()
    await clock.settle()
    // The permit kept for a job of acme, which waited before; nobody claims it, so the next tenant has it.
    expect(taken).toEqual(['acme', 'globex'])
    await clock.advance(2_000)
    expect(taken).toEqual(['acme', 'globex', 'initech'])
  })

  it('are waited for by at most 10,000 jobs of each tenant', () => {
    const { hosts } = setup(1)
    hosts.of(URL_A, 'initech')!.tryTake('held')
    for (const tenant of ['acme', 'globex']) {
      for (let i = 0; i <= 10_000; i++) hosts.of(URL_A, tenant)!.enqueue(waiter(`${tenant}${i}`))
    }
    expect(hosts.of(URL_A, 'acme')!.waiting).toBe(20_000)
  })
})
