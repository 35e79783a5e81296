// Permits of hosts: who waits for whom, and for how long one is kept for a job.

import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { HostPermits, parseHostLimits } from './hosts.ts'

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
    expect(hosts.of(URL_A)!.tryTake('1')).not.toBeNull()
    expect(hosts.of('http://A.example:80/y')!.tryTake('2')).toBeNull()
    expect(hosts.of('http://a.example:8080/y')!.tryTake('2')).not.toBeNull()
    expect(hosts.of('no url')).toBeNull()
  })

  it('are kept for the job that was made due, and given back only once', async () => {
    const { hosts } = permits()
    const permit = hosts.of(URL_A)!.tryTake('1')!
    const next = waiter('2')
    hosts.of(URL_A)!.enqueue(next)
    permit.release()
    permit.release()
    expect(next.seen).toEqual(['recalled'])
    expect(hosts.of(URL_A)!.tryTake('3')).toBeNull()
    expect(hosts.of(URL_A)!.tryTake('2')).not.toBeNull()
    expect(hosts.of(URL_A)!.tryTake('3')).toBeNull()
  })

  it('go on to the next when the job is not claimed here, or no longer waits', async () => {
    const { clock, hosts } = permits()
    const permit = hosts.of(URL_A)!.tryTake('1')!
    const [gone, elsewhere, last] = [waiter('2', false), waiter('3'), waiter('4')]
    for (const one of [gone, elsewhere, last]) hosts.of(URL_A)!.enqueue(one)
    permit.release()
    await clock.settle()
    expect([gone.seen, elsewhere.seen, last.seen]).toEqual([['recalled'], ['recalled'], []])
    await clock.advance(2_000)
    expect(last.seen).toEqual(['recalled'])
  })

  it('go to the highest priority, then to whoever waits longest', async () => {
    const { hosts } = permits()
    const resource = hosts.of(URL_A)!
    const permit = resource.tryTake('1')!
    const order: string[] = []
    const queue = (jobId: string, priority: number) =>
      resource.enqueue({
        ...waiter(jobId, true, priority),
        recall: async () => (order.push(jobId), false),
      })
    queue('normal-1', 3)
    const signal = new AbortController().signal
    const request = hosts.take(URL_A, signal).then(taken => (order.push('request'), taken))
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
    const permit = hosts.of(URL_A)!.tryTake('1')!
    const controller = new AbortController()
    const request = hosts.take(URL_A, controller.signal)
    controller.abort(new Error('cancelled'))
    await expect(request).rejects.toThrow('cancelled')
    expect(hosts.of(URL_A)!.waiting).toBe(0)
    permit.release()
    expect(hosts.of(URL_A)!.tryTake('2')).not.toBeNull()
  })
})

describe('limits of hosts', () => {
  const defaults = { connectionsPerHost: 8, connectionsByHost: {} }

  it('are a number for all and numbers of single ones', () => {
    const entries = ['16', 'API.example.com=50', 'b.example:80=1', '[::1]:8080=2']
    expect(parseHostLimits(entries, defaults, 'F')).toEqual({
      limits: {
        connectionsPerHost: 16,
        connectionsByHost: { 'api.example.com': 50, 'b.example': 1, '[::1]:8080': 2 },
      },
      problems: [],
    })
    expect(parseHostLimits([], defaults, 'F').limits).toEqual(defaults)
  })

  it.each(['0', '10001', 'many', 'a.example', 'a.example=', 'a.example=0', 'a b=3', 'a/b=3'])(
    '%s is refused with its value',
    entry => {
      expect(parseHostLimits([entry], defaults, 'F').problems).toMatchObject([
        { field: 'F', value: entry },
      ])
    },
  )
})
